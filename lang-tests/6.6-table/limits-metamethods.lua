-- The table functions at their limits and with metamethods (6.6).
-- expect: ok
--| false	too many results to unpack
--| false	too many results to unpack
--| true	nil	nil
--| true
--| false	too many results to unpack
--| 100000	false	too many results to unpack
--| true
--| 1
--| false	object length is not an integer
--| false	object length is not an integer
--| true
--| false	invalid value (nil) at index 1 in table for 'concat'
--| false	bad argument #1 to 'table.sort' (array too big)
--| true
--| false	bad argument #1 to 'table.sort' (array too big)
--| bad argument #4 to 'table.move' (destination wrap around)
--| bad argument #3 to 'table.move' (too many elements to move)
--| bad argument #3 to 'table.move' (too many elements to move)
--| bad argument #3 to 'table.move' (too many elements to move)
--| true
--| bad argument #4 to 'table.move' (destination wrap around)
--| true
--| true
--| t.len t.set4=new
--|
--| t.len t.get3 t.set4=v3 t.get2 t.set3=v2 t.set2=mid
--|
--| t.len t.set4=end
--|
--| t.len
--| false	bad argument #2 to 'table.insert' (position out of bounds)
--| t.len
--| false	bad argument #2 to 'table.insert' (position out of bounds)
--| t.len t.get3 t.set3=nil
--| v3
--| t.len t.get1 t.get2 t.set1=v2 t.get3 t.set2=v3 t.set3=nil
--| v1
--| t.len t.get4 t.set4=nil
--| v4
--| t.len
--| false	bad argument #2 to 'table.remove' (position out of bounds)
--| t.len t.get0 t.set0=nil
--| v0
--| t.len t.get0 t.set0=nil
--| v0
--| t.len
--| false	bad argument #2 to 'table.remove' (position out of bounds)
--| t.len t.get1 t.get2 t.get3
--| v1,v2,v3
--| t.len t.get2
--| v2
--| t.len t.get1 t.get2 t.get3
--| v1	v2	v3
--| t.get2
--| v2
--| t.get1 t.set3=v1 t.get2 t.set4=v2
--| true
--| t.get1 u.set1=v1 t.get2 u.set2=v2
--| false
--| t.get3 t.set3=v3 t.get4 t.set4=v4
--| true
--| t.len t.get1 t.get2
--| true
--| t.get3 t.set4=v3 t.get2 t.set3=v2 t.get1 t.set2=v1
--| true
--| t.get2 t.set1=v2 t.get3 t.set2=v3 t.get4 t.set3=v4
--| true
--| false	invalid value (table) at index 3 in table for 'concat'
--| false	invalid value (nil) at index 1 in table for 'concat'
--| false	invalid value (boolean) at index 2 in table for 'concat'
--| false	invalid value (nil) at index 9223372036854775807 in table for 'concat'
--| 	n	2, 3	true	x
--| 0	2	2	100
--| 3	nil	false	bad argument #2 to 'table.remove' (position out of bounds)
--| false	bad argument #2 to 'table.remove' (position out of bounds)
--| zero	nil	false	bad argument #2 to 'table.remove' (position out of bounds)
--| false	wrong number of arguments to 'insert'
--| false	wrong number of arguments to 'insert'
--| false	bad argument #2 to 'table.insert' (position out of bounds)
--| false	bad argument #2 to 'table.insert' (position out of bounds)
--| true

