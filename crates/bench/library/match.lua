-- covers: string.match with captures and anchors
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local match = string.match
local lines = { "name=tycho", "depth = 4800", "# remark", "diameter=86.2", "[section]", "" }
local sum = 0
for i = 1, 1000000 * scale // 1 do
  local line = lines[i % 6 + 1]
  local key, value = match(line, "^(%w+)%s*=%s*(.-)%s*$")
  if key then sum = sum + #key + #value end
  if match(line, "^%s*#") then sum = sum + 1 end
  local section = match(line, "^%[(.*)%]$")
  if section then sum = sum + #section end
  sum = sum + #(match(line, "%d+%.?%d*") or "")
end
print(sum)
