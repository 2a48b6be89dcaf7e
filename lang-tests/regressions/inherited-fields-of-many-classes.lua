-- expect: ok
--| first	6480	480
--| own method	26460	480
--| method between	6026400	480
--| rawset	6026500	480
--| replaced	6006600	480
--| removed	6006520	480
--| again	6006680	480
--| found	6006680	0
--| lost	6006680	480
--| found by few	6006680	440
--| grown	20	901002	66
--| grown	40	901002	66
--| grown	60	901002	66
--| moved	6007640	440
--| last	1	240
--| last again	1	264
--| last	2	240
--| last again	2	288
--| last	3	240
--| last again	3	312
--| other metatable	6008480	440
--| other index	6008540	460
--| no parent	6009780	460
--| function	6011320	460
--| table again	6009780	460
--| first	6480	480
--| own method	26460	480
--| method between	6026400	480
--| rawset	6026500	480
--| replaced	6006600	480
--| removed	6006520	480
--| again	6006680	480
--| found	6006680	0
--| lost	6006680	480
--| found by few	6006680	440
--| grown	20	901002	66
--| grown	40	901002	66
--| grown	60	901002	66
--| moved	6007640	440
--| last	1	240
--| last again	1	264
--| last	2	240
--| last again	2	288
--| last	3	240
--| last again	3	312
--| other metatable	6008480	440
--| other index	6008540	460
--| no parent	6009780	460
--| function	6011320	460
--| table again	6009780	460
--| global	240	0
--| global	480	0
--| global	0	240
--| global	720	0
--| weak	240
--| weak	0
--| weak	120
--| made again	9806250
--| fields	240
--| fields moved	480
--| nodes	240
--| nodes moved	480
--| nodes moved again	720
-- An access that meets many metatables finds inherited fields in a cache of the state. The cache
-- relies on the names that watched tables gain, and on values that do not move.

local function report(name, ...) print(name, ...) end

local COUNT = 24

