-- covers: string.gsub with a replacement table
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local gsub = string.gsub
local escapes = { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ['"'] = "&quot;" }
local values = { name = "Tycho", depth = 4800, place = "the Moon" }
local page = ('<p class="crater">A & B are craters > 10 km.</p>\n'):rep(20)
local template = ("$name lies on $place, $depth metres deep; $unknown stays. "):rep(20)
local sum = 0
for _ = 1, 12000 * scale // 1 do
  local a, n = gsub(page, '[<>&"]', escapes)
  local b, m = gsub(template, "%$(%w+)", values)
  sum = sum + #a + n + #b + m
end
print(sum)
