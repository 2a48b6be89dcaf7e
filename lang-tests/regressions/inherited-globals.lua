-- Globals that an environment inherits from another table, as in a sandbox, are found through
-- inline caches. Whatever changes what the environment inherits has to be noticed at once.
-- expect: ok

local N = 60

-- Returns a function that loads the global `x` of an environment, and has code of its own.
local function loader(env)
  return load("local n = ... local v for _ = 1, n do v = x end return v", "=x", "t", env)
end

local function each(f) for round = 1, N do f(round) end end

-- the environment gets the global itself
each(function()
  local base = { x = "inherited" }
  local env = setmetatable({}, { __index = base })
  local get = loader(env)
  assert(get(N) == "inherited")
  env.x = "own"
  assert(get(N) == "own")
  env.x = nil
  assert(get(N) == "inherited")
  rawset(env, "x", 1)
  assert(get(N) == 1)
  env.x = nil
  for i = 1, 40 do env["y" .. i] = i end
  assert(get(N) == "inherited")
  load("x = 'assigned'", "=x", "t", env)()
  assert(get(N) == "assigned")
end)

-- the table that has it changes
each(function()
  local base = { x = 1 }
  local env = setmetatable({}, { __index = base })
  local get = loader(env)
  for i = 1, N do
    base.x = i
    assert(get(2) == i)
  end
  base.x = nil
  assert(get(N) == nil)
  for i = 1, 40 do base["y" .. i] = i end
  base.x = "again"
  assert(get(N) == "again")
end)

-- metatables change
each(function()
  local base, other = { x = "base" }, { x = "other" }
  local meta = { __index = base }
  local env = setmetatable({}, meta)
  local get = loader(env)
  assert(get(N) == "base")
  meta.__index = other
  assert(get(N) == "other")
  meta.__index = function(_, k) return k .. "!" end
  assert(get(N) == "x!")
  meta.__index = nil
  assert(get(N) == nil)
  rawset(meta, "__index", base)
  assert(get(N) == "base")
  setmetatable(env, { __index = other })
  assert(get(N) == "other")
  setmetatable(env, nil)
  assert(get(N) == nil)
end)

-- longer chains
each(function()
  local last = { x = "last" }
  local middle = setmetatable({}, { __index = last })
  local env = setmetatable({}, { __index = middle })
  local get = loader(env)
  assert(get(N) == "last")
  middle.x = "middle"
  assert(get(N) == "middle")
  middle.x = nil
  assert(get(N) == "last")
  setmetatable(middle, { __index = { x = "new" } })
  assert(get(N) == "new")
  debug.setmetatable(middle, nil)
  assert(get(N) == nil)
end)

-- one function with several environments
each(function()
  local base = { x = "base" }
  local get = loader(base)
  local envs = {}
  for i = 1, 5 do envs[i] = setmetatable({}, { __index = base }) end
  envs[3].x = "own"
  for i = 1, N do
    local at = i % 5 + 1
    debug.setupvalue(get, 1, envs[at])
    assert(get(3) == (at == 3 and "own" or "base"))
  end
end)

-- stores
each(function()
  local env = setmetatable({}, { __index = _G })
  local count = load("for i = 1, ... do n = (n or 0) + i end return n", "=x", "t", env)
  assert(count(N) == N * (N + 1) / 2 and rawget(env, "n") == N * (N + 1) / 2)
  assert(n == nil)
  local log = 0
  local strict = setmetatable({}, {
    __index = _G,
    __newindex = function(t, k, v) log = log + 1 rawset(t, k, v) end,
  })
  local store = load("for i = 1, ... do z = i end z = nil z = 1 return z", "=x", "t", strict)
  assert(store(N) == 1 and log == 2)
end)

-- changes by functions that the same loop calls
do
  local function run(change, expected)
    local base = { x = 1 }
    local env = setmetatable({}, { __index = base })
    env.change = function(i) change(env, base, i) end
    local f = load([[
      local s = 0
      for i = 1, ... do
        local before = x
        change(i)
        s = s + before * 10 + x
      end
      return s]], "=x", "t", env)
    local s = f(200)
    assert(s == expected, s)
  end
  run(function() end, 200 * 11)
  run(function(env, _, i) if i == 100 then env.x = 2 end end, 99 * 11 + 12 + 100 * 22)
  run(function(_, base, i) if i == 100 then base.x = 2 end end, 99 * 11 + 12 + 100 * 22)
  run(function(env, _, i)
    if i == 100 then setmetatable(env, { __index = { x = 3, change = env.change } }) end
  end, 99 * 11 + 13 + 100 * 33)
  run(function(env, _, i) if i == 100 then getmetatable(env).__index = { x = 4 } end end,
    99 * 11 + 14 + 100 * 44)
end

-- the metatable changes between two loads without a call of a function in Lua
do
  local env = setmetatable({}, { __index = { x = 1 } })
  env.setmetatable, env.a, env.b = setmetatable, { __index = { x = 1 } }, { __index = { x = 2 } }
  env.env = env
  local f = load([[
    local s = 0
    for i = 1, ... do
      setmetatable(env, a)
      local before = x
      setmetatable(env, b)
      s = s + before * 10 + x
    end
    return s]], "=x", "t", env)
  assert(f(300) == 300 * 12)
  local meta = { __index = { x = 1 } }
  env.meta, env.p, env.q = meta, { x = 5 }, { x = 6 }
  setmetatable(env, meta)
  local g = load([[
    local s = 0
    for i = 1, ... do
      meta.__index = p
      local before = x
      meta.__index = q
      s = s + before * 10 + x
    end
    return s]], "=x", "t", env)
  assert(g(300) == 300 * 56)
end

-- collections between the loads, and caches that outlive environments
each(function(round)
  local env = setmetatable({}, { __index = { x = round } })
  local get = loader(env)
  assert(get(N) == round)
  if round % 20 == 0 then collectgarbage() end
  assert(get(N) == round)
end)

-- an environment that is its own parent's metatable, and weak environments
do
  local base = setmetatable({ x = "x" }, { __mode = "v" })
  base.__index = base
  local env = setmetatable({}, base)
  local get = loader(env)
  assert(get(N) == "x")
  base.x = {}
  collectgarbage()
  assert(get(N) == nil)
  local other = { x = 7 }
  base.__index = other
  assert(get(N) == 7)
end

-- a traversal of an environment is not disturbed by loads
do
  local env = setmetatable({ a = 1, b = 2, c = 3 }, { __index = _G })
  local f = load([[
    local n, s = 0, 0
    for k, v in pairs(_ENV) do
      if type(k) == "string" and tostring(v) then n, s = n + 1, s + math.max(v, 0) end
    end
    return n, s]], "=x", "t", env)
  for _ = 1, N do
    local n, s = f()
    assert(n == 3 and s == 6)
  end
end
