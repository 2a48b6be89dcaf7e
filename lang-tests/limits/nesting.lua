-- Nesting in the source is limited, with an error and no crash (implementation limit).
-- expect: ok
--| (	true	true
--| do 	true	true
--| while true do 	true	true
--| if x then 	true	true
--| function f() 	true	true
--| for i = 1, 2 do 	true	true
--| repeat 	true	true
--| -	true	true
--| not 	true	true
--| #	true	true
--| ~	true	true
--| {	true	true
--| a[	true	true
--| f(	true	true
--| function() return 	true	true
--| ..	true	true
--| ^	true	true

for _, case in ipairs({
  { "x = (", "1", ")" , "(" }, { "do ", "", " end" }, { "while true do ", "", " end" },
    { "if x then ", "", " end" },
  { "function f() ", "", " end" }, { "for i = 1, 2 do ", "", " end" },
    { "repeat ", "", " until x" },
}) do
  local open = case[4] and case[4] or case[1]
  local source = function(n)
    return (case[4] and "x = " or "") .. open:rep(n) .. case[2] .. case[3]:rep(n)
  end
  local ok = load(source(40))
  local f, message = load(source(5000), "=s")
  print(open, ok ~= nil, f == nil and (message:find("overflow", 1, true) or message:find("too many",
    1, true)) ~= nil)
end
for _, unary in ipairs({ "-", "not ", "#", "~" }) do
  local ok = load("return " .. unary:rep(80):gsub("%-%-", "- -"):gsub("%-%-", "- -") .. "x")
  local f, message = load("return " .. (unary == "-" and "- " or unary):rep(5000) .. "x", "=s")
  print(unary, ok ~= nil, f == nil and message:find("overflow", 1, true) ~= nil)
end
for _, pair in ipairs({ { "{", "}" }, { "a[", "]" }, { "f(", ")" },
  { "function() return ", " end" } }) do
  local source = function(n) return "return " .. pair[1]:rep(n) .. "x" .. pair[2]:rep(n) end
  local f, message = load(source(5000), "=s")
  print(pair[1], load(source(80)) ~= nil, f == nil and message:find("overflow", 1, true) ~= nil)
end
for _, op in ipairs({ "..", "^" }) do
  local f, message = load("return " .. ("x " .. op .. " "):rep(5000) .. "x", "=s")
  print(op, load("return " .. ("x " .. op .. " "):rep(80) .. "x") ~= nil,
    f == nil and message:find("overflow", 1, true) ~= nil)
end
