-- covers: file:read('n') and io.lines(name, 'n')
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local name = os.tmpname()
local function written(fill)
  local file = assert(io.open(name, "w"))
  fill(file)
  file:close()
end

written(function(file)
  for i = 1, 40000 do file:write(i * 7, " ", i / 8, i % 10 == 0 and "\n" or " ") end
end)
local sum = 0
for _ = 1, 31 * scale // 1 do
  for x in io.lines(name, "n") do sum = sum + x end
  local file <close> = io.open(name)
  for _ = 1, 10000 do
    local a, b = file:read("n", "n")
    sum = sum + a * b
  end
end
os.remove(name)
print(string.format("%.10g", sum))
