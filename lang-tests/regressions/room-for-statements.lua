-- Tables that statements fill after an empty constructor have room and slots for these fields from
-- the beginning, which nothing may notice (2.1, 2.4).
-- expect: ok
--| 800	a	b	c	d
--| one three two	three two	three
--| three	nil
--| base any	25200
--| base derived	8725
--| changed derived	11225
--| before	50	nil
--| 4400
--| 9000
--| 6

-- Metamethods still see the stores, and the reads of what was not stored.
local log = {}
local proxy = {
  __newindex = function(t, k, v) log[#log + 1] = k rawset(t, k, v) end,
  __index = function(_, k) return "no " .. k end,
}
local function make(i)
  local t = setmetatable({}, proxy)
  t.a = i
  t.b = nil
  t.c = t.b
  t.a = i + 1
  t.d = t.e
  return t
end
for i = 1, 200 do
  local t = make(i)
  assert(t.a == i + 1 and t.b == "no b" and t.c == "no b" and t.d == "no e" and t.e == "no e")
end
print(#log, log[1], log[2], log[3], log[4])

-- Traversals skip what is not there.
local function order(t)
  local names = {}
  for k in pairs(t) do names[#names + 1] = tostring(k) end
  table.sort(names)
  return table.concat(names, " ")
end
local function partly(x, y)
  local t = {}
  t.one = x
  t.two = y
  t.three = 3
  return t
end
print(order(partly(1, 2)), order(partly(nil, 2)), order(partly(nil, nil)))
print(next(partly(nil, nil)), next({}))

-- Classes: what is missing in one is found in the next, before and after it is stored.
local Base = {}
Base.__index = Base
Base.name = "base"
Base.kind = "any"
function Base.new(class, x)
  local self = setmetatable({}, class)
  self.x = x
  self.name = nil
  return self
end
local Derived = setmetatable({}, Base)
Derived.__index = Derived
Derived.kind = nil
local seen = {}
for i = 1, 300 do
  if i == 150 then Derived.kind = "derived" end
  if i == 200 then Derived.name = "changed" end
  if i == 250 then Derived.name = nil Derived.kind = nil end
  local o = Base.new(Derived, i)
  seen[o.name .. " " .. o.kind] = (seen[o.name .. " " .. o.kind] or 0) + o.x
end
for _, k in ipairs { "base any", "base derived", "changed derived" } do print(k, seen[k]) end

-- Errors on the way leave a table with what was stored.
local function fails(i)
  local t = {}
  t.before = i
  seen.last = t
  t.after = i .. {}
  return t
end
for i = 1, 50 do assert(not pcall(fails, i)) end
print(order(seen.last), seen.last.before, seen.last.after)

-- A table that escapes and is written to by others in between.
local function register(t, k) t[k] = k return k end
local function escapes(i)
  local t = {}
  t.first = i
  t.second = register(t, "extra")
  t.third = rawget(t, "second") or register(t, "other")
  return t
end
local count = 0
for i = 1, 200 do
  local t = escapes(i)
  for k, v in pairs(t) do count = count + (k == v and 1 or 0) + #k end
  collectgarbage("step")
end
print(count)

-- Many statements, and more fields than have room.
local lines = { "local t = {}" }
for i = 1, 90 do lines[#lines + 1] = ("t.f%d = %d"):format(i, i) end
lines[#lines + 1] = "return t"
local many = load(table.concat(lines, "\n"))
local few = load(table.concat(lines, "\n", 1, 60) .. "\nreturn t")
local total = 0
for _ = 1, 60 do total = total + many().f90 + few().f59 + many().f1 end
print(total)

-- What is dumped and loaded again has the same room.
local again = load(string.dump(make))
debug.setupvalue(again, 1, proxy)
if debug.getupvalue(again, 1) == "_ENV" then debug.setupvalue(again, 1, _ENV) end
debug.setupvalue(again, 2, proxy)
print(again(5).a)
