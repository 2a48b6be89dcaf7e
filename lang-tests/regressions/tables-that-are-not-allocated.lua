-- Tables that the optimizing compiler does not allocate: their fields are values until code leaves
-- the frame or the loop that makes them (2.1).
-- expect: ok
--| sum	100.0 50.0 true	6.0 12.0 true
--| mixed	132.5 15.0 true
--| first	1 1 true	1 1 true	true	true
--| last	1 1 true	4 10 true	false	false
--| either	9	9	-9	true	false
--| stored	134.5
--| absent	10	9
--| nested	85	true	7	14	3
--| risky	500	attempt to perform arithmetic on a nil value (field 'y')
--| newindex	true	3
--| replaced	-10.0 -5.0 true
--| watched	120 210 true
--| collected	150 11325 true	true
--| yields	18528 -18528 true	19306 -19306 true	20100 -20100 true
--| nothing	11.5	nil

local V = {}
V.__index = V
local function new(x, y) return setmetatable({ x = x, y = y }, V) end
V.__add = function(a, b) return new(a.x + b.x, a.y + b.y) end
V.__mul = function(a, k) return new(a.x * k, a.y * k) end
function V:dot(o) return self.x * o.x + self.y * o.y end
local function show(v)
  return tostring(v.x) .. " " .. tostring(v.y) .. " " .. tostring(getmetatable(v) == V)
end

-- A vector that a loop replaces in each iteration, and that is returned at its end.
local function sum(n, d)
  local v = new(0.0, 0.0)
  for _ = 1, n do v = v + d * 2.0 end
  return v
end
for i = 1, 60 do sum(i, new(0.5, 0.25)) end
print("sum", show(sum(100, new(0.5, 0.25))), show(sum(3, new(1, 2))))

-- Operands change their types in the middle of the loop: the exit builds the vectors.
local function mixed(n, at)
  local v, k = new(0, 0), 1
  for i = 1, n do
    if i == at then k = 0.5 end
    v = v + new(i, 1) * k
  end
  return v
end
for _ = 1, 60 do mixed(20, 0) end
print("mixed", show(mixed(20, 11)))

-- Identity: one table with two names, tables that are kept, and comparisons after the loop.
local function first_and_last(n)
  local first, v = nil, new(0, 0)
  for i = 1, n do
    v = v + new(1, i)
    if i == 1 then first = v end
  end
  return first, v, first == v
end
for _ = 1, 60 do first_and_last(5) end
local first, last, same = first_and_last(1)
print("first", show(first), show(last), same, first == last)
first, last, same = first_and_last(4)
print("last", show(first), show(last), same, rawequal(first, last))

local function either(n, flag)
  local count = 0
  for i = 1, n do
    local a, b = { n = i }, { n = -i }
    local c = a
    if i % 3 == 0 then c = b end
    if flag and i == n then return a, b, c end
    count = count + c.n
  end
  return count
end
for _ = 1, 60 do either(9) end
local a, b, c = either(9, true)
print("either", either(9), a.n, b.n, c == b, c == a)

-- Fields that are stored after the constructor, in branches and in an inner loop.
local function stored(n)
  local total = 0
  for i = 1, n do
    local o = { n = i, m = 0 }
    if i % 2 == 0 then o.n = o.n + 0.5 end
    for j = 1, 3 do o.m = o.m + j end
    total = total + o.n + o.m
  end
  return total
end
for _ = 1, 60 do stored(10) end
print("stored", stored(11))

-- Fields that gain nil, and names that the table does not have.
local function absent(n, drop)
  local found = 0
  for i = 1, n do
    local o = setmetatable({ n = i }, V)
    o.extra = i
    if i == drop then o.n = nil end
    if o.n and o.extra and not o.missing then found = found + 1 end
  end
  return found
end
for _ = 1, 60 do absent(10) end
print("absent", absent(10), absent(10, 4))

-- A table in a table, which is built with it.
local function nested(n, at)
  local total = 0
  for i = 1, n do
    local from = { x = i, y = 1 }
    local line = { from = from, to = { x = 2 * i, y = i == at and "3" or 3 } }
    total = total + line.to.x - line.from.x + line.to.y
    if i == at then return line, from end
  end
  return total
end
for _ = 1, 60 do nested(10) end
local line, from = nested(10, 7)
print("nested", nested(10), line.from == from, line.from.x, line.to.x, line.to.y)

-- Errors and metamethods that appear later.
local function risky(n, d)
  local v = new(0, 0)
  for _ = 1, n do v = v + d end
  return v:dot(v)
end
for _ = 1, 60 do risky(10, new(1, 2)) end
local _, message = pcall(risky, 10, new(1, nil))
print("risky", risky(10, new(1, 2)), (message:gsub("^.-:%d+: ", "")))
V.__newindex = function(t, k, v) rawset(t, k, v .. "!") end
print("newindex", pcall(absent, 3))
V.__newindex = nil
V.__add = function(p, q) return new(p.x - q.x, p.y - q.y) end
print("replaced", show(sum(10, new(0.5, 0.25))))

-- What hooks, collections and coroutines see.
local function watched(n, at)
  local v = new(0, 0)
  for i = 1, n do
    v = new(v.x + 1, v.y + i)
    if i == at then
      debug.sethook(function()
        debug.sethook()
        local _, local_v = debug.getlocal(2, 3)
        local_v.x = local_v.x + 100
      end, "", 1)
    end
  end
  return v
end
for _ = 1, 60 do watched(20) end
print("watched", show(watched(20, 10)))
local function collected(n)
  local v, weak = new(0, 0), setmetatable({}, { __mode = "v" })
  for i = 1, n do
    v = new(v.x + 1, v.y + i)
    if i % 50 == 0 then
      weak[1] = v
      collectgarbage()
    end
  end
  return v, weak[1] ~= nil
end
for _ = 1, 3 do collected(100) end
local v, is_there = collected(150)
print("collected", show(v), is_there)
local co = coroutine.wrap(function()
  local w = new(0, 0)
  for i = 1, 200 do
    w = new(w.x + i, w.y - i)
    if i > 190 and i % 4 == 0 then coroutine.yield(w) end
  end
  return w
end)
print("yields", show(co()), show(co()), show(co()))
-- A nil argument in a register that held something else before.
local function none() end
local function nothing(n, at, x)
  local total = 0
  for i = 1, n do
    local o = { v = i }
    o.x = x
    if i == at then
      o.v = o.v + 0.5
      return o
    end
    total = total + o.v
  end
  return total
end
for _ = 1, 60 do nothing(20, nil, none()) end
local o = nothing(20, 11, (none()))
print("nothing", o.v, o.x)
