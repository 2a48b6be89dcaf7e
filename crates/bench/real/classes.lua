-- covers: a class library: inheritance, mixins, properties, metamethods, signals; a simulation
-- memory: yes
-- A class library with multiple mixins, properties behind __index and __newindex, inherited
-- metamethods, checked fields and signals; on it a simulation of a colony with a scheduler,
-- behavior trees, a spatial grid, an economy and a log of events.

local scale = tonumber(arg and arg[1]) or 1
local TICKS = math.max(4, math.floor(3000 * scale))

local floor, format, concat = math.floor, string.format, table.concat
local insert, remove, sort = table.insert, table.remove, table.sort

------------------------------------------------------------------------------------------------
-- The class library

local METAMETHODS = { "__add", "__sub", "__mul", "__div", "__unm", "__eq", "__lt", "__le",
  "__concat", "__call", "__tostring", "__len" }

local Class = {}
Class.__index = Class
Class.__tostring = function(class) return "class " .. class.name end
Class.__call = function(class, ...) return class:new(...) end

local all_classes = {}

-- Finds a property in a class or the classes above it.
local function find_property(class, name)
  while class do
    local property = class.properties[name]
    if property then return property end
    class = class.parent
  end
end

-- Makes the __index and __newindex of objects of a class that has properties.
local function property_access(class)
  local methods = class.methods
  return function(object, name)
    local method = methods[name]
    if method ~= nil then return method end
    local property = find_property(class, name)
    if property then
      if not property.get then error("property '" .. name .. "' cannot be read", 2) end
      return property.get(object)
    end
  end, function(object, name, value)
    local property = find_property(class, name)
    if property then
      if not property.set then error("property '" .. name .. "' cannot be set", 2) end
      property.set(object, value)
    else
      rawset(object, name, value)
    end
  end
end

local function class(name, parent, ...)
  local self = setmetatable({ name = name, parent = parent, properties = {}, mixins = {},
    methods = {}, meta = {}, statics = {} }, Class)
  if parent then setmetatable(self.methods, { __index = parent.methods }) end
  local meta = self.meta
  meta.class, meta.__index = self, self.methods
  meta.__tostring = function(object) return object:to_string() end
  -- Metamethods call methods, so that subclasses inherit and override them.
  for _, event in ipairs(METAMETHODS) do
    local method = self.methods[event]
    if method then meta[event] = method end
  end
  self.methods.class = self
  for _, mixin in ipairs({ ... }) do self:include(mixin) end
  if parent and parent.has_properties then self:use_properties() end
  all_classes[name] = self
  return self
end

function Class:use_properties()
  self.has_properties = true
  self.meta.__index, self.meta.__newindex = property_access(self)
end

function Class:include(mixin)
  for name, value in pairs(mixin) do
    if name ~= "included" then self.methods[name] = value end
  end
  self.mixins[mixin] = true
  if mixin.included then mixin.included(self) end
  return self
end

function Class:operator(event, fn)
  self.methods[event] = fn
  self.meta[event] = fn
  return self
end

function Class:property(name, get, set)
  self.properties[name] = { get = get, set = set }
  if not self.has_properties then self:use_properties() end
  return self
end

-- A field whose values are checked; it is kept under another name.
function Class:checked(name, kind, low, high)
  local slot = "_" .. name
  return self:property(name, function(object) return rawget(object, slot) end,
    function(object, value)
      if type(value) ~= kind then
        error(format("%s.%s: %s expected, got %s", self.name, name, kind, type(value)), 3)
      end
      if low and value < low then value = low end
      if high and value > high then value = high end
      rawset(object, slot, value)
    end)
end

function Class:new(...)
  local object = setmetatable({}, self.meta)
  local initialize = self.methods.initialize
  if initialize then initialize(object, ...) end
  return object
end

function Class:is_subclass_of(other)
  local current = self
  while current do
    if current == other then return true end
    current = current.parent
  end
  return false
end

local function is_a(object, wanted)
  local meta = getmetatable(object)
  local own = type(meta) == "table" and meta.class
  if not own then return false end
  if getmetatable(wanted) == Class then return own:is_subclass_of(wanted) end
  while own do
    if own.mixins[wanted] then return true end
    own = own.parent
  end
  return false
end

------------------------------------------------------------------------------------------------
-- Mixins

local Observable = {}

function Observable:on(event, handler)
  local observers = rawget(self, "observers")
  if not observers then
    observers = {}
    rawset(self, "observers", observers)
  end
  observers[event] = observers[event] or {}
  insert(observers[event], handler)
  return self
end

