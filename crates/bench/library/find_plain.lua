-- covers: string.find of plain text, found and not found
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local words = { "tycho", "kepler", "copernicus", "plato", "clavius", "grimaldi", "aristarchus" }
local parts = {}
for i = 1, 400 do parts[i] = words[i * i % 7 + 1] .. (i % 5 == 0 and "=" .. i or "") end
local text = table.concat(parts, " ")

local short, find = "name: value; name2: value2", string.find
local sum = 0
for i = 1, 1100000 * scale // 1 do
  sum = sum + find(short, "value2", 1, true) + find(short, ": ")
    + (find(short, "none", 1, true) or 1)
  if i % 8 == 0 then sum = sum + find(text, "=400", 1, true) + (find(text, "ptolemaeus") or 0) end
end
print(sum)
