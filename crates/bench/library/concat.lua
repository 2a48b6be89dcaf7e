-- covers: the operator .. on two and more strings, and on numbers
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local names = { "tycho", "kepler", "copernicus", "plato" }
local sum = 0
for i = 1, 1800000 * scale // 1 do
  local name = names[i % 4 + 1]
  sum = sum + #(name .. "!") + #("<" .. name .. ">" .. i % 100 .. "</" .. name .. ">")
end
local text = ""
for i = 1, 16000 * scale // 1 do text = text .. "line " .. i .. "\n" end
print(sum, #text)
