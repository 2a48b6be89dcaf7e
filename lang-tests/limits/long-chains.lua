-- Long chains of left-associative operators and suffixes do not nest (implementation limit).
-- expect: ok
--| 3001
--| 3001
--| nil
--| true
--| true
--| true
--| 0	2	600	none
--| 20000
--| 151

print(load("return " .. ("1 + "):rep(3000) .. "1")())
print(load("local x = 1 return " .. ("x + "):rep(3000) .. "x")())
print(load("return " .. ("x and "):rep(1000) .. "x")())
local t = {}
t.t = t
print(load("local t = ... return t" .. (".t"):rep(3000))(t) == t)
print(load("local t = ... return t" .. ("['t']"):rep(1000))(t) == t)
local f
f = function() return f end
print(load("local f = ... return f" .. ("()"):rep(1000))(f) == f)
local chain = {}
for i = 1, 300 do chain[i] = "elseif x == " .. i .. " then return " .. i * 2 end
local g = load("local x = ... if x == 0 then return 0 " .. table.concat(chain, " ")
  .. " else return 'none' end")
print(g(0), g(1), g(300), g(301))
print(#load("return '" .. ("x"):rep(20000) .. "'")())
print(#load("local s = 'a' return s" .. (" .. s"):rep(150))())
