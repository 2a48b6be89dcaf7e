-- covers: load of short and longer chunks
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local load = load
local lines = {}
for i = 1, 100 do
  lines[i] = ("local function f%d(a, b) if a > b then return a * %d "
    .. "else return { x = b, 'text' } end end"):format(i, i)
end
local long = table.concat(lines, "\n") .. "\nreturn 1"
local sum = 0
for i = 1, 58000 * scale // 1 do
  sum = sum + load("return " .. i .. " + 1")() + load("local a, b = ... return a * b")(i, 2)
  if i % 50 == 0 then sum = sum + load(long)() end
end
print(sum)
