-- __call makes a value callable, and a chain of them is followed (2.4).
-- expect: ok
--| table	0	nil	nil
--| table	3	number	3
--| table	table
--| true	table	1	string	via pcall
--| table	2	table	1
--| table	1	string	t
--| table	2	table	m
--| false	call.lua:25: attempt to call a table value (local 't')
--| false	call.lua:26: attempt to call a number value (local 't')
--| 1 2 3 
local o = setmetatable({}, { __call = function(self, ...)
  local first = ...; return type(self), select("#", ...), type(first), (select(-1, nil, ...))
end })
print(o()); print(o(1, nil, 3))
print(o{ }, (o "str"))
print(pcall(o, "via pcall"))
local nested = setmetatable({}, { __call = o })
print(nested(1))
local function tail(...) return o(...) end
print(tail("t"))
local obj = { method = o }
print(obj:method("m"))
print(pcall(function() local t = {}; t() end))
print(pcall(function() local t = setmetatable({}, { __call = 5 }); t() end))
for v in setmetatable({},
  { __call = function(self, state, control) return (control or 0) < 3 and (control or 0) + 1
  or nil end }) do
  io.write(v, " ")
end
print()
