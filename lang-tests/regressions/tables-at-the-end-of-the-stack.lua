-- Exits describe tables that were not allocated in slots above all frames, for which the stack has
-- to have room (2.1, 2.6).
-- expect: ok
--| 15.5	80
--| done

local s
local function run(n, v)
  for i = 1, n do
    local a = { a = i, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, j = 10, k = 11, l = 12 }
    s = v + a.a + a.l
  end
end
local count = 0
local function deep(n)
  if n == 0 then
    run(2, 1.5)
    count = count + 1
  else
    deep(n - 1)
  end
  return 1
end
for _ = 1, 2000 do run(50, 1) end
for k = 1, 80 do coroutine.wrap(deep)(k) end
print(s, count)

local A = {}
A.__index = A
local function get(t) return t.x end
local function several(n)
  local b, c = setmetatable({ x = 1 }, A), { x = 1, y = 1 }
  for _ = 1, n do
    local a = { x = get(b), y = 1, k = 1, j = 2, l = 3, m = 4, o = 5, p = 6, q = 7 }
    a = setmetatable({ x = c.x, y = get(a) }, A)
  end
end
for _ = 1, 600 do several(150) end
for _ = 1, 60 do coroutine.wrap(several)(150) end

-- A loop that makes garbage until a finalizer has run, which no register may hold back.
local function collected()
  local u, finished = nil, false
  u = setmetatable({}, { __gc = function() finished = true end })
  repeat u = {} until finished
end
for _ = 1, 20 do collected() end
print("done")
