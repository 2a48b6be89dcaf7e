-- covers: string.reverse, short and long
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local words = { "tycho", "kepler", "copernicus", "plato", "clavius", "grimaldi", "aristarchus" }
local parts = {}
for i = 1, 400 do parts[i] = words[i * i % 7 + 1] .. (i % 5 == 0 and "=" .. i or "") end
local text = table.concat(parts, " ")

local sum = 0
for i = 1, 4700000 * scale // 1 do
  sum = sum + #("palindrome"):reverse()
  if i % 64 == 0 then sum = sum + text:reverse():byte(i % 2000 + 1) end
end
print(sum)
