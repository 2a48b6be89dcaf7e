-- Strings share a metatable whose __index is string (2.4, 6.4).
-- expect: ok
--| xxx	3	5
--| true	nil
--| HI!
--| false	string-metatable.lua:17: attempt to call a nil value (method 'shout')
--| 15	12	false	string-metatable.lua:18: attempt to add a 'string' with a 'number'
--| e	5
--| callme	1	2
--| false	string-metatable.lua:27: attempt to call a string value (constant 'callme')

print(("x"):rep(3), #("abc"):upper(), ("%d"):format(5))
print(("abc").len == string.len, ("abc").x)
function string.shout(s) return s:upper() .. "!" end
print(("hi"):shout())
string.shout = nil
print(pcall(function() return ("hi"):shout() end))
print("10" + 5, "3" * "4", pcall(function() return "a" + 1 end))
getmetatable("").__index = function(s, k)
  return math.type(k) == "integer" and string.sub(s, k, k) or string[k]
end
print(("hello")[2], ("hello"):len())
getmetatable("").__index = string
getmetatable("").__call = function(s, ...) return s, ... end
print(("callme")(1, 2))
getmetatable("").__call = nil
print(pcall(function() return ("callme")() end))
