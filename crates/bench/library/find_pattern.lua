-- covers: string.find with patterns
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local words = { "tycho", "kepler", "copernicus", "plato", "clavius", "grimaldi", "aristarchus" }
local parts = {}
for i = 1, 400 do parts[i] = words[i * i % 7 + 1] .. (i % 5 == 0 and "=" .. i or "") end
local text = table.concat(parts, " ")

local find = string.find
local lines = {
  "  indented", "key = value", "x=1", "2026-11-21", "no digits here at all", "-- comment",
}
local sum = 0
for i = 1, 310000 * scale // 1 do
  local line = lines[i % 6 + 1]
  sum = sum + (find(line, "%d+") or 0) + (find(line, "^%s*%-%-") or 0)
    + (find(line, "[=:]", 3) or 0)
  local a, b, year = find(line, "^(%d%d%d%d)-%d%d")
  if a then sum = sum + b + #year end
  if i % 64 == 0 then sum = sum + find(text, "=3%d5") + (find(text, "%u") or 0) end
end
print(sum)
