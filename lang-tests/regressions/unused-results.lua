-- An operator whose result is not used raises its error, and calls its metamethod (3.4, 2.4).
-- expect: ok
--| add	attempt to perform arithmetic on a table value (local 'a')	1
--| sub	attempt to perform arithmetic on a table value (local 'b')	1
--| unm	attempt to perform arithmetic on a table value (local 'a')	1
--| half	attempt to perform arithmetic on a table value (local 'a')	1
--| band	attempt to perform bitwise operation on a table value (local 'a')	1
--| less	attempt to compare table with number	1
--| len	attempt to get length of a nil value (local 'a')	1
--| index	attempt to index a nil value (local 'a')	1
--| element	attempt to index a nil value (local 'a')	1
--| loop	bad 'for' initial value (number expected, got table)	1
--| bits of floats	number (local 'a') has no integer representation	0
--| kept	attempt to perform arithmetic on a nil value (local 'a')	0
local calls = 0
local function count() calls = calls + 1 return 1 end
local meta = { __add = count, __sub = count, __unm = count, __div = count, __band = count,
  __lt = count, __len = count, __index = count }
local object = setmetatable({}, meta)

-- each with operands that are usual, operands that are wrong, and operands with a metamethod
local function check(name, f, usual, wrong, with)
  for i = 1, 300 do f(table.unpack(usual)) end
  local _, message = pcall(f, table.unpack(wrong, 1, 2))
  calls = 0
  if with then f(table.unpack(with)) end
  print(name, (message:gsub("^[^:]*:%d+: ", "")), calls)
end

check("add", function(a, b) local _ = a + b end, { 1, 2 }, { {}, 1 }, { object, 1 })
check("sub", function(a, b) local _ = a - b end, { 1.5, 2.5 }, { 1, {} }, { object, 1 })
check("unm", function(a) local _ = -a end, { 1 }, { {} }, { object })
check("half", function(a) local _ = a / 2 end, { 1.5 }, { {} }, { object })
check("band", function(a, b) local _ = a & b end, { 1, 2 }, { {}, 2 }, { object, 2 })
check("less", function(a) if a < 1 then end end, { 1 }, { {} }, { object })
check("len", function(a) local _ = #a end, { {} }, {}, { object })
check("index", function(a) local _ = a.x end, { { x = 1 } }, {}, { object })
check("element", function(a, i) local _ = a[i] end, { { 1 }, 1 }, { nil, 1 }, { object, 1 })
check("loop", function(a)
  for i = a, 1 do local _ = i end
  calls = calls + 1
end, { 1 }, { {} }, { 1 })
check("bits of floats", function(a, b) local _ = a & b end, { 2.0, 2 }, { 1.5, 2 })
check("kept", function(a, b) local c = a + 1 if b then return c end end, { 1 }, { nil, nil })
