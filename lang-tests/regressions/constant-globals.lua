-- expect: ok
--| assignment	23969	nil
--| field	23969	nil
--| key	23969	nil
--| rawset	23969	nil
--| nil	8948	source:11: attempt to call a nil value (global 'NAME')
--| number	8948	source:11: attempt to call a number value (global 'NAME')
--| table	90119	nil
--| chunk	23969	nil
--| coroutine	23969	nil
--| pcall	23969	nil
--| error	23969	nil
--| metamethod	23969	nil
--| operator	23969	nil
--| closing	23969	nil
--| finalizer	23969	nil
--| sort	23969	nil
--| gsub	23969	nil
--| iterator	23969	nil
--| traversal	23969	nil
--| environment	23969	nil
--| joined environment	23969	nil
--| shared environment	23969	nil
--| metamethod in the function	23976	nil
--| assignment in the function	23969	nil
--| field in the function	23969	nil
--| key in the function	23969	nil
--| assignment to nil in the function	8948	source:11: attempt to call a nil value (global 'NAME')
--| rawset in the function	23969	nil
--| hot key in the function	23969	nil
--| hot assignment in the function	10578	nil
--| hot field in the function	10578	nil
--| hot rawset in the function	23969	nil
--| same value	9200	nil
--| 10	10
--| 252500
--| true
--| 258945	300903
--| 516885	601800
--| 8
--| 119199	119697
-- A global that never changed is a constant to machine code; here it changes for the first time,
-- in every way in which it can, while a function that has called it waits for its return.
local ROUNDS, AT = 400, 390

-- Each test has a global, a function and code of its own.
local count = 0
local function test(what, change, use)
  count = count + 1
  local name = "global" .. count
  local source = [[
    function NAME(n) if n <= 0 then return 1 end return NAME(n - 1) + 1 end
    local function other(n) return n * 100 end
    local change, at, rounds = ...
    local original, keys, values = NAME, {}, {}
    for i = 1, rounds do keys[i], values[i] = "dummy", original end
    keys[at], values[at] = "NAME", other
    dummy = original
    local function use(i)
      local before = NAME(2)
      USE
      return before, NAME(i % 3)
    end
    return use, other, function(v) NAME = v end
  ]]
  source = source:gsub("USE", use or "change(i)")
  source = source:gsub("NAME", name)
  local set, other, run
  run, other, set = load(source, "=source")(function(i)
    if i == AT then return change(name, other, set, run) end
  end, AT, ROUNDS)
  local sum, last = 0, nil
  for i = 1, ROUNDS do
    local ok, before, after = pcall(run, i)
    if not ok then
      last = last or before:gsub("global%d+", "NAME")
    else
      sum = sum + before * 7 + after
    end
  end
  _G[name] = nil
  print(what, sum, last)
end

test("assignment", function(_, other, set) set(other) end)
test("field", function(name, other)
  local change = load("local v = ... _G." .. name .. " = v")
  change(other)
end)
test("key", function(name, other) _G[name] = other end)
test("rawset", function(name, other) rawset(_G, name, other) end)
test("nil", function(name) _G[name] = nil end)
test("number", function(_, _, set) set(12) end)
test("table", function(_, other, set)
  set(setmetatable({}, { __call = function(_, n) return n + 1000 end }))
end)
test("chunk", function(name, other)
  local chunk = load(name .. " = ...")
  chunk(other)
end)
test("coroutine", function(name, other)
  local co = coroutine.wrap(function() _G[name] = other coroutine.yield() end)
  co()
end)
test("pcall", function(name, other) pcall(rawset, _G, name, other) end)
test("error", function(name, other)
  pcall(function() _G[name] = other error("x") end)
end)
test("metamethod", function(name, other)
  local t = setmetatable({}, { __index = function(_, k) _G[k] = other return 1 end })
  return t[name]
end)
test("operator", function(name, other)
  local t = setmetatable({}, { __add = function() _G[name] = other return 1 end })
  return t + 1
end)
test("closing", function(name, other)
  local t <close> = setmetatable({}, { __close = function() _G[name] = other end })
end)
test("finalizer", function(name, other)
  setmetatable({}, { __gc = function() _G[name] = other end })
  collectgarbage() collectgarbage()
end)
test("sort", function(name, other)
  table.sort({ 1, 2, 3 }, function(a, b) _G[name] = other return a < b end)
end)
test("gsub", function(name, other)
  string.gsub("abc", ".", function() _G[name] = other end)
end)
test("iterator", function(name, other)
  for _ in function() _G[name] = other end do end
end)
test("traversal", function(name, other)
  for k, v in pairs(_G) do if k == name then _G[k] = other end end
end)
test("environment", function(name, other, _, run)
  local i = 0
  repeat i = i + 1 until debug.getupvalue(run, i) == "_ENV"
  debug.setupvalue(run, i, setmetatable({ [name] = other }, { __index = _G }))
end)
test("joined environment", function(name, other, _, run)
  local env = setmetatable({ [name] = other }, { __index = _G })
  local i = 0
  repeat i = i + 1 until debug.getupvalue(run, i) == "_ENV"
  debug.upvaluejoin(run, i, function() return env end, 1)
end)
test("shared environment", function(name, other, set, run)
  -- the function itself is not touched, but its variable is
  local i = 0
  repeat i = i + 1 until debug.getupvalue(set, i) == "_ENV"
  debug.setupvalue(set, i, setmetatable({ [name] = other }, { __index = _G }))
end)
test("metamethod in the function", function(name, other)
  return setmetatable({}, { __index = function(_, k) _G[name] = other return 1 end })
end, "local t = change(i) if t then before = before + t.x end")
test("assignment in the function", function() return true end,
  "if change(i) then NAME = other end")
