-- Stores of fields and elements that tables do not have, where `__newindex` is a function that may
-- be inlined: what it is called with, and what changes while loops run.
-- expect: ok
--| proxy	4803	50	5.0	600	600	599	-600	0	nil
--| kinds	nil	text	false	1.5	2
--| mixed	number number new number number new number
--| readonly	false	field 'y' is read-only	nil
--| properties	736750
--| later	a:nil b:nil b:550 nil:610 b:nil nil:750
--| chains	500	499	500	499	nil	nil
--| error	false	stopped at 77
--| yields	601	name	300	45150
--| arguments	1500	attempt to index a number value (local 't')
--| nan	2100	0
--| kept	3263.0
--| classes	602800 603400 602802 626200

-- a proxy that counts its stores, by fields, integers, floats and strings
local data, stores = {}, 0
local proxy = setmetatable({}, {
  __index = function(_, k) return data[k] end,
  __newindex = function(_, k, v) stores = stores + 1 data[k] = v end,
})
local function fill(t, n, by)
  for i = 1, n, by do t[i] = i * 2 end
end
for _ = 1, 60 do fill(proxy, 50, 1) end
fill(proxy, 4, 1.5)
for i = 1, 600 do proxy.last = i end
local names = { "a", "b" }
for i = 1, 600 do proxy[names[i % 2 + 1]] = i end
for i = 1, 600 do proxy[1] = -i end
print("proxy", stores, #data, data[2.5], data.last, data.a, data.b, data[1], rawlen(proxy),
  next(proxy))

-- stores of constants, of nil and of values of all types
local log = {}
local all = setmetatable({}, { __newindex = function(_, k, v) log[tostring(k)] = tostring(v) end })
for _ = 1, 500 do
  all.nothing = nil
  all.text = "text"
  all[3] = false
  all[true] = 1.5
  all[1 / 0] = 2
end
print("kinds", log.nothing, log.text, log["3"], log["true"], log.inf)

-- a table that keeps what is stored first, and then stores to it directly
local first = setmetatable({}, { __newindex = function(t, k, v) rawset(t, k, { v }) end })
local function put(t, k, v) t[k] = v end
for i = 1, 800 do
  if i % 4 == 0 then first[i % 7] = nil end
  put(first, i % 7, i)
end
local kinds = {}
for k = 0, 6 do kinds[#kinds + 1] = type(first[k]) == "table" and "new" or type(first[k]) end
print("mixed", table.concat(kinds, " "))

-- a readonly table
local readonly = setmetatable({ x = 1 }, {
  __newindex = function(_, k) error("field '" .. tostring(k) .. "' is read-only", 2) end,
})
local function write(t, v) t.y = v end
local ok, message
for i = 1, 400 do ok, message = pcall(write, readonly, i) end
print("readonly", ok, (message:gsub("^.-:%d+: ", "")), rawget(readonly, "y"))

-- properties with setters, in a class
local Class = { setters = {} }
Class.setters.width = function(self, v) self.w = v * 2 end
Class.__newindex = function(t, k, v)
  local setter = Class.setters[k]
  if setter then setter(t, v) else rawset(t, k, v) end
end
local sum = 0
for i = 1, 700 do
  local o = setmetatable({}, Class)
  o.width = i
  o.height = i
  o.height = o.height + 1
  sum = sum + o.w + o.height
end
print("properties", sum)

-- the function, the field, the element and the metatable change
local meta = { __newindex = function(t, k, v) rawset(t, "by", "a") end }
local object = setmetatable({}, meta)
local function set(t, v) t.field = v t[2] = v end
local later = {}
for i = 1, 900 do
  rawset(object, "by", nil)
  set(object, i)
  if i == 400 then meta.__newindex = function(t, k, v) rawset(t, "by", "b") end end
  if i == 500 then rawset(object, 2, "own") end
  if i == 600 then rawset(object, "field", "own") end
  if i == 650 then rawset(object, 2, nil) end
  if i == 700 then setmetatable(object, nil) end
  if i == 300 or i == 450 or i == 550 or i == 610 or i == 660 or i == 750 then
    later[#later + 1] = tostring(object.by) .. ":" .. tostring(object[2])
  end
end
print("later", table.concat(later, " "))

-- `__newindex` of another table, and a chain to a table without one
local target = {}
local chained = setmetatable({}, {
  __newindex = setmetatable({}, { __newindex = function(t, k, v) target[k] = v end }),
})
local plain = setmetatable({}, { __newindex = target })
for i = 1, 500 do
  chained.x, chained[i % 9] = i, i
  plain.y, plain[-(i % 9)] = i, i
end
print("chains", target.x, target[4], target.y, target[-4], next(chained), next(plain))

-- errors and tracebacks from inside, and yields
local function inner(k) if k == 77 then error("stopped at " .. k, 0) end end
local strict = setmetatable({}, { __newindex = function(_, k) inner(k) end })
local function each(n) for i = 1, n do strict[i] = true end return "done" end
for _ = 1, 30 do each(76) end
print("error", pcall(each, 100))
local waits = setmetatable({}, { __newindex = function(_, k, v) coroutine.yield(k, v) end })
local function yielding(n)
  local total = 0
  for i = 1, n do
    waits[i] = total
    waits.name = i
    total = total + i
  end
  return total
end
local co, resumed, a, b = coroutine.create(yielding), 0
repeat
  local alive, x, y = coroutine.resume(co, 300)
  resumed = resumed + 1
  if coroutine.status(co) ~= "dead" then a, b = x, y else sum = x end
until coroutine.status(co) == "dead"
print("yields", resumed, a, b, sum)

-- not a table, a nil key, and a function with variable arguments
local function store(t, k, v) t[k] = v end
local counted = 0
local count = function(...) counted = counted + select("#", ...) end
local any = setmetatable({}, { __newindex = count })
for i = 1, 500 do store(any, i % 2 == 0 and i or nil, i) end
local _, refusal = pcall(store, 5, 1, 2)
print("arguments", counted, (refusal:gsub("^.-:%d+: ", "")))
local floats = setmetatable({}, { __newindex = function(_, k, v) counted = counted + v end })
for i = 1, 300 do floats[0 / 0] = 1 floats[i + 0.0] = 1 end
print("nan", counted, rawlen(floats))

-- the stored value and the key are used afterwards, and kept across the call
local function keep(t, n)
  local k, v, s = 0, 1.5, 0
  for i = 1, n do
    t[k] = v
    s = s + k + v
    k, v = k + 1, v + 0.5
  end
  return s, k, v
end
local last
local keeps = setmetatable({}, { __newindex = function(_, k, v) last = k * v end })
for _ = 1, 40 do print = print local s, k, v = keep(keeps, 50) last = last + s + k + v end
print("kept", last)

-- classes whose metamethods are closures of one function, and objects of different shapes
local function new_class(factor)
  local class = {}
  class.__index = function(t, k) return k == "scale" and factor or rawget(t, "kept") end
  class.__newindex = function(t, k, v) rawset(t, "kept", v * factor) end
  return class
end
local classes = { new_class(2), new_class(3), new_class(5) }
local function use(o, v)
  o.value = v
  return o.value + o.scale
end
local checks = {}
for _, period in ipairs({ 1, 2, 3, 40 }) do
  local mixed = 0
  for i = 1, 600 do
    local o = i % 3 == 0 and { kept = 0, extra = i } or { kept = 0 }
    mixed = mixed + use(setmetatable(o, classes[i // period % #classes + 1]), i)
  end
  checks[#checks + 1] = mixed
end
print("classes", table.concat(checks, " "))
