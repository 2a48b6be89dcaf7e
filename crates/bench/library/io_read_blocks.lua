-- covers: file:read of blocks, single characters and whole files
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local name = os.tmpname()
local function written(fill)
  local file = assert(io.open(name, "w"))
  fill(file)
  file:close()
end

written(function(file) file:write(("0123456789abcdef"):rep(1 << 16)) end)
local sum = 0
for _ = 1, 62 * scale // 1 do
  for block in io.lines(name, 4096) do sum = sum + #block end
  local file <close> = io.open(name)
  sum = sum + #file:read("a")
  file:seek("set", 100)
  for _ = 1, 60000 do sum = sum + #file:read(1) end
end
os.remove(name)
print(sum)