function Observable:emit(event, ...)
  local observers = rawget(self, "observers")
  local list = observers and observers[event]
  if not list then return 0 end
  for i = 1, #list do list[i](self, ...) end
  return #list
end

local Comparable = {}
function Comparable.included(target)
  target:operator("__lt", function(a, b) return a:compare(b) < 0 end)
  target:operator("__le", function(a, b) return a:compare(b) <= 0 end)
end
function Comparable:between(low, high) return low <= self and self <= high end

local Named = { counter = {} }
function Named:name_after(kind)
  Named.counter[kind] = (Named.counter[kind] or 0) + 1
  self.label = kind .. Named.counter[kind]
end

------------------------------------------------------------------------------------------------
-- Values: vectors and amounts of goods

local Object = class("Object")
function Object.methods:to_string() return "a " .. self.class.name end

local Vector = class("Vector", Object)
function Vector.methods:initialize(x, y) self.x, self.y = x, y end
function Vector.methods:to_string() return format("(%d, %d)", floor(self.x), floor(self.y)) end
function Vector.methods:length_squared() return self.x * self.x + self.y * self.y end
function Vector.methods:steps_to(other)
  return math.abs(self.x - other.x) + math.abs(self.y - other.y)
end
Vector:operator("__add", function(a, b) return Vector(a.x + b.x, a.y + b.y) end)
Vector:operator("__sub", function(a, b) return Vector(a.x - b.x, a.y - b.y) end)
Vector:operator("__unm", function(a) return Vector(-a.x, -a.y) end)
Vector:operator("__eq", function(a, b) return a.x == b.x and a.y == b.y end)
Vector:operator("__mul", function(a, b)
  if type(a) == "number" then a, b = b, a end
  if type(b) == "number" then return Vector(a.x * b, a.y * b) end
  return a.x * b.x + a.y * b.y
end)

local Goods = class("Goods", Object, Comparable)
function Goods.methods:initialize(amounts) self.amounts = amounts or {} end
function Goods.methods:value()
  local prices, sum = self.class.statics.prices, 0
  for kind, amount in pairs(self.amounts) do sum = sum + amount * (prices[kind] or 1) end
  return sum
