-- covers: string.sub: single characters, prefixes, suffixes, long slices
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local words = { "tycho", "kepler", "copernicus", "plato", "clavius", "grimaldi", "aristarchus" }
local parts = {}
for i = 1, 400 do parts[i] = words[i * i % 7 + 1] .. (i % 5 == 0 and "=" .. i or "") end
local text = table.concat(parts, " ")

local sub = string.sub
local sum = 0
for i = 1, 1900000 * scale // 1 do
  local at = i % 2000 + 1
  sum = sum + #sub(text, at, at) + #sub(text, at, at + 9)
    + #sub(text, -5) + #sub("prefix:rest", 1, 6)
  if i % 4 == 0 then sum = sum + #sub(text, at, at + 200) end
end
print(sum)
