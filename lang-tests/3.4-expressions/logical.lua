-- and, or and not; short circuit; values rather than booleans (3.4.5).
-- expect: ok
--| 10	10	a	nil	false	false	nil	20
--| true	true	false	false	false	true
--| 1	false	2	false	false
--| <1> <2> <nil> <false> <4> <5> 2	nil	4	5
--| <nil> <false> <7> <8> <1> <nil> <d> 8	d
--| default	big	true
--| 5	nil	5	nil	nil	false	true
--| 1	0	table
--| nil	false	nil	false
--| true false false true 
--| 4

print(10 or 20, 10 or error(), nil or "a", nil and 10, false and error(), false and nil,
  false or nil, 10 and 20)
print(not nil, not false, not 0, not "", not not nil, not not 1)
print(nil and nil or 1, false == nil, 1 and nil or 2, 1 and false, nil == (false and 1))
local function v(x) io.write("<", tostring(x), "> "); return x end
print(v(1) and v(2), v(nil) and v(3), v(false) or v(4), v(5) or v(6))
print(v(nil) or v(false) or v(7) and v(8), (v(1) and v(nil)) or v("d"))
local a, b = nil, 5
local x = a and a.field or "default"
local y = b and b > 3 and "big" or "small"
local z = not a and not (b == 6)
print(x, y, z)
print(a or b, a and b, b or a, b and a, a == nil and "nil", not (a or b), not (a and b))
local t = { f = function(c) return c and 1 or 0 end, g = a or {} }
print(t.f(true), t.f(nil), type(t.g))
print((nil or nil), (false or false), nil and false, false and nil)
for i = 1, 4 do io.write(tostring(i % 2 == 0 and i > 2 or i == 1), " ") end
print()
local n = 0
local function count() n = n + 1; return true end
local _ = count() or count(), count() and count(), (count() and false) or (false and count())
print(n)