end
function Goods.methods:compare(other) return self:value() - other:value() end
function Goods.methods:to_string()
  local parts = {}
  for kind, amount in pairs(self.amounts) do
    if amount ~= 0 then parts[#parts + 1] = format("%d %s", amount, kind) end
  end
  sort(parts)
  return "[" .. concat(parts, ", ") .. "]"
end
Goods.statics.prices = { ore = 3, ice = 2, food = 4, tool = 15 }
local function combine(a, b, sign)
  local amounts = {}
  for kind, amount in pairs(a.amounts) do amounts[kind] = amount end
  for kind, amount in pairs(b.amounts) do amounts[kind] = (amounts[kind] or 0) + sign * amount end
  return Goods(amounts)
end
Goods:operator("__add", function(a, b) return combine(a, b, 1) end)
Goods:operator("__sub", function(a, b) return combine(a, b, -1) end)
Goods:operator("__concat", function(a, b) return tostring(a) .. tostring(b) end)
Goods:operator("__call", function(self, kind) return self.amounts[kind] or 0 end)
Goods:operator("__eq", function(a, b) return a:compare(b) == 0 end)

------------------------------------------------------------------------------------------------
-- Collections

local Heap = class("Heap", Object)
function Heap.methods:initialize(less) self.less, self.items, self.size = less, {}, 0 end
function Heap.methods:push(item)
  local items, less = self.items, self.less
  local at = self.size + 1
  self.size = at
  while at > 1 do
    local above = floor(at / 2)
    if not less(item, items[above]) then break end
    items[at] = items[above]
    at = above
  end
  items[at] = item
end
function Heap.methods:pop()
  local items, less, size = self.items, self.less, self.size
  if size == 0 then return nil end
  local top, last = items[1], items[size]
  items[size] = nil
  size = size - 1
  self.size = size
  local at = 1
  while at * 2 <= size do
    local child = at * 2
    if child < size and less(items[child + 1], items[child]) then child = child + 1 end
    if not less(items[child], last) then break end
    items[at] = items[child]
    at = child
  end
  if size > 0 then items[at] = last end
  return top
end

local Grid = class("Grid", Object)
function Grid.methods:initialize(cell) self.cell, self.cells = cell, {} end
function Grid.methods:key(position)
  return floor(position.x / self.cell) * 4096 + floor(position.y / self.cell)
end
function Grid.methods:add(entity)
  local key = self:key(entity.position)
  local list = self.cells[key]
  if not list then
    list = {}
    self.cells[key] = list
  end
  list[#list + 1] = entity
  entity.cell_key = key
end
function Grid.methods:remove(entity)
  local list = self.cells[entity.cell_key]
  for i = 1, #list do
    if list[i] == entity then
      list[i] = list[#list]
      list[#list] = nil
      return
    end
  end
end
function Grid.methods:move(entity)
  if self:key(entity.position) ~= entity.cell_key then
    self:remove(entity)
    self:add(entity)
  end
end
-- Calls a function for all entities in the cells around a position.
function Grid.methods:near(position, visit)
  local x, y = floor(position.x / self.cell), floor(position.y / self.cell)
  for i = x - 1, x + 1 do
    for j = y - 1, y + 1 do
      local list = self.cells[i * 4096 + j]
      if list then
        for k = 1, #list do visit(list[k]) end
      end
    end
  end
end

------------------------------------------------------------------------------------------------
-- Entities

local seed = 4711
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local Entity = class("Entity", Object, Observable, Named)
function Entity.methods:initialize(world, position)
  self.world, self.position = world, position
  self:name_after(self.class.name)
  world:enter(self)
end
function Entity.methods:to_string() return self.label .. " at " .. tostring(self.position) end
function Entity.methods:update() end
function Entity.methods:leave()
  self.gone = true
  self.world:exit(self)
end

local Deposit = class("Deposit", Entity)
function Deposit.methods:initialize(world, position, kind, amount)
  Entity.methods.initialize(self, world, position)
  self.kind, self.amount = kind, amount
end
function Deposit.methods:mine(amount)
  local taken = math.min(amount, self.amount)
  self.amount = self.amount - taken
  if self.amount == 0 then
    self:emit("empty")
    self:leave()
  end
  return Goods({ [self.kind] = taken })
end

local Building = class("Building", Entity)
Building:checked("integrity", "number", 0, 100)
Building:property("broken", function(self) return self.integrity < 20 end)
function Building.methods:initialize(world, position)
  Entity.methods.initialize(self, world, position)
  self.integrity = 100
  self.stock = Goods()
end
function Building.methods:update()
  self.integrity = self.integrity - random(3) / 8
  if self.broken then self:emit("broken") end
end
function Building.methods:store(goods) self.stock = self.stock + goods end
function Building.methods:take(kind, amount)
  local taken = math.min(amount, self.stock(kind))
  if taken > 0 then self.stock = self.stock - Goods({ [kind] = taken }) end
  return taken
end

local Factory = class("Factory", Building)
function Factory.methods:initialize(world, position, recipe)
  Building.methods.initialize(self, world, position)
  self.recipe, self.made = recipe, 0
end
function Factory.methods:update()
  Building.methods.update(self)
  if self.broken then return end
  for kind, amount in pairs(self.recipe.from) do
    if self.stock(kind) < amount then return end
  end
  for kind, amount in pairs(self.recipe.from) do self:take(kind, amount) end
  self:store(Goods(self.recipe.to))
  self.made = self.made + 1
  self:emit("made", self.recipe.to)
end

local Living = class("Living", Entity)
Living:checked("energy", "number", 0, 200)
Living:checked("mood", "number", -50, 50)
Living:property("tired", function(self) return self.energy < 40 end)
Living:property("speed", function(self) return self.tired and 1 or 1 + self.energy / 100 end)
Living:property("status", function(self)
  return (self.tired and "tired" or "awake") .. (self.mood < 0 and " and sad" or "")
end)
function Living.methods:initialize(world, position)
  Entity.methods.initialize(self, world, position)
  self.energy, self.mood = 150, 0
end
function Living.methods:walk(target)
  local difference = target - self.position
  local distance = difference:length_squared() ^ 0.5
  if distance <= self.speed then
    self.position = Vector(target.x, target.y)
  else
    self.position = self.position + difference * (self.speed / distance)
  end
  self.energy = self.energy - 1
  self.world.grid:move(self)
  return self.position == target
end

------------------------------------------------------------------------------------------------
-- Behavior trees: nodes are objects that are called with an actor

local Node = class("Node", Object)
function Node.methods:initialize(...) self.children = { ... } end
Node:operator("__call", function(self, actor) return self:run(actor) end)

local Sequence = class("Sequence", Node)
function Sequence.methods:run(actor)
  for _, child in ipairs(self.children) do
    local result = child(actor)
    if result ~= "done" then return result end
  end
  return "done"
end
Sequence:operator("__call", Sequence.methods.run)

local Selector = class("Selector", Node)
function Selector.methods:run(actor)
  for _, child in ipairs(self.children) do
    local result = child(actor)
    if result ~= "failed" then return result end
  end
  return "failed"
end
Selector:operator("__call", Selector.methods.run)

local Condition = class("Condition", Node)
function Condition.methods:initialize(test) self.test = test end
function Condition.methods:run(actor) return self.test(actor) and "done" or "failed" end

local Action = class("Action", Node)
function Action.methods:initialize(act) self.act = act end
function Action.methods:run(actor) return self.act(actor) or "done" end

local Inverted = class("Inverted", Condition)
function Inverted.methods:run(actor)
  return Condition.methods.run(self, actor) == "done" and "failed" or "done"
end

for _, kind in ipairs({ Condition, Action, Inverted }) do
  kind:operator("__call", kind.methods.run)
end

local function nearest(actor, wanted, accept)
  local best, distance
  actor.world.grid:near(actor.position, function(other)
    if is_a(other, wanted) and not other.gone and (not accept or accept(other)) then
      local steps = actor.position:steps_to(other.position)
      if not best or steps < distance or steps == distance and other.label < best.label then
        best, distance = other, steps
      end
    end
  end)
  return best
end

local eat = Sequence(
  Condition(function(actor) return actor.tired end),
  Action(function(actor)
    local base = actor.world.base
    if not actor:walk(base.position) then return "running" end
    local eaten = base:take("food", 2)
    actor.energy = actor.energy + 60 * eaten + 30
    actor.mood = actor.mood + (eaten > 0 and 5 or -8)
    actor:emit("meal", eaten)
  end))

local deliver = Sequence(
  Condition(function(actor) return actor.load and actor.load:value() > 20 end),
  Action(function(actor)
    local target = actor.world:consumer_of(actor.load) or actor.world.base
    if not actor:walk(target.position) then return "running" end
    target:store(actor.load)
    actor:emit("delivery", actor.load:value())
    actor.load = nil
  end))

local dig = Sequence(
  Inverted(function(actor) return actor.tired end),
  Action(function(actor)
    if not actor.target or actor.target.gone then actor.target = nearest(actor, Deposit) end
    if not actor.target then return "failed" end
    if not actor:walk(actor.target.position) then return "running" end
    local goods = actor.target:mine(3)
    actor.load = actor.load and actor.load + goods or goods
  end))

local repair = Sequence(
  Condition(function(actor) return actor.skill == "repair" end),
  Action(function(actor)
    local broken = nearest(actor, Building, function(b) return b.integrity < 60 end)
    if not broken then return "failed" end
    if not actor:walk(broken.position) then return "running" end
    broken.integrity = broken.integrity + 45
    actor.mood = actor.mood + 1
  end))

local wander = Action(function(actor)
  local goal = actor.goal
  if not goal or actor:walk(goal) then
    actor.goal = Vector(random(200), random(200))
  end
end)

local Worker = class("Worker", Living)
Worker.statics.behavior = Selector(eat, deliver, repair, dig, wander)
function Worker.methods:initialize(world, position, skill)
  Living.methods.initialize(self, world, position)
  self.skill, self.earned = skill, 0
  self:on("delivery", function(worker, value) worker.earned = worker.earned + value end)
end
function Worker.methods:update()
  local result = self.class.statics.behavior(self)
  if result == "failed" then self.mood = self.mood - 1 end
end
function Worker.methods:to_string()
  return format("%s (%s, earned %d)", self.label, self.status, self.earned)
end

-- Works more slowly and tells everyone about it.
local Apprentice = class("Apprentice", Worker)
Apprentice:property("speed", function(self)
  return find_property(Worker, "speed").get(self) * 0.75
end)
Apprentice.statics.behavior = Selector(eat, deliver, dig, wander)
function Apprentice.methods:update()
  if self.world.time % 3 ~= 0 then Worker.methods.update(self) end
  if self.energy < 10 then self:emit("complaint", self.status) end
end

------------------------------------------------------------------------------------------------
-- The world

local World = class("World", Object, Observable)
World:property("population", function(self) return #self.workers end)
function World.methods:initialize()
  self.time, self.entities, self.workers, self.buildings = 0, {}, {}, {}
  self.grid = Grid(32)
  self.agenda = Heap(function(a, b)
    if a.time ~= b.time then return a.time < b.time end
    return a.number < b.number
  end)
  self.scheduled, self.log = 0, {}
end
function World.methods:enter(entity)
  insert(self.entities, entity)
  self.grid:add(entity)
  if is_a(entity, Worker) then insert(self.workers, entity) end
  if is_a(entity, Building) then insert(self.buildings, entity) end
end
function World.methods:exit(entity)
  self.grid:remove(entity)
  for i, other in ipairs(self.entities) do
    if rawequal(other, entity) then
      remove(self.entities, i)
      break
    end
  end
end
function World.methods:schedule(delay, action)
  self.scheduled = self.scheduled + 1
  self.agenda:push({ time = self.time + delay, number = self.scheduled, action = action })
end
function World.methods:consumer_of(goods)
  for _, building in ipairs(self.buildings) do
    if is_a(building, Factory) then
      for kind in pairs(building.recipe.from) do
        if goods(kind) > 0 and building.stock(kind) < 40 then return building end
      end
    end
  end
end
function World.methods:note(event, ...)
  self.log[event] = (self.log[event] or 0) + 1
  self:emit("note", event, ...)
end
function World.methods:tick()
  self.time = self.time + 1
  while self.agenda.size > 0 and self.agenda.items[1].time <= self.time do
    self.agenda:pop().action(self)
  end
  for _, entity in ipairs(self.entities) do
    if not entity.gone then entity:update() end
  end
end

local KINDS = { "ore", "ore", "ice", "food" }

local function build_world()
  local world = World()
  world.base = Building(world, Vector(100, 100))
  world.base:store(Goods({ food = 400 }))
  for i = 1, 6 do
    local recipe = i % 2 == 0 and { from = { ore = 4, ice = 1 }, to = { tool = 1 } }
      or { from = { ice = 3 }, to = { food = 2 } }
    local factory = Factory(world, Vector(60 + i * 12, 80 + i * 9), recipe)
    factory:on("made", function(self)
      self.world:note("made")
      if self.made % 10 == 0 then
        for kind in pairs(self.recipe.to) do
          local amount = self:take(kind, 50)
          self.world.base:store(Goods({ [kind] = amount }))
        end
      end
    end)
    factory:on("broken", function(self) self.world:note("broken") end)
  end
  local function new_deposit(target)
    local deposit = Deposit(target, Vector(random(200), random(200)), KINDS[random(#KINDS)],
      20 + random(60))
    deposit:on("empty", function(self)
      self.world:note("empty")
      self.world:schedule(random(20), new_deposit)
    end)
  end
  for _ = 1, 60 do new_deposit(world) end
  for i = 1, 40 do
    local kind = i % 4 == 0 and Apprentice or Worker
    local worker = kind(world, Vector(random(200), random(200)), i % 5 == 0 and "repair" or "dig")
    worker:on("meal", function(self, eaten) self.world:note(eaten > 0 and "meal" or "hunger") end)
    if kind == Apprentice then
      worker:on("complaint", function(self) self.world:note("complaint") end)
    end
  end
  local function festival(target)
    for _, worker in ipairs(target.workers) do worker.mood = worker.mood + 10 end
    target:note("festival")
    target:schedule(50, festival)
  end
  world:schedule(25, festival)
  return world
end

local world = build_world()
local notes = 0
world:on("note", function(_, event) notes = notes + #event end)
local checksum = 0
for tick = 1, TICKS do
  world:tick()
  if tick % 10 == 0 then
    sort(world.workers, function(a, b)
      if a.earned ~= b.earned then return a.earned > b.earned end
      return a.label < b.label
    end)
    local text = tostring(world.workers[1]) .. tostring(world.workers[world.population])
    for i = 1, #text do checksum = (checksum * 31 + text:byte(i)) % 1000000007 end
  end
end

print(format("classes ticks %d entities %d notes %d checksum %d", TICKS, #world.entities, notes,
  checksum))
local events = {}
for event in pairs(world.log) do events[#events + 1] = event end
sort(events)
for i, event in ipairs(events) do events[i] = event .. " " .. world.log[event] end
print(concat(events, ", "))
print(tostring(world.base) .. " has " .. world.base.stock .. Goods({ tool = 1 }))
print(tostring(world.workers[1]))
print(Goods({ ore = 2 }) < Goods({ tool = 1 }), Goods({ ice = 3 }) == Goods({ ore = 2 }),
  Goods({ ore = 5 }):between(Goods(), Goods({ food = 9 })), Vector(1, 2) * Vector(3, 4))
local failures = {
  function() world.workers[1].energy = "much" end,
  function() world.workers[1].tired = true end,
  function() return Vector(1, 2) < Vector(3, 4) end,
}
for _, failure in ipairs(failures) do
  print((select(2, pcall(failure)):gsub("^.-:%d+: ", "")))
end
