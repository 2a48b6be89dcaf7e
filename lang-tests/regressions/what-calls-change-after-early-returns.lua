-- covers: what is known of tables where a call of a function joins its early returns, and in loops
-- that make such calls, when the call changes shapes, methods, tables, kinds of numbers, or yields
-- expect: ok
--| 12360	30
--| 18951	468	1	2	3	4
--| 19362	936	10	20	30	40
--| 19773.5	1404	10	20	30	40
--| 20184.5	1872	1.5	2	3	4
--| 20595.5	2340	1.5	2	3	4
--| 21006.5	2340	1.5	2	3	4
--| 42428	2340	1.5	2	3	4
--| 42839	2340	1	2	3	4
--| 43250	2340	1	2	3	4
--| 502 502 502 502 502 502 502 502 502 502
--| 502 502 502 502 502 502 502 502 502 502
--| 326 326
--| 2600	15
--| 0 0 0.0 0.0 0.0 0.0 14.0
--| true
--| true	true
--| at 4
--| 4	6	5,4,3,2
--| 7260	true	7

-- every call changes a field that the early return keeps
local visitor = { count = 0, depth = 0, items = { 1, 2, 3, 4 } }
function visitor:swap(i, j)
  local t = self.items[i]
  self.items[i] = self.items[j]
  self.items[j] = t
end
function visitor:visit(n)
  self.count = self.count + 1
  if n ~= 0 then
    local m = n - 1
    self:visit(m)
    for i = n, 1, -1 do
      self:swap(n, i)
      self:visit(m)
      self:swap(n, i)
    end
  end
end
local function sum(t)
  local s = 0
  for i, v in ipairs(t) do s = s + v * i end
  return s
end
for round = 1, 60 do
  visitor:visit(4)
end
print(visitor.count, sum(visitor.items))

-- at some depth, the call replaces the method, the table, or the kind of the counter
local function other_swap(self, i, j)
  self.swapped = (self.swapped or 0) + 1
  local items = self.items
  items[i], items[j] = items[j], items[i]
end
local old_swap = visitor.swap
local changes = {
  function(v) v.swap = other_swap end,
  function(v) v.items = { 10, 20, 30, 40 } end,
  function(v) v.count = v.count + 0.5 end,
  function(v) v.items = { 1.5, 2, "3", 4 } end,
  function(v) v.extra = true end,
  function(v) v.swap = old_swap end,
  function(v) v.count = math.tointeger(v.count * 2) end,
  function(v) v.items = setmetatable({}, { __index = function(_, i) return i end }) end,
  function(v) v.extra = nil end,
}
local pending
function visitor:visit(n)
  self.count = self.count + 1
  if n ~= 0 then
    local m = n - 1
    if n == 1 and pending then
      local change = pending
      pending = nil
      change(self)
    end
    self:visit(m)
    for i = n, 1, -1 do
      self:swap(n, i)
      self:visit(m)
      self:swap(n, i)
    end
  end
end
for round = 1, 30 do visitor:visit(4) end
for _, change in ipairs(changes) do
  pending = change
  visitor:visit(4)
  for round = 1, 5 do visitor:visit(3) end
  local items = visitor.items
  print(visitor.count, visitor.swapped, items[1], items[2], items[3], items[4])
end

-- fields that are nil after the call, and metatables that it sets
local Node = {}
Node.__index = Node
local function tree(n)
  if n == 0 then return nil end
  return setmetatable({ value = n, left = tree(n - 1), right = tree(n - 1) }, Node)
end
local cut
function Node:walk(k)
  if k == 0 then return 1 end
  local total = self.value
  local left, right = self.left, self.right
  if left then total = total + left:walk(k - 1) end
  if k == cut then self.right = nil end
  if self.right then total = total + self.right:walk(k - 1) end
  return total
end
local root = tree(8)
for round = 1, 20 do io.write(root:walk(7), round % 10 == 0 and "\n" or " ") end
cut = 3
io.write(root:walk(7), " ")
cut = nil
print(root:walk(7))

-- a loop whose calls yield, or run while a hook changes what is known
local walker = { n = 0, log = {} }
function walker:step(k)
  self.n = self.n + 1
  if k == 0 then return self.n end
  local best = 0
  for i = 1, k do
    local got = self:step(k - 1)
    if self.yields and got % 64 == 0 then coroutine.yield(got) end
    best = best + got % 7
  end
  return best
end
for round = 1, 40 do walker:step(4) end
print(walker.n, walker:step(5))
walker.yields = true
local co = coroutine.wrap(function() return "end", walker:step(4) end)
local seen = {}
while true do
  local a, b = co()
  if a == "end" then
    seen[#seen + 1] = b
    break
  end
  seen[#seen + 1] = a
  if #seen == 2 then walker.n = walker.n + 0.0 end
end
print(table.concat(seen, " "))
walker.yields = nil
walker.n = 0
local calls = 0
debug.sethook(function()
  calls = calls + 1
  if calls == 3 then
    walker.step = function(self, k)
      self.n = self.n + 1000
      return k
    end
  end
end, "", 1000)
print((pcall(walker.step, walker, 6)))
debug.sethook()
print(calls >= 3, walker.n >= 1000)

-- errors in the call, with what the loop has done until then
local stack = { top = 0, list = {} }
function stack:push(n)
  self.top = self.top + 1
  self.list[self.top] = n
  if n == 0 then return end
  for i = 1, 2 do
    self:push(n - 1)
    if n == self.fails then error("at " .. self.top) end
    self.top = self.top - 1
  end
end
for round = 1, 50 do
  stack:push(5)
  stack.top = 0
end
stack.fails = 3
print(select(2, pcall(stack.push, stack, 5)):match("at %d+"))
print(stack.top, #stack.list, table.concat(stack.list, ",", 1, 4))

-- finalizers that run where the loop polls
local bag = { made = 0, freed = 0, box = {} }
function bag:fill(n)
  self.made = self.made + 1
  if n == 0 then return end
  for i = 1, 3 do
    self.box = setmetatable({ i }, { __gc = function() bag.freed = bag.freed + 1 end })
    self:fill(n - 1)
    self.box[1] = self.box[1] + 1
  end
end
for round = 1, 60 do bag:fill(4) end
collectgarbage()
collectgarbage()
print(bag.made, bag.made - bag.freed < bag.made, bag.box[1])
