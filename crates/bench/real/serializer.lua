-- covers: serializers of tables with cycles: %q and load, string.pack and unpack, differences
-- memory: yes
-- needs: 5.4
-- Writes worlds of tables that refer to each other as Lua source and in a binary format like
-- MessagePack with references and a table of strings; reads them back, compares the graphs, and
-- sends only the differences between two versions.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, 11 * scale // 1)
local ACTORS = math.max(5, 330 * math.min(1, scale * 8) // 1)

local format, concat, sort = string.format, table.concat, table.sort
local pack, unpack = string.pack, string.unpack
local mtype = math.type

------------------------------------------------------------------------------------------------
-- Classes: tables with a registered metatable keep it

local classes, class_names = {}, {}

local function class(name, methods)
  methods.__index = methods
  methods.__name = name
  classes[name] = methods
  class_names[methods] = name
  return methods
end

local Vector = class("Vector", {})
function Vector.new(x, y) return setmetatable({ x = x, y = y }, Vector) end
function Vector:length() return (self.x * self.x + self.y * self.y) ^ 0.5 end
function Vector.__eq(a, b) return a.x == b.x and a.y == b.y end

local Actor = class("Actor", {})
function Actor.new(id, name) return setmetatable({ id = id, name = name, items = {} }, Actor) end
function Actor:describe() return format("%s #%d", self.name, self.id) end

------------------------------------------------------------------------------------------------
-- Lua source

local RESERVED = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat "
  .. "return then true until while"):gmatch("%a+") do
  RESERVED[word] = true
end

local TYPE_ORDER = { boolean = 1, number = 2, string = 3, table = 4 }

local function key_less(a, b)
  local x, y = TYPE_ORDER[type(a)], TYPE_ORDER[type(b)]
  if x ~= y then return x < y end
  if x == 1 then return a and not b end
  return a < b
end

