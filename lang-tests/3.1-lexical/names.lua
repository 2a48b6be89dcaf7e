-- Names are letters, digits and underscores, and case matters (3.1).
-- expect: ok
--| 1	2	3	4	5	6
--| a	b	c	d	e
--| long
--| Lua 5.4
--| nil	[string "local 1a = 1"]:1: malformed number near '1a'
--| nil	[string "local é = 1"]:1: <name> expected near '<\195>'

local _, __, _1, a1, A1, _VERSION_ = 1, 2, 3, 4, 5, 6
print(_, __, _1, a1, A1, _VERSION_)
local And, END, Nil, notx, endif = "a", "b", "c", "d", "e"
print(And, END, Nil, notx, endif)
local a_very_long_name_that_goes_on_for_more_than_forty_characters = "long"
print(a_very_long_name_that_goes_on_for_more_than_forty_characters)
print(_VERSION)
for _, word in ipairs({ "and", "break", "do", "else", "elseif", "end", "false", "for", "function",
  "goto", "if", "in",
  "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while" }) do
  if load("local " .. word .. " = 1") or load("x." .. word .. " = 1") then
    print("accepted", word)
  end
end
print(load("local 1a = 1"))
print(load("local \xc3\xa9 = 1"))
