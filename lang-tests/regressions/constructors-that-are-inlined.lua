-- Constructors that return all results of `setmetatable(o, {__index = C})`, inlined where they are
-- called, and what can go wrong in them.
-- expect: ok
--| 59
--| 218
--| 475
--| 834
--| -82
--| 3	7	1
--| false	attempt to call a nil value (method 'len')
--| false	calling 'len' on bad self (string expected, got table)
--| false	cannot change a protected metatable	true	0
--| 3	third
--| false
--| 0
--| 475
--| 2	4	6
local Point = {} function Point:len() return self.x + self.y end
local Other = {len = function() return -1 end}
local class = Point
local function new(x, y) return setmetatable({x = x, y = y}, {__index = class}) end
local function again(o) return setmetatable(o, {__index = Other}) end
local function sum(n)
  local s = 0
  for i = 1, n do
    local p = new(i, 1)
    s = s + p:len()
    if i % 3 == 0 then local q = again(p) s = s + q:len() + p:len() end
  end
  return s
end
for i = 1, 40 do if i % 10 == 0 then print(sum(i)) else sum(i) end end
class = Other print(sum(50)) class = Point
-- two results, and none wanted
local a, b = new(1, 2), (new(3, 4)) print(a:len(), b:len(), select("#", new(1, 1)))
for i = 1, 50 do new(i, i) end
-- a class that is no table
class = nil
local ok, e = pcall(sum, 3) print(ok, (e:gsub("^.-:%d+: ", "")))
class = "no class"
ok, e = pcall(sum, 3) print(ok, (e:gsub("^.-:%d+: ", "")))
class = Point
-- another metatable, and one that is protected
local protected = setmetatable({}, {__metatable = "no"})
for i = 1, 40 do
  ok, e = pcall(again, protected)
  local plain = again(setmetatable({}, {__len = function() return 7 end}))
  if i == 40 then print(ok, (e:gsub("^.-:%d+: ", "")), pcall(function() return #plain end)) end
end
-- another function of this name, with other numbers of results
local original = setmetatable
function setmetatable(o, m) return o, m.__index, "third" end
print(select("#", new(1, 2)), select(3, new(1, 2)))
ok, e = pcall(sum, 2) print(ok)
function setmetatable() end
print(select("#", new(1, 2)))
setmetatable = original
print(sum(30))
local co = coroutine.wrap(function()
  for i = 1, 3 do local p = new(i, i) coroutine.yield(p:len()) end
end)
print(co(), co(), co())
