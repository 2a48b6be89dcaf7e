-- Recursive vararg functions in hot code through which a coroutine yields (2.6).
-- expect: ok
--| ok	2000
--| 40	36	4
--| 1	2	3
local count = 0
local function deep(n, ...)
  if n == 0 then return n end
  local r = deep(n - 1)
  coroutine.yield()
  return r
end
for _ = 1, 2000 do
  local co = coroutine.wrap(function() deep(8) return 1 end)
  repeat until co()
  count = count + 1
end
print("ok", count)

-- with extra arguments, and yields at the deepest level only
local function extra(n, a, ...)
  if n == 0 then return coroutine.yield(n), select("#", ...) end
  local r, k = extra(n - 1, a, n, ...)
  return r + 1, k + select("#", ...)
end
local results
for _ = 1, 300 do
  local co = coroutine.wrap(function() return extra(8, "a") end)
  co()
  results = { co(32) }
end
print(results[1], results[2], 4)

-- metamethods
local O = setmetatable({}, {
  __add = function(a, ...) coroutine.yield() return (select("#", ...)) end,
  __index = function(...) coroutine.yield() return select("#", ...) end,
  __lt = function(...) coroutine.yield() return true end,
})
local function ops(n)
  local s = 0
  for i = 1, n do s = O + 1 end
  return s, O.x, O < O and 3
end
local a, b, c
for _ = 1, 50 do
  local co = coroutine.create(ops)
  local ok
  repeat ok, a, b, c = coroutine.resume(co, 40) until coroutine.status(co) == "dead"
end
print(a, b, c)
