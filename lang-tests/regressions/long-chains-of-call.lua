-- Chains of `__call` metamethods may be long (manual 2.4).
-- expect: ok
--| 101	1	100	x
--| 101	1	100	x
--| true	101	1	100	x
--| 102
--| 102	1	101	x
--| 102	1	101	x
--| true	102	1	101	x
--| 103
--| 151	1	150	x
--| 151	1	150	x
--| true	151	1	150	x
--| 152
--| 3001	1	3000	x
--| 3001	1	3000	x
--| true	3001	1	3000	x
--| 3002
--| false	long-chains-of-call.lua:38: attempt to call a table value (upvalue 'broken')

local function chain(n, f)
  for i = 1, n do f = setmetatable({ i }, { __call = f }) end
  return f
end
local function last(...)
  local n = select("#", ...)
  return n, (...)[1], select(n - 1, ...)[1], (select(n, ...))
end
for _, n in ipairs { 100, 101, 150, 3000 } do
  local f = chain(n, last)
  print(f("x"))
  print((function() return f("x") end)())
  print(pcall(f, "x"))
  print(-setmetatable({}, { __unm = f }))
  for i = 1, 100 do assert(f(i) == n + 1) end
end
local broken = chain(200, {})
print(pcall(function() return (broken(1)) end))
