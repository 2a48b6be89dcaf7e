-- covers: string.gsub with a replacement string
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local words = { "tycho", "kepler", "copernicus", "plato", "clavius", "grimaldi", "aristarchus" }
local parts = {}
for i = 1, 400 do parts[i] = words[i * i % 7 + 1] .. (i % 5 == 0 and "=" .. i or "") end
local text = table.concat(parts, " ")

local gsub = string.gsub
local sum = 0
for i = 1, 1200 * scale // 1 do
  local a, n = gsub(text, "o", "0")
  local b, m = gsub(text, "(%a+)=(%d+)", "%2=%1")
  local c, k = gsub(text, "%s+", "  ")
  sum = sum + #a + n + #b + m + #c + k
  for _ = 1, 60 do sum = sum + #gsub("  trimmed text ", "^%s*(.-)%s*$", "%1") end
end
print(sum)
