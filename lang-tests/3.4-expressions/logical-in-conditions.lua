-- Conditions made of several operators jump correctly (3.4.5).
-- expect: ok
--| 0	0	0	!(a&b)&!c !a|!b|!c same 2 -1 4 true
--| 1	0	0	a|b !(a&b)&!c !a|!b|!c 3 2 2 false
--| 0	1	0	a|b !(a&b)&!c !a|!b|!c 1 -1 4 false
--| 1	1	0	a&b a|b a&b|c a&(b|c) !a|!b|!c same 1 0 1 false
--| 0	0	1	a&b|c !a|!b|!c same 2 -2 3 true
--| 1	0	1	a|b a&b|c a&(b|c) (a|b)&c !a|!b|!c 3 -2 2 true
--| 0	1	1	a|b a&b|c (a|b)&c !a|!b|!c 1 -2 3 true
--| 1	1	1	a&b a|b a&b|c a&(b|c) (a|b)&c same 1 -2 1 true

local function test(a, b, c)
  local r = {}
  if a and b then r[#r + 1] = "a&b" end
  if a or b then r[#r + 1] = "a|b" end
  if a and b or c then r[#r + 1] = "a&b|c" end
  if a and (b or c) then r[#r + 1] = "a&(b|c)" end
  if (a or b) and c then r[#r + 1] = "(a|b)&c" end
  if not (a and b) and not c then r[#r + 1] = "!(a&b)&!c" end
  if not a or not b or not c then r[#r + 1] = "!a|!b|!c" end
  if (a and not b) == (b and not a) then r[#r + 1] = "same" end
  local n = 0
  while (a or n < 2) and not (b and n > 0) and n < 3 do n = n + 1 end
  r[#r + 1] = n
  repeat n = n - 1 until (n < 0 or a) and (not c or n < -1)
  r[#r + 1] = n
  local x = a and (b and 1 or 2) or (c and 3 or 4)
  local y = not (a or b) or c
  return table.concat(r, " ") .. " " .. x .. " " .. tostring(y)
end
for i = 0, 7 do
  local a, b, c = i & 1 ~= 0, i & 2 ~= 0, i & 4 ~= 0
  print(a and 1 or 0, b and 1 or 0, c and 1 or 0, test(a, b, c))
end
