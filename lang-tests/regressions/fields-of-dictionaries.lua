-- expect: ok
--| 105	nil	nil
--| 1	first 60 3	5	nil
--| 2	first 60 own	5	nil
--| 3	small 60	5	base
--| 4	small 60	nil	base
--| 1	second 120 3	5	new
--| 2	second 120 own	5	new
--| 3	changed 120	5	base
--| 4	changed 120	nil	base
--| 60	61	60
--| 1	5
--| 2	shape
--| 3	nil
--| 4	5
--| 50	20
--| 51	nil
--| true	false
--| 200
-- Accesses by constant names to tables with many or computed names, which have no shape.

local function filled(t, n)
  for k = 1, n do t["k" .. k] = k end
  return t
end

local function get(t) return t.k5 end
local function absent(t) return t.none end
local function set(t, v) t.k5 = v end
local function add(t, v) t.extra = v end
local function remove(t) t.extra = nil end
local function call(o, x) return o:method(x) end

-- Own fields.
local t = filled({}, 20)
for i = 1, 100 do
  set(t, get(t) + 1)
  add(t, i)
  if i % 10 == 0 then remove(t) end
  if absent(t) ~= nil then print("found") end
end
print(get(t), t.extra, absent(t))

-- Fields and methods of classes, which may be dictionaries as well, and change.
local Class = filled({}, 30)
Class.__index = Class
function Class:method(x) return "first " .. x .. " " .. self.k3 end
local small = { __index = { method = function(self, x) return "small " .. x end, none = "base" } }
local objects = {
  setmetatable(filled({}, 12), Class), setmetatable({ k3 = "own" }, Class),
  setmetatable(filled({}, 12), small), setmetatable({}, small),
}
for i = 1, 120 do
  for n, o in ipairs(objects) do
    local answer = call(o, i)
    if i == 60 or i == 120 then print(n, answer, get(o), absent(o)) end
  end
  if i == 80 then
    function Class:method(x) return "second " .. x .. " " .. self.k3 end
    small.__index.method = nil
    small.__index["method"] = function(self, x) return "changed " .. x end
    Class.none = "new"
  end
end

-- Metamethods that are functions.
local asked, stored = 0, 0
local proxy = setmetatable(filled({}, 12), {
  __index = function(_, name) asked = asked + 1 return "computed " .. name end,
  __newindex = function(o, name, v) stored = stored + 1 rawset(o, name, v) end,
})
for i = 1, 60 do
  proxy.extra = nil
  rawset(proxy, "extra", nil)
  add(proxy, i)
  if absent(proxy) ~= "computed none" or get(proxy) ~= 5 then print("wrong") end
end
print(asked, stored, proxy.extra)

-- One access to tables with and without shapes, and to other values.
local mixed = { filled({}, 12), { k5 = "shape" }, "string", filled({}, 12) }
for i = 1, 100 do
  for n, o in ipairs(mixed) do
    local v = get(o)
    if i == 100 then print(n, v) end
  end
end

-- Tables that become dictionaries, and the table of globals.
local grown = { k5 = 1 }
for i = 1, 50 do
  set(grown, i)
  if i == 25 then filled(grown, 20) end
end
print(get(grown), grown.k20)
for i = 1, 50 do
  _G.k5 = i
  if get(_G) ~= i then print("not stored") end
  set(_G, i + 1)
  if k5 ~= i + 1 then print("not found") end
end
print(k5, absent(_G))

-- What a metatable gains is seen at once.
local late = setmetatable(filled({}, 12), filled({}, 12))
for i = 1, 60 do
  if i == 40 then getmetatable(late).__index = { none = "late" } end
  if absent(late) ~= (i >= 40 and "late" or nil) then print("missed", i) end
end
print(pcall(call, filled({}, 12), 1) == false, (pcall(get, nil)))

-- Objects that are stored by constant names are kept.
local holder = filled({}, 20)
local function hold(v) holder.k7 = v end
for i = 1, 200 do
  hold({ i })
  if i % 20 == 0 then collectgarbage("step", 10) end
end
collectgarbage()
print(holder.k7[1])
