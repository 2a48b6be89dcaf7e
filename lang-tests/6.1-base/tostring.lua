-- tostring of every type (6.1).
-- expect: ok
--| nil	true	false	1	1.0	s	-0.0
--| true	true
--| true	true
--| false	bad argument #1 to 'tostring' (value expected)
--| 1e+15	1e+100	9.2233720368548e+18	3.1415926535898	inf	-inf
--| true	true
--| custom
--| false	'__tostring' must return a string
--| false	in tostring
--| 12	1

print(tostring(nil), tostring(true), tostring(false), tostring(1), tostring(1.0), tostring("s"),
  tostring(-0.0))
print(tostring({}):match("^table: 0x%x+$") ~= nil, tostring(print):match("^function: ") ~= nil)
print(tostring(coroutine.create(print)):match("^thread: 0x%x+$") ~= nil,
  tostring(io.stdout):match("^file %(0x%x+%)$") ~= nil)
print(pcall(tostring))
print(tostring(1e15), tostring(1e100), tostring(2^63), tostring(math.pi), tostring(1/0),
  tostring(-1/0))
local t = {}
print(tostring(t) == tostring(t), tostring(t) ~= tostring({}))
print(tostring(setmetatable({}, { __tostring = function(o) return "custom" end })))
print(pcall(tostring, setmetatable({}, { __tostring = function(o) return {} end })))
print(pcall(tostring, setmetatable({}, { __tostring = function(o) error("in tostring", 0) end })))
print(tostring(12, 13), #tostring("\0"))
