-- An instruction that has called an __index function calls it again without looking it up, unless
-- the table has the field by now, or its metatable or the __index have changed.
-- expect: ok
--| 40	first name
--| 0	own
--| 0	false
--| 40	first name
--| 40	first name
--| 0	own
--| 0	false
--| 40	first name
--| 40	first name
--| 4000	second name
--| 0	inherited
--| 0	nil
--| 40	first name
--| 0	nil
--| 40	first name
--| 4000	second name
--| 0	inherited
--| 0	nil
--| 40	first name
--| 0	nil
--| 40	first name
--| 4000	second name
--| 0	nil
--| 0	nil
--| 40	first name
--| 40	first name
--| 4000	second name
--| 0	nil
--| 0	nil
--| 40	first name
--| 40	first name
--| 4	first name	first name	first name	first name
--| 101	of another	second name	first name	nil
--| 1	field	first name
--| 0	nil	false	[string "local o = ... return o.name"]:1: attempt to index a nil value (local 'o')
--| 40	first name
--| 4	first name	first name	first name	first name
--| 101	of another	second name	first name	nil
--| 1	field	first name
--| 0	nil	false	[string "local o = ... return o.name"]:1: attempt to index a nil value (local 'o')
--| 40	first name
--| 40	first name
--| 40	of the class	first name	of the class
--| 0	of the class
--| 40	first name
--| 40	first name
--| 40	of the class	first name	of the class
--| 0	of the class
--| 40	first name
--| 1	computed	stored	stored
--| 2	computed	computed
--| 40	first name
--| 1	computed	stored	stored
--| 2	computed	computed
--| 40	first name
--| 30	false	failed
--| 0	end	name10
--| 40	first name
--| 30	false	failed
--| 0	end	name10
--| 40	first name
--| 300	second name
--| 3	first name
--| 300	second name
--| 40	first name
--| 300	second name
--| 3	first name
--| 300	second name
--| 40	name
--| 1	own method	name
--| 0	own method	another
--| 40	86	1
--| 1	own	86
--| 40	name
--| 1	own method	name
--| 0	own method	another
--| 41	86	first x
--| 1	own	86

local calls = 0
local function first(o, k)
  calls = calls + 1
  return "first " .. k
end
local function second(o, k)
  calls = calls + 100
  return "second " .. k
end

-- New functions, whose instructions have called nothing.
local function reader() return load("local o = ... return o.name") end
local function caller() return load("local o = ... return o:name()") end

local function again(f, o, times)
  local r
  for _ = 1, times or 40 do r = f(o) end
  return r
end

local function show(...)
  print(calls, ...)
  calls = 0
end

-- Tables with a shape, and tables in dictionary mode.
local function with_shape(meta) return setmetatable({ x = 1, y = 2 }, meta) end
local function dictionary(meta)
  local t = {}
  for i = 1, 40 do t["key " .. i] = i end
  return setmetatable(t, meta)
end

-- What happens after the function was called: each gets the object, its metatable, and what reads.
local changes = {
  function(o, meta, name)
    rawset(o, "name", "own")
    show(again(name, o))
    o.name = false
    show(again(name, o))
    o.name = nil
    show(again(name, o))
  end,
  function(o, meta, name)
    meta.__index = second
    show(again(name, o))
    meta.__index = { name = "inherited" }
    show(again(name, o))
    meta.__index = nil
    show(again(name, o))
    meta.__index = first
    show(again(name, o))
    rawset(meta, "__index", nil)
    show(again(name, o))
  end,
  function(o, meta, name)
    setmetatable(o, { __index = second })
    show(again(name, o))
    setmetatable(o, nil)
    show(again(name, o))
    setmetatable(o, setmetatable({}, { __index = function() return first end }))
    show(again(name, o))
    setmetatable(o, meta)
    show(again(name, o))
  end,
  -- other objects, some of which have the field
  function(o, meta, name, make)
    show(name(make(meta)), name(with_shape(meta)), name(dictionary(meta)), name(o))
    local named, other = make(meta), make({ __index = second })
    rawset(named, "name", "of another")
    show(name(named), name(other), name(o), name(make(nil)))
    show(name(setmetatable({ name = "field" }, meta)), name(setmetatable({ z = 1 }, meta)))
    show(name("a string"), pcall(name, nil))
  end,
  -- what is between the object and the function, or was
  function(o, meta, name, make)
    local class = make(meta)
    local object = make({ __index = class })
    show(again(name, object))
    rawset(class, "name", "of the class")
    show(again(name, object), again(name, o), name(class))
    meta.__index = class
    show(again(name, o))
  end,
  -- the function stores the field
  function(o, meta, name, make)
    meta.__index = function(self, key)
      calls = calls + 1
      self[key] = "stored"
      return "computed"
    end
    show(name(o), name(o), again(name, o))
    show(name(make(meta)), name(make(meta)))
  end,
  -- errors, and coroutines that yield in the function
  function(o, meta, name)
    meta.__index = function(self, key)
      calls = calls + 1
      if calls == 30 then error("failed", 0) end
      return key
    end
    show(pcall(again, name, o))
    meta.__index = function(self, key) return coroutine.yield(key) end
    local co = coroutine.wrap(function() return "end", again(name, o, 10) end)
    local value, last = co()
    for i = 1, 10 do value, last = co(value .. i) end
    show(value, last)
  end,
  -- the metatable dies, and another takes its place
  function(o, meta, name, make)
    o, meta = nil, nil
    for i = 1, 3 do
      collectgarbage()
      show(again(name, make({ __index = i % 2 == 0 and first or second }), 3))
    end
  end,
}

for _, change in ipairs(changes) do
  for _, make in ipairs({ with_shape, dictionary }) do
    local meta = { __index = first }
    local o, name = make(meta), reader()
    show(again(name, o))
    change(o, meta, name, make)
  end
end

-- Methods, and long names.
for _, make in ipairs({ with_shape, dictionary }) do
  local meta = { __index = function(_, key)
    calls = calls + 1
    return function() return key end
  end }
  local o, name = make(meta), caller()
  show(again(name, o))
  rawset(o, "name", function() return "own method" end)
  show(again(name, o), name(make(meta)))
  meta.__index = function() return function() return "another" end end
  show(again(name, o), name(make(meta)))
  local long = load("local o = ... return o." .. ("long"):rep(20))
  meta.__index = first
  show(#again(long, o), o.x)
  rawset(o, ("long"):rep(20), "own")
  show(again(long, o), #long(make(meta)))
end
