-- covers: io.lines and file:read('l') over a text file
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local name = os.tmpname()
local function written(fill)
  local file = assert(io.open(name, "w"))
  fill(file)
  file:close()
end

written(function(file)
  for i = 1, 50000 do file:write("line ", i, " of a text file of ordinary length\n") end
end)
local sum = 0
for _ = 1, 49 * scale // 1 do
  for line in io.lines(name) do sum = sum + #line end
  local file <close> = io.open(name)
  for _ = 1, 10000 do sum = sum + #file:read("L") end
end
os.remove(name)
print(sum)
