-- A `__close` that fails leaves neither open upvalues nor counts of returned values behind.
-- expect: ok
--| false	x
--| secret	w
--| secret	w
--| new	w
--| new	w
--| false	in close
--| true

local function closing(f) return setmetatable({}, { __close = f }) end

do -- upvalues of the function that has failed
  local leaked
  local co = coroutine.create(function()
    local a <close> = closing(function()
      local p, q, r, s, t = 1, 2, 3, 4, 5
      local u = { p, q, r }
      for i = 1, 3 do u[i] = i end
    end)
    local x <close> = closing(function()
      local v = "secret"
      local w = { "w" }
      leaked = function(n)
        if n then v = n end
        return v, w and w[1]
      end
      error("x", 0)
    end)
    coroutine.yield(1)
  end)
  coroutine.resume(co)
  print(coroutine.close(co))
  print(leaked())
  co = nil
  collectgarbage() collectgarbage()
  local t = {}
  for i = 1, 100 do
    t[i] = coroutine.create(function() end)
    coroutine.resume(t[i], i)
  end
  print(leaked())
  print(leaked("new"))
  print(leaked())
end

local function three() return 1, 2, 3 end
local function failing() error("in close", 0) end
local function returning()
  local z <close> = closing(failing)
  return three()
end
local function results() return 1, 2, 3, 4, 5, 6, 7, 8, 9 end
local function nine()
  local z <close> = closing(function() end)
  return results()
end
-- Calls `nine` where frames at many places of the stack return its results.
local function check()
  for i = 0, 120 do
    local n = (function(...) local n = select('#', nine()) return n end)(table.unpack({}, 1, i))
    if n ~= 9 then print(i, n) end
  end
  for i = 1, 100 do
    local names = {}
    for j = 1, i do names[j] = "a" .. j end
    local source = "local nine = ... local %s local n = select('#', nine()) return n"
    local n = load(source:format(table.concat(names, ",")))(nine)
    if n ~= 9 then print(i, n) end
  end
end

do -- in a coroutine that is closed
  local co = coroutine.create(function()
    local a <close> = closing(check)
    local function dig(n)
      if n > 0 then return (dig(n - 1)) end
      local b <close> = closing(returning)
      coroutine.yield()
    end
    dig(10)
  end)
  coroutine.resume(co)
  print(coroutine.close(co))
end

do -- in a finalizer
  local ran
  (function()
    setmetatable({}, { __gc = function()
      ran = true
      local b <close> = closing(returning)
      error("two", 0)
    end })
  end)()
  local function dig(n)
    if n > 0 then return (dig(n - 1)) end
    collectgarbage() collectgarbage()
  end
  dig(10)
  check()
  print(ran)
end
