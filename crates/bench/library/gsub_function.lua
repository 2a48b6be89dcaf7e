-- covers: string.gsub with a replacement function
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local words = { "tycho", "kepler", "copernicus", "plato", "clavius", "grimaldi", "aristarchus" }
local parts = {}
for i = 1, 400 do parts[i] = words[i * i % 7 + 1] .. (i % 5 == 0 and "=" .. i or "") end
local text = table.concat(parts, " ")

local gsub, char, tonumber = string.gsub, string.char, tonumber
local encoded = ("a%20b%3Dc%26d%2Fe plain text "):rep(30)
local function decode(hex) return char(tonumber(hex, 16)) end
local function capital(word) if #word > 6 then return "<" .. word .. ">" end end
local sum = 0
for _ = 1, 4600 * scale // 1 do
  local a, n = gsub(encoded, "%%(%x%x)", decode)
  local b, m = gsub(text, "%a+", capital)
  sum = sum + #a + n + #b + m
end
print(sum)