test("field in the function", function() return true end,
  "if change(i) then _G.NAME = other end")
test("key in the function", function() return true end,
  "local k = 'NAME' if change(i) then _G[k] = other end")
test("assignment to nil in the function", function() return true end,
  "if change(i) then NAME = nil end")
test("rawset in the function", function() return true end,
  "if change(i) then rawset(_G, 'NAME', other) end")

test("hot key in the function", function() end, "_G[keys[i]] = values[i]")
test("hot assignment in the function", function() end, "NAME = values[i]")
test("hot field in the function", function() end, "_G.NAME = values[i]")
test("hot rawset in the function", function() end, "rawset(_G, keys[i], values[i])")

-- the value stays the same, though it is assigned again
test("same value", function(name, _, set) set(_G[name]) end)

-- constants, changed by stores that have been executed before
function counted(n) return n end
local function count_up(n)
  local sum = 0
  for i = 1, n do
    local before = counted(i)
    if i % 100 == 0 then
      local old = counted
      counted = function(k) return old(k) + 1 end
    end
    sum = sum + counted(i) - before
  end
  return sum
end
print(count_up(1000), counted(0))

-- a global that is stored by a loop in the function that loads it
total = 0
local function add(n) total = total + n return total end
local function add_all(n) for i = 1, n do add(i) end return total end
for _ = 1, 50 do add_all(100) end
print(total)

-- weak environments: the collector removes what only they refer to
do
  local env = { setmetatable = setmetatable, print = print }
  local code = [[
    function weak(n) if n == 0 then return 1 end return weak(n - 1) + 1 end
    return function(n) return weak(n) + weak(1) end
  ]]
  local run = load(code, "=weak", "t", env)()
  local sum = 0
  for i = 1, 500 do sum = sum + run(i % 5) end
  setmetatable(env, { __mode = "v" })
  for i = 1, 300 do
    sum = sum + (pcall(run, i % 5) and 1 or 0)
    if i % 100 == 0 then collectgarbage("step", 100) end
  end
  print(sum > 500)
end

-- a recursive global function that exists twice
local function make(k)
  local source = [[
    local k = ...
    function twice(n) if n <= 0 then return k end return twice(n - 1) + 1 end
    return twice
  ]]
  return load(source)(k)
end
local first, second = make(1), make(1000)
local firsts, seconds = 0, 0
for i = 1, 300 do firsts, seconds = firsts + first(i % 7), seconds + second(i % 7) end
print(firsts, seconds)
function same_proto_maker(k)
  function again(n) if n <= 0 then return k end return again(n - 1) + 1 end
  return again
end
local a, b = same_proto_maker(1), same_proto_maker(1000)
local sums = { 0, 0 }
for i = 1, 600 do sums[1], sums[2] = sums[1] + a(i % 7), sums[2] + b(i % 7) end
print(sums[1], sums[2])

-- names of two underscores, and environments that are their own metatables
__named = function(n) return n + 1 end
local function named(n) return __named(n) + __named(n) end
for i = 1, 500 do named(i) end
print(named(3))

-- an environment that the program assigns
local function assigned(n)
  local _ENV = { f = function(k) return k + n end }
  local function inner(k) return f(k) + f(k + 1) end
  local s = 0
  for i = 1, 300 do
    if i == 250 then _ENV = { f = function(k) return k * 2 end } end
    s = s + inner(i)
  end
  return s
end
print(assigned(1), assigned(2))
