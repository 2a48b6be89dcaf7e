-- covers: table.pack and { ... }
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local pack = table.pack
local function list(...) return #{ ... } end
local sum = 0
for i = 1, 1800000 * scale // 1 do
  local t = pack(i, "two", nil, 4.0)
  sum = sum + t.n + t[1] + list(1, 2, 3)
end
print(sum)
