-- A tail call of a value with `__call` is a tail call (3.4.10, 2.4).
-- expect: ok

local depth = 0
local function levels()
  local n = 0
  while debug.getinfo(n + 1, 'l') do n = n + 1 end
  return n
end
local callable = setmetatable({}, { __call = function(self, n)
  if n == 0 then depth = levels() return 'done' end
  return self(n - 1)
end })
assert(callable(3) == 'done')
local few = depth
assert(callable(3000) == 'done' and depth == few)

-- Through two of them, and with one argument more than the frame has room for.
local function last(...)
  return select('#', ...), debug.getinfo(1, 't').istailcall, debug.getinfo(1, 'n').name
end
local inner = setmetatable({}, { __call = last })
local outer = setmetatable({}, { __call = inner })
local function f(...) return outer(...) end
local count, tail, name = f()
assert(count == 2 and tail and name == nil)
assert(select(1, f(1, nil, 3)) == 5 and (f(table.unpack({}, 1, 200))) == 202)

-- A native function behind it has the caller's frame below.
local native = setmetatable({}, { __call = function() error('unused') end })
getmetatable(native).__call = select
local function g(...) return native(...) end
assert(select(2, pcall(g, 'x')):find("bad argument #1 to '", 1, true))

-- No function at its end.
local none = setmetatable({}, { __call = setmetatable({}, {}) })
local function h() local x = none return x() end
assert(select(2, pcall(h)):find("attempt to call a table value", 1, true))
