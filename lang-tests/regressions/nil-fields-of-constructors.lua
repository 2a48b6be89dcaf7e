-- A constructor gives its tables slots for fields whose values are nil, which are absent fields.
-- expect: ok
--| nil	nil	0
--| b=2;	1
--| a=1;b=2;	2
--| newindex	next	7	nil
--| 7
--| default	own	default
--| absent	nil
--| 0	0	true
--| a=9;	1
--| nil	5
--| 3	1	2	3
--| error	nil	nil
--| invalid key to 'next'
--| true	true
--| list	1000	500500
--| kept	0
local function keys(t)
  local list = {}
  for k, v in pairs(t) do list[#list + 1] = k .. "=" .. tostring(v) .. ";" end
  table.sort(list)
  return table.concat(list), #list
end
local function none() return nil end
local function make(a, b) return {a = a, b = b, next = none()} end

for _ = 1, 300 do
  local t = make(nil, nil)
  assert(next(t) == nil and rawlen(t) == 0 and #t == 0)
  t.next = t
  assert(next(t) == "next" and next(t, "next") == nil)
  t.next = nil
  assert(next(t) == nil)
end
print(make().a, next(make()), #make())
print(keys(make(nil, 2)))
print(keys(make(1, 2)))

-- a store to a field that is nil asks the metatable
local function watched()
  local log = {}
  local t = setmetatable(make(1, 2), {__newindex = function(_, k, v) log[#log + 1] = {k, v} end})
  for i = 1, 40 do t.a = i end
  t.next = 7
  return #log == 1 and "newindex", log[1][1], log[1][2], rawget(t, "next")
end
for _ = 1, 100 do watched() end
print(watched())
local t = setmetatable(make(1, 2), {__newindex = error})
rawset(t, "next", 7)
print(t.next)

-- a field that is nil is found in the chain, until it is set
local C = {name = "default"}
C.__index = C
local function object(name) return setmetatable({name = name, other = nil}, C) end
local function name_of(o) return o.name end
for i = 1, 300 do
  assert(name_of(object()) == "default" and name_of(object(i)) == i)
end
local o = object()
local first = name_of(o)
o.name = "own"
local second = name_of(o)
o.name = nil
print(first, second, name_of(o))
local function other_of(o) return o.other end
local found
for i = 1, 300 do
  found = other_of(object())
  assert(found == nil)
  if i == 200 then C.other = "absent" end
  if i == 200 then found = other_of(object()) break end
end
C.other = nil
print(found, other_of(object()))

-- weak values are cleared, and the fields are absent then
local function weak()
  local w = setmetatable({a = {}, b = nil, next = {}}, {__mode = "v"})
  collectgarbage()
  return select(2, keys(w)), #w, next(w) == nil
end
print(weak())

-- a key that is computed, and the form without a shape
local d = make()
d["a" .. ""] = 9
d["x" .. 1] = 1
d["x" .. 1] = nil
print(keys(d))
local e = {a = nil, ["b" .. ""] = 5, c = nil}
print(e.a, e.b)
local mixed = {1, a = nil, 2, b = nil, 3}
print(#mixed, mixed[1], mixed[2], mixed[3])

-- a value that fails leaves nothing behind
local partial
local function fail() error("error", 0) end
local ok, message = pcall(function() partial = {a = 1, b = fail(), c = nil} end)
print(message, partial, ok or nil)
print(select(2, pcall(next, make(), "z")))
print(next(make(1), "a") == nil, next(make(nil, 1)) == "b")

local function list(n)
  local head
  for i = 1, n do
    local cell = {value = i, next = nil}
    cell.next = head
    head = cell
  end
  local count, sum = 0, 0
  while head do count, sum, head = count + 1, sum + head.value, head.next end
  return count, sum
end
for _ = 1, 20 do list(100) end
print("list", list(1000))

-- the class is created by a constructor that names its events without a value
local mt = {__index = nil, __newindex = nil, __len = nil}
local u = setmetatable({a = nil}, mt)
u.a = 1
u.a = nil
assert(#u == 0 and u.zzz == nil)
mt.__newindex = function(t, k, v) rawset(t, k, "kept") end
mt.__len = nil
u.a = 2
print(u.a, #u)
