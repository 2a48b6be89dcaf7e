-- The fourth value of a generic for is closed when the loop ends (3.3.5).
-- expect: ok
--| 1
--| 2
--| closed at end	nil
--| closed by break	nil
--| closed empty	nil
--| closed by return	nil
--| returned
--| closed by error	body
--| false	body
--| closed by iterator error	generic-for-closing.lua:33: iterator error
--| false	generic-for-closing.lua:33: iterator error
--| closed by goto	nil
--| 1	1
--| closed inner	nil
--| closed outer	nil
--| false	generic-for-closing.lua:40: variable '(for state)' got a non-closable value

local function closing(name)
  return setmetatable({}, { __close = function(_, e) print("closed " .. name, e) end })
end
local function iterate(n, name)
  return function(s, c) c = (c or 0) + 1; if c <= n then return c end end, nil, nil, closing(name)
end
for i in iterate(2, "at end") do print(i) end
for i in iterate(2, "by break") do break end
for i in iterate(0, "empty") do print("never") end
local function f() for i in iterate(5, "by return") do return "returned" end end
print(f())
print(pcall(function() for i in iterate(5, "by error") do error("body", 0) end end))
print(pcall(function()
  for i in error, "iterator error", nil, closing("by iterator error") do end
end))
for i in iterate(3, "by goto") do goto out end
::out::
for i in iterate(1, "outer") do for j in iterate(1, "inner") do print(i, j) end end
for k in next, {}, nil, nil do end
for k in next, {}, nil, false do end
print(pcall(function() for k in next, {}, nil, {} do end end))