-- Returns objects of COUNT classes, whose parents are `Base` and, for every third, a table between.
local function make(Base, is_dictionary)
  local classes, between, objects = {}, {}, {}
  for i = 1, COUNT do
    local parent = Base
    if i % 3 == 0 then
      parent = setmetatable({}, { __index = Base })
      between[#between + 1] = parent
    end
    local class = setmetatable({}, { __index = parent })
    class.__index = class
    classes[i] = class
    local object = { value = i }
    if is_dictionary then
      for k = 1, 3 do object["k" .. i .. k] = k end
    end
    objects[i] = setmetatable(object, class)
  end
  return objects, classes, between
end

local function sum(objects, rounds)
  local n, absent = 0, 0
  for _ = 1, rounds or 20 do
    for i = 1, #objects do
      local object = objects[i]
      n = n + object:get() + object.constant
      if object.missing == nil then absent = absent + 1 end
    end
  end
  return n, absent
end

for _, is_dictionary in ipairs { false, true } do
  local Base = { constant = 1 }
  function Base:get() return self.value end
  local objects, classes, between = make(Base, is_dictionary)
  report("first", sum(objects))
  -- a class, and a table between, gain a method that was inherited
  classes[1].get = function(self) return self.value * 1000 end
  report("own method", sum(objects))
  between[1].get = function(self) return self.value * 100000 end
  report("method between", sum(objects))
  rawset(classes[2], "get", function() return 7 end)
  report("rawset", sum(objects))
  -- a method is replaced, removed, and stored again
  classes[1].get = function() return 5 end
  report("replaced", sum(objects))
  classes[1].get = nil
  report("removed", sum(objects))
  classes[1].get = function() return 9 end
  report("again", sum(objects))
  -- a name that all lacked
  Base.missing = true
  report("found", sum(objects))
  Base.missing = nil
  report("lost", sum(objects))
  between[2].missing = 1
  classes[4].missing = 1
  report("found by few", sum(objects))
  -- names that nothing looks up move the values
  for i = 1, 60 do
    Base["name" .. i] = i
    if i % 20 == 0 then report("grown", i, sum(objects, 3)) end
  end
  for i = 1, 60 do Base["name" .. i] = nil end
  Base.other, Base.constant = 2, nil
  Base.constant = 3
  report("moved", sum(objects))
  -- the place of a removed key is used for another
  Base.last = 1
  for i = 1, 3 do
    Base.last = nil
    Base["x" .. i] = i
    local found = 0
    for k = 1, #objects do found = found + (objects[k].last or 10) end
    report("last", i, found)
    Base["x" .. i] = nil
    Base.last = i
    for k = 1, #objects do found = found + (objects[k].last or 10) end
    report("last again", i, found)
  end
  -- metatables and chains change
  setmetatable(objects[5], { __index = { get = function() return 50 end, constant = 0 } })
  report("other metatable", sum(objects))
  getmetatable(objects[6]).__index = classes[1]
  report("other index", sum(objects))
  setmetatable(classes[7], nil)
  classes[7].constant, classes[7].get = 2, function() return 70 end
  report("no parent", sum(objects))
  classes[8].__index = function(_, name)
    if name == "get" then return function() return 80 end end
    if name == "constant" then return 8 end
  end
  report("function", sum(objects))
  classes[8].__index = classes[9]
  report("table again", sum(objects))
end

-- the holder is an environment, whose values are in cells
do
  value_of_all = 1
  local scopes = {}
  for i = 1, COUNT do
    scopes[i] = setmetatable({ i = i }, { __index = setmetatable({}, { __index = _ENV }) })
  end
  local function total()
    local n, nils = 0, 0
    for _ = 1, 10 do
      for i = 1, #scopes do
        local v = scopes[i].value_of_all
        if v then n = n + v else nils = nils + 1 end
      end
    end
    return n, nils
  end
  report("global", total())
  value_of_all = 2
  report("global", total())
  value_of_all = nil
  report("global", total())
  value_of_all = 3
  report("global", total())
  value_of_all = nil
end

-- the holder loses weak values
do
  local objects, holders, kept = {}, {}, {}
  for i = 1, COUNT do
    kept[i] = { i }
    holders[i] = setmetatable({}, { __mode = "v" })
    holders[i].part = kept[i]
    objects[i] = setmetatable({}, { __index = holders[i] })
  end
  local function count()
    local n = 0
    for _ = 1, 10 do
      for i = 1, #objects do if objects[i].part then n = n + 1 end end
    end
    return n
  end
  report("weak", count())
  kept = nil
  collectgarbage()
  collectgarbage()
  report("weak", count())
  for i = 1, COUNT, 2 do holders[i].part = objects end
  report("weak", count())
end

-- classes that are made again, also at the addresses of dead ones
do
  local function run(seed)
    local Base = {}
    Base.__index = Base
    function Base.new(class, v) return setmetatable({ v = v }, class) end
    function Base:get() return self.v + seed end
    local Derived = setmetatable({}, Base)
    Derived.__index = Derived
    if seed % 3 == 0 then function Derived:get() return self.v * seed end end
    if seed % 5 == 0 then Derived.extra = seed end
    local n = 0
    for i = 1, 30 do
      local a, b = Base:new(i), Derived:new(i)
      n = n + a:get() + b:get() + (b.extra or 0)
    end
    return n
  end
  local n = 0
  for seed = 1, 300 do
    n = n + run(seed)
    if seed % 50 == 0 then collectgarbage() end
  end
  report("made again", n)
end

-- the fields and nodes of the holder move, for names and integers that nothing looks up
do
  local function objects_of(Base)
    local objects = {}
    for i = 1, COUNT do
      objects[i] = setmetatable({ ["k" .. i] = i, ["l" .. i] = i }, { __index = Base })
    end
    return objects
  end
  local function total(objects)
    local n = 0
    for _ = 1, 10 do
      for i = 1, #objects do n = n + objects[i].number end
    end
    return n
  end
  -- a constructor has room for the fields that the statements after it store
  local function grow(t)
    t.f1, t.f2, t.f3, t.f4 = 1, 2, 3, 4
    t.f5, t.f6, t.f7, t.f8 = 5, 6, 7, 8
  end
  local Fields = { number = 1 }
  local objects = objects_of(Fields)
  report("fields", total(objects))
  grow(Fields)
  Fields.number = 2
  report("fields moved", total(objects))
  local Nodes = { number = 1 }
  for i = 1, 3 do Nodes["n" .. i] = i end
  objects = objects_of(Nodes)
  report("nodes", total(objects))
  for i = 1, 60 do Nodes[i * 7] = i end
  Nodes.number = 2
  report("nodes moved", total(objects))
  for i = 1, 60 do Nodes[i] = i end
  Nodes.number = 3
  report("nodes moved again", total(objects))
end
