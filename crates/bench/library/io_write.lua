-- covers: file:write of strings and numbers, and io.write
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local name = os.tmpname()
local function written(fill)
  local file = assert(io.open(name, "w"))
  fill(file)
  file:close()
end

local sum = 0
for _ = 1, 15 * scale // 1 do
  local file = io.open(name, "w")
  for i = 1, 60000 do
    file:write("item ", i, "\n")
    file:write(i % 100 / 4, "\n")
  end
  sum = sum + file:seek("end")
  file:close()
  io.output(name)
  for i = 1, 60000 do io.write(i % 7 == 0 and "week" or "day", "\n") end
  io.close()
  io.output(io.stdout)
end
os.remove(name)
print(sum)
