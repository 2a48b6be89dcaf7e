-- Objects with the same fields in different orders, and with very many fields.
-- expect: ok
--| 2353
--| 201	3	201
--| 133	nil	2	200
--| 123456 123456 123456 
--| nil	changed	nil
--| own
--| replaced
--| inherited

local function new(order)
  local t = {}; for c in order:gmatch(".") do t[c] = c:byte() end return t
end
local sum = 0
for _, order in ipairs({ "abc", "acb", "bac", "bca", "cab", "cba", "ab", "abcd" }) do
  local o = new(order); sum = sum + o.a + o.b + (o.c or 0) + (o.d or 0)
end
print(sum)
local big = {}
for i = 1, 200 do big["field" .. i] = i end
local function read(o) return o.field1 + o.field200 end
print(read(big), read({ field1 = 1, field200 = 2 }), read(setmetatable({}, { __index = big })))
for i = 1, 200, 3 do big["field" .. i] = nil end
local n = 0
for k, v in pairs(big) do n = n + 1 end
print(n, big.field1, big.field2, big.field200)
local function poly(o) return o.v end
local list = { { v = 1 }, { a = 0, v = 2 }, { a = 0, b = 0, v = 3 },
  setmetatable({}, { __index = { v = 4 } }), { v = 5, z = 1 },
  setmetatable({ q = 1 }, { __index = function() return 6 end }) }
for round = 1, 3 do
  local s = ""; for i = 1, #list do s = s .. poly(list[i]) end io.write(s, " ")
end
print()
list[1].v = nil; list[2].v = "changed"; print(poly(list[1]), poly(list[2]), poly({}))
local o = { m = function() return "own" end }; local function call(x) return x.m() end
print(call(o)); o.m = function() return "replaced" end; print(call(o))
setmetatable(o, { __index = { m = function() return "inherited" end } }); o.m = nil; print(call(o))