local max, min = math.maxinteger, math.mininteger
print(pcall(table.unpack, {}, 1, 1e7)); print(pcall(table.unpack, {}, min, max))
print(pcall(table.unpack, {}, max - 1, max)); print(pcall(table.unpack, {}, max, min))
print(pcall(table.unpack, {}, 0, max))
print(select("#", table.unpack({}, 1, 1e5)), pcall(table.unpack, {}, 1, 1e6 - 10))
local long = setmetatable({}, { __len = function() return max end })
print(pcall(table.insert, long, 1)); print(rawget(long, min))
print(pcall(table.insert, setmetatable({}, { __len = function() return "x" end }), 1))
print(pcall(table.insert, setmetatable({}, { __len = function() return 1.5 end }), 1))
print(pcall(table.insert, setmetatable({}, { __len = function() return "2" end }), 3, 1))
print(pcall(table.concat, setmetatable({}, { __len = function() return max end })))
print(pcall(table.sort, long))
print(pcall(table.sort, setmetatable({}, { __len = function() return -1 end })))
print(pcall(table.sort, setmetatable({}, { __len = function() return 1 << 31 end })))
local function move(...) local ok, r = pcall(table.move, ...); return ok or r end
print(move( {}, 1, max, 2)); print(move( {}, 0, max, 2)); print(move( {}, min, 0, 2))
print(move( {}, min, -1, 2)); print(move( { 5 }, 1, 1, max)); print(move( {}, 1, 2, max))
print(move( {}, max, max, min)); print(move( {}, 2, 1, max))
local log = {}
local function logged(name, n)
  return setmetatable({}, {
    __index = function(_, k)
      log[#log + 1] = name .. ".get" .. tostring(k); return "v" .. tostring(k)
    end,
    __newindex = function(_, k, v)
      log[#log + 1] = name .. ".set" .. tostring(k) .. "=" .. tostring(v)
    end,
    __len = function() log[#log + 1] = name .. ".len"; return n end,
  })
end
local function show(...) print(table.concat(log, " ")); log = {}; print(...) end
local t = logged("t", 3)
show(table.insert(t, "new")); show(table.insert(t, 2, "mid")); show(table.insert(t, 4, "end"))
show(pcall(table.insert, t, 6, "far")); show(pcall(table.insert, t, 0, "far"))
show(table.remove(t)); show(table.remove(t, 1)); show(table.remove(t, 4))
show(pcall(table.remove, t, 5)); show(table.remove(logged("t", 0)))
show(table.remove(logged("t", 0), 0)); show(pcall(table.remove, logged("t", 0), 2))
show(table.concat(t, ",")); show(table.concat(t, ",", 2, 2)); show(table.unpack(t))
show(table.unpack(t, 2, 2)); show(table.move(t, 1, 2, 3) == t)
show(table.move(t, 1, 2, 1, logged("u", 0)) == t); show(table.move(t, 3, 4, 3) == t)
show(pcall(table.sort, logged("t", 2))); show(table.move(t, 1, 3, 2) == t)
show(table.move(t, 2, 4, 1) == t)
print(pcall(table.concat, { 1, 2, {} })); print(pcall(table.concat, { [3] = 1 }, "", 1, 3))
print(pcall(table.concat, { "a", true })); print(pcall(table.concat, {}, "", max, max))
print(table.concat({ [max] = "m" }, "", max), table.concat({ [min] = "n" }, "", min, min),
  table.concat({ 1, 2, 3 }, ", ", "2", "3"), table.concat({}, "x", 1, 0) == "",
  table.concat({ "x" }, "-", 1.0))
print(table.pack().n, table.pack(nil, nil).n, #table.pack(1, 2),
  select("#", table.unpack(table.pack(table.unpack({}, 1, 100)), 1, 100)))
print(table.remove({ 1, 2, 3 }, 3), table.remove({ 1, 2, 3 }, 4), pcall(table.remove, { 1, 2, 3 },
  5))
print(pcall(table.remove, { 1, 2, 3 }, 0))
print(table.remove({ [0] = "zero" }, 0), table.remove({ n = 1 }), pcall(table.remove, {}, -1))
print(pcall(table.insert, {})); print(pcall(table.insert, {}, 1, 2, 3))
print(pcall(table.insert, { 1 }, 3, 1)); print(pcall(table.insert, {}, 2, 1))
print(pcall(table.insert, {}, "1", 1))
