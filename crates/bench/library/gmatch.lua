-- covers: string.gmatch over words, pairs and separators
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local words = { "tycho", "kepler", "copernicus", "plato", "clavius", "grimaldi", "aristarchus" }
local parts = {}
for i = 1, 400 do parts[i] = words[i * i % 7 + 1] .. (i % 5 == 0 and "=" .. i or "") end
local text = table.concat(parts, " ")

local gmatch = string.gmatch
local count, length = 0, 0
for _ = 1, 1300 * scale // 1 do
  for word in gmatch(text, "%a+") do count = count + 1; length = length + #word end
  for key, value in gmatch(text, "(%w+)=(%w+)") do length = length + #key + #value end
  for part in gmatch(text, "[^ ]+") do length = length + #part end
end
print(count, length)
