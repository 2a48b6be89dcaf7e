-- next walks a table and ends with nil (6.1).
-- expect: ok
--| nil
--| 1	a
--| x	1
--| nil
--| 1=1 2.5=f 2=2 3=3 a=A b=B true=t
--| false	invalid key to 'next'
--| false	invalid key to 'next'
--| false	bad argument #1 to 'next' (table expected, got no value)
--| false	bad argument #1 to 'next' (table expected, got number)
--| nil	3	3
--| 1 2 3 4

print(next({})); print(next({ "a" })); print(next({ x = 1 })); print(next({ "a" }, 1))
local t, seen = { 1, 2, 3, a = "A", b = "B", [2.5] = "f", [true] = "t" }, {}
local k, v = next(t)
while k ~= nil do seen[#seen + 1] = tostring(k) .. "=" .. tostring(v); k, v = next(t, k) end
table.sort(seen)
print(table.concat(seen, " "))
print(pcall(next, {}, "absent"))
print(pcall(next, { 1, 2 }, 3))
print(pcall(next))
print(pcall(next, 1))
print(next({ 1, 2, 3 }, 3), next({ 1, 2, 3 }, 2))
local order = {}
for i in pairs({ 10, 20, 30, 40 }) do order[#order + 1] = i end
print(table.concat(order, " "))