-- Returns the keys of a table beyond its array part, in order. Keys that are tables come last, in
-- the order of the numbers that the caller has given them.
local function ordered_keys(value, border)
  local keys, tables = {}, {}
  for key in next, value do
    if type(key) == "table" then
      tables[#tables + 1] = key
    elseif not (mtype(key) == "integer" and key >= 1 and key <= border) then
      keys[#keys + 1] = key
    end
  end
  sort(keys, key_less)
  sort(tables, function(a, b) return a.id < b.id end)
  table.move(tables, 1, #tables, #keys + 1, keys)
  return keys
end

-- Counts how often each table is referred to; those with one reference are written in place.
local function count_references(root)
  local counts, stack = { [root] = 2 }, { root }
  while #stack > 0 do
    local value = table.remove(stack)
    for key, item in next, value do
      for i = 1, 2 do
        local child = item
        if i == 1 then child = key end
        if type(child) == "table" then
          if counts[child] then
            counts[child] = counts[child] + 1
          else
            counts[child] = 1
            stack[#stack + 1] = child
          end
        end
      end
    end
  end
  return counts
end

local SourceWriter = {}
SourceWriter.__index = SourceWriter

local function scalar(value)
  if type(value) == "string" then return (format("%q", value):gsub("\\\n", "\\n")) end
  if mtype(value) == "float" then
    if value ~= value then return "(0/0)" end
    if value == math.huge then return "math.huge" end
    if value == -math.huge then return "-math.huge" end
  end
  if type(value) == "number" then return format("%q", value) end
  return tostring(value)
end

function SourceWriter:put(text)
  self.size = self.size + 1
  self.out[self.size] = text
end

function SourceWriter:index(key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") and not RESERVED[key] then
    return "." .. key
  end
  if type(key) == "table" then return "[" .. self.names[key] .. "]" end
  return "[" .. scalar(key) .. "]"
end

-- Whether a value can be written inside a constructor.
function SourceWriter:is_simple(value)
  return type(value) ~= "table" or not self.names[value]
end

function SourceWriter:constructor(value, indent)
  local meta = getmetatable(value)
  local name = class_names[meta]
  if name then self:put("C." .. name .. "(") end
  self:put("{")
  local inner = indent .. "  "
  for i = 1, #value do
    self:put(i == 1 and "\n" .. inner or ", ")
    self:value(value[i], value, i, inner)
  end
  for _, key in ipairs(ordered_keys(value, #value)) do
    local item = value[key]
    if type(key) == "table" or not self:is_simple(item) then
      self.patches[#self.patches + 1] = { value, key, item }
    else
      self:put(#value == 0 and "" or ",")
      self:put("\n" .. inner)
      local index = self:index(key)
      self:put((index:sub(1, 1) == "." and index:sub(2) or index) .. " = ")
      self:value(item, value, key, inner)
      self:put(#value == 0 and "," or "")
    end
  end
  self:put("}")
  if name then self:put(")") end
end

function SourceWriter:value(value, owner, key, indent)
  if type(value) ~= "table" then
    self:put(scalar(value))
  elseif self:is_simple(value) then
    self:constructor(value, indent)
  else
    -- A shared table: it is set after all tables exist.
    self:put("false")
    self.patches[#self.patches + 1] = { owner, key, value }
  end
end

local function to_source(root)
  local counts, named, names = count_references(root), {}, {}
  local writer = setmetatable({ out = {}, size = 0, names = names, patches = {} }, SourceWriter)
  -- Tables that need a name: shared ones, keys, and all that refer to tables with names. The walk
  -- does not depend on addresses.
  local visited = {}
  local function visit(value)
    visited[value] = true
    local needs_name = counts[value] > 1
    local function child(item, is_key)
      if type(item) ~= "table" then return end
      if not visited[item] then visit(item) end
      if is_key or counts[item] > 1 or names[item] then needs_name = true end
    end
    for i = 1, #value do child(value[i], false) end
    for _, key in ipairs(ordered_keys(value, #value)) do
      -- A field with a table as its key is set after all tables exist, so both have names.
      if type(key) == "table" and counts[value[key]] then counts[value[key]] = 2 end
      child(key, true)
      child(value[key], false)
    end
    if needs_name then
      named[#named + 1] = value
      names[value] = "T[" .. #named .. "]"
    end
  end
  visit(root)
  writer:put("local C = ...\nlocal T = {}\n")
  for _, value in ipairs(named) do
    writer:put(writer.names[value] .. " = ")
    writer:constructor(value, "")
    writer:put("\n")
  end
  for _, patch in ipairs(writer.patches) do
    writer:put(writer.names[patch[1]] .. writer:index(patch[2]) .. " = "
      .. (writer.names[patch[3]] or scalar(patch[3])) .. "\n")
  end
  writer:put("return " .. writer.names[root] .. "\n")
  return concat(writer.out)
end

local constructors = {}
for name, methods in pairs(classes) do
  constructors[name] = function(fields) return setmetatable(fields, methods) end
end

local function from_source(source)
  local chunk = assert(load(source, "=data", "t", { math = math }))
  return chunk(constructors)
end

------------------------------------------------------------------------------------------------
-- Binary, in the manner of MessagePack

local NIL, FALSE, TRUE, FLOAT32, FLOAT64 = 0xc0, 0xc2, 0xc3, 0xca, 0xcb
local REFERENCE, OBJECT, STRING_REFERENCE = 0xd4, 0xd5, 0xd6

local BinaryWriter = {}
BinaryWriter.__index = BinaryWriter

function BinaryWriter:put(text)
  self.size = self.size + 1
  self.out[self.size] = text
end

function BinaryWriter:integer(value)
  if value >= 0 then
    if value < 128 then return self:put(pack("B", value)) end
    if value < 0x100 then return self:put(pack("BB", 0xcc, value)) end
    if value < 0x10000 then return self:put(pack(">BI2", 0xcd, value)) end
    if value < 0x100000000 then return self:put(pack(">BI4", 0xce, value)) end
  else
    if value >= -32 then return self:put(pack("b", value)) end
    if value >= -0x80 then return self:put(pack("Bb", 0xd0, value)) end
    if value >= -0x8000 then return self:put(pack(">Bi2", 0xd1, value)) end
    if value >= -0x80000000 then return self:put(pack(">Bi4", 0xd2, value)) end
  end
  return self:put(pack(">Bi8", 0xd3, value))
end

function BinaryWriter:float(value)
  if unpack(">f", pack(">f", value)) == value then
    self:put(pack(">Bf", FLOAT32, value))
  else
    self:put(pack(">Bd", FLOAT64, value))
  end
end

function BinaryWriter:string(value)
  local known = self.strings[value]
  if known then
    return self:put(pack(">BI2", STRING_REFERENCE, known))
  end
  local size = #value
  if size > 3 and self.string_count < 0xffff then
    self.string_count = self.string_count + 1
    self.strings[value] = self.string_count
  end
  if size < 32 then
    self:put(pack("B", 0xa0 | size) .. value)
  elseif size < 0x100 then
    self:put(pack("Bs1", 0xd9, value))
  elseif size < 0x10000 then
    self:put(pack(">Bs2", 0xda, value))
  else
    self:put(pack(">Bs4", 0xdb, value))
  end
end

function BinaryWriter:header(small, medium, large, limit, count)
  if count < limit then
    self:put(pack("B", small | count))
  elseif count < 0x10000 then
    self:put(pack(">BI2", medium, count))
  else
    self:put(pack(">BI4", large, count))
  end
end

function BinaryWriter:table(value)
  local reference = self.references[value]
  if reference then return self:put(pack(">BI4", REFERENCE, reference)) end
  self.reference_count = self.reference_count + 1
  self.references[value] = self.reference_count
  local name = class_names[getmetatable(value)]
  if name then
    self:put(pack("B", OBJECT))
    self:string(name)
  end
  local border = #value
  local keys = ordered_keys(value, border)
  if #keys == 0 and border > 0 then
    self:header(0x90, 0xdc, 0xdd, 16, border)
    for i = 1, border do self:value(value[i]) end
    return
  end
  self:header(0x80, 0xde, 0xdf, 16, #keys + border)
  for i = 1, border do
    self:integer(i)
    self:value(value[i])
  end
  for i = 1, #keys do
    self:value(keys[i])
    self:value(value[keys[i]])
  end
end

function BinaryWriter:value(value)
  local kind = type(value)
  if kind == "table" then return self:table(value) end
  if kind == "string" then return self:string(value) end
  if kind == "number" then
    if mtype(value) == "integer" then return self:integer(value) end
    return self:float(value)
  end
  if kind == "boolean" then return self:put(pack("B", value and TRUE or FALSE)) end
  if kind == "nil" then return self:put(pack("B", NIL)) end
  error("cannot pack a " .. kind)
end

local function to_binary(root)
  local writer = setmetatable({ out = {}, size = 0, strings = {}, string_count = 0,
    references = {}, reference_count = 0 }, BinaryWriter)
  writer:value(root)
  return concat(writer.out, "", 1, writer.size)
end

local BinaryReader = {}
BinaryReader.__index = BinaryReader

function BinaryReader:read(layout)
  local value
  value, self.at = unpack(layout, self.data, self.at)
  return value
end

local readers = {}

for tag = 0, 0x7f do readers[tag] = function() return tag end end
for tag = 0xe0, 0xff do readers[tag] = function() return tag - 0x100 end end
for tag, layout in pairs({ [0xcc] = "B", [0xcd] = ">I2", [0xce] = ">I4", [0xd0] = "b",
  [0xd1] = ">i2", [0xd2] = ">i4", [0xd3] = ">i8", [FLOAT32] = ">f", [FLOAT64] = ">d" }) do
  readers[tag] = function(self) return self:read(layout) end
end
readers[NIL] = function() return nil end
readers[TRUE] = function() return true end
readers[FALSE] = function() return false end

function BinaryReader:remember(text)
  if #text > 3 then self.strings[#self.strings + 1] = text end
  return text
end

for tag = 0xa0, 0xbf do
  local size = tag - 0xa0
  readers[tag] = function(self)
    local at = self.at
    self.at = at + size
    return self:remember(self.data:sub(at, at + size - 1))
  end
end
for tag, layout in pairs({ [0xd9] = "s1", [0xda] = ">s2", [0xdb] = ">s4" }) do
  readers[tag] = function(self) return self:remember(self:read(layout)) end
end

function BinaryReader:array(count)
  local list = self:fresh()
  for i = 1, count do list[i] = self:value() end
  return list
end

function BinaryReader:map(count)
  local map = self:fresh()
  for _ = 1, count do
    local key = self:value()
    map[key] = self:value()
  end
  return map
end

function BinaryReader:fresh()
  local value = {}
  self.tables[#self.tables + 1] = value
  return value
end

for count = 0, 15 do
  readers[0x90 + count] = function(self) return self:array(count) end
  readers[0x80 + count] = function(self) return self:map(count) end
end
for tag, layout in pairs({ [0xdc] = ">I2", [0xdd] = ">I4" }) do
  readers[tag] = function(self) return self:array(self:read(layout)) end
end
for tag, layout in pairs({ [0xde] = ">I2", [0xdf] = ">I4" }) do
  readers[tag] = function(self) return self:map(self:read(layout)) end
end
readers[REFERENCE] = function(self) return self.tables[self:read(">I4")] end
readers[STRING_REFERENCE] = function(self) return self.strings[self:read(">I2")] end
readers[OBJECT] = function(self)
  local methods = classes[self:value()]
  return setmetatable(self:value(), methods)
end

function BinaryReader:value()
  local reader = readers[self:read("B")]
  if not reader then error("an unknown tag at " .. self.at - 1) end
  return reader(self)
end

local function from_binary(data)
  local reader = setmetatable({ data = data, at = 1, tables = {}, strings = {} }, BinaryReader)
  local value = reader:value()
  if reader.at ~= #data + 1 then error("bytes after the end") end
  return value
end

------------------------------------------------------------------------------------------------
-- Comparing graphs: equal when a walk finds the same values and the same sharing

local function same_graph(a, b, forward, backward)
  if type(a) ~= "table" then return a == b and mtype(a) == mtype(b) or a ~= a and b ~= b end
  if type(b) ~= "table" or getmetatable(a) ~= getmetatable(b) then return false end
  if forward[a] or backward[b] then return forward[a] == b and backward[b] == a end
  forward[a], backward[b] = b, a
  local x, y = ordered_keys(a, 0), ordered_keys(b, 0)
  if #x ~= #y then return false end
  for i = 1, #x do
    if not same_graph(x[i], y[i], forward, backward) then return false end
    if not same_graph(rawget(a, x[i]), rawget(b, y[i]), forward, backward) then return false end
  end
  return true
end

-- Differences of two trees of actors, by path.
local function differences(old, new)
  local list = {}
  for id, actor in ipairs(new.actors) do
    local before = old.actors[id]
    for _, key in ipairs(ordered_keys(actor, 0)) do
      local value = actor[key]
      if type(value) ~= "table" and before[key] ~= value then
        list[#list + 1] = { id, key, value }
      elseif getmetatable(value) == Vector and value ~= before[key] then
        list[#list + 1] = { id, key .. ".x", value.x }
        list[#list + 1] = { id, key .. ".y", value.y }
      end
    end
  end
  return list
end

local function apply(world, list)
  for _, change in ipairs(list) do
    local target, path = world.actors[change[1]], change[2]
    local field, part = path:match("^(%w+)%.(%w+)$")
    if field then target[field][part] = change[3] else target[path] = change[3] end
  end
end

------------------------------------------------------------------------------------------------
-- Worlds

local seed = 321
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n + 1
end

local NAMES = { "smith", "ranger", "golem", "merchant \"of\" Lund", "na\u{ef}ve\nelf", "bat\0cat" }
local ITEMS = { "lamp", "rope", "a very long description of an amulet from the moon", "key" }

local function make_world(count)
  local world = { name = "perilune", version = 1, actors = {}, owners = {}, limits = {
    1.5, -0.25, math.huge, -math.huge, math.mininteger, math.maxinteger, 2^53, 1e-300 } }
  local shared = { kind = "shared", prices = {} }
  for i = 1, 40 do shared.prices[i] = random(100000) - 50000 end
  for i = 1, count do
    local actor = Actor.new(i, NAMES[random(#NAMES)])
    actor.position = Vector.new(random(1000) / 8, random(1000) * 0.1)
    actor.health = random(3000) - 1500
    actor["is alive"] = actor.health > 0
    actor[true], actor[-i], actor[i * 0.5 + 0.25] = "yes", "negative", "float"
    for j = 1, random(5) do
      actor.items[j] = { what = ITEMS[random(#ITEMS)], count = random(9), of = actor }
    end
    actor.shop = random(4) == 1 and shared or nil
    actor.friend = world.actors[random(i)]
    actor.tags = { "a", "b", [-10] = "j", n = random(300) }
    world.actors[i] = actor
    if i % 10 == 0 then world.owners[actor] = Vector.new(i, -i) end
  end
  world.shared, world.self = shared, world
  return world
end

local world = make_world(ACTORS)
local source_bytes, binary_bytes, checksum, changes = 0, 0, 0, 0
for round = 1, ROUNDS do
  local source = to_source(world)
  local copy = from_source(source)
  assert(same_graph(world, copy, {}, {}), "the source has lost something")
  local data = to_binary(copy)
  local again = from_binary(data)
  assert(same_graph(world, again, {}, {}), "the binary data has lost something")
  assert(again.actors[1]:describe() == world.actors[1]:describe() and again.self == again)
  source_bytes, binary_bytes = source_bytes + #source, binary_bytes + #data
  for i = 1, #source, 41 do checksum = (checksum * 31 + source:byte(i)) % 1000000007 end
  for i = 1, #data, 17 do checksum = (checksum * 31 + data:byte(i)) % 1000000007 end

  for _ = 1, ACTORS // 4 + 1 do
    local actor = again.actors[random(ACTORS)]
    actor.health = actor.health - random(50)
    actor["is alive"] = actor.health > 0
    actor.position.x = actor.position.x + random(9)
    actor.name = actor.name .. round
  end
  local delta = from_binary(to_binary(differences(copy, again)))
  changes = changes + #delta
  apply(world, delta)
  assert(#differences(world, again) == 0, "the differences are not all")
end

print(format("serializer source %d binary %d checksum %d", source_bytes, binary_bytes, checksum))
print(format("changes %d last %q %.3f", changes, world.actors[ACTORS].name,
  world.actors[1].position:length()))
print(to_source({ 1, "two\n", { x = 0.5, ["y z"] = false }, [-1] = math.mininteger }))
print(select(2, pcall(from_binary, "\xc1")), pcall(from_binary, "\x93\1") == false)
local sizes = {}
for _, value in ipairs({ 127, 128, -32, -33, 70000, -70000, 1 << 40, 0.1, 0.5 }) do
  local data = to_binary(value)
  assert(from_binary(data) == value)
  sizes[#sizes + 1] = #data
end
print(concat(sizes, " "))
