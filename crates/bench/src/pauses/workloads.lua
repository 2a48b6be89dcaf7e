-- The workloads of the command `pauses`: `make(workload, megabytes)` builds a heap of about that
-- size and returns a function that does a part of the work, for about a millisecond.

local seed = 12345
local function random(n)
  seed = seed * 1103515245 + 12345 & 0x7fffffff
  return (seed >> 8) % n + 1
end

local function object(i, next)
  return { id = i, name = "name " .. i % 50000, next = next, weight = i * 0.5 }
end

local serial = 0
local function unique()
  serial = serial + 1
  return "a string " .. serial
end

local function counter(start)
  local n = start
  return function() n = n + 1 return n end
end

-- What is live in all workloads, so much of each that it takes about 2 MB for each `size`.
local function heap(size)
  local live = { array = {}, hash = {}, keys = {}, closures = {}, strings = {}, sparse = {} }
  local array, hash, keys, closures = live.array, live.hash, live.keys, live.closures
  local n = 3500 * size
  for i = 1, n do
    array[i] = object(i, i > 1 and array[random(i - 1)] or nil)
  end
  for i = 1, n do
    -- Objects lie in the heap in another order than in the array.
    local j = random(n)
    array[i], array[j] = array[j], array[i]
  end
  for i = 1, n do
    local key = "key " .. i
    hash[key], keys[i] = { i }, key
  end
  for i = 1, n do live.strings[i] = unique() end
  for i = 1, n // 2 do closures[i] = counter(i) end
  for i = 1, n do live.sparse[i * 7919] = { i } end
  live.n = n
  return live
end

local workloads = {}

-- Elements of the huge array are replaced.
function workloads.array(live)
  local array, n = live.array, live.n
  return function()
    for i = 1, 2000 do array[random(n)] = object(i, array[random(n)]) end
  end
end

-- Keys come and go in the huge hash.
function workloads.hash(live)
  local hash, keys, n = live.hash, live.keys, live.n
  local fresh = n
  return function()
    for i = 1, 2000 do
      local at = random(n)
      hash[keys[at]] = nil
      fresh = fresh + 1
      local key = "key " .. fresh
      keys[at] = key
      hash[key] = { i }
    end
  end
end

-- Values of the huge hash are replaced.
function workloads.values(live)
  local hash, keys, n = live.hash, live.keys, live.n
  local sparse = live.sparse
  return function()
    for i = 1, 2000 do
      hash[keys[random(n)]] = { i }
      sparse[random(n) * 7919] = { i }
    end
  end
end

-- Strings are made and replaced.
function workloads.strings(live)
  local strings, n = live.strings, live.n
  return function()
    local length = 0
    for i = 1, 2000 do
      strings[random(n)] = unique()
      local text = "line " .. i .. ": " .. unique() .. tostring(random(n))
      length = length + #text
    end
    return length
  end
end

-- More and more strings, until they are dropped at once.
function workloads.growth(live)
  local strings, n = {}, live.n
  return function()
    for _ = 1, 2000 do strings[#strings + 1] = unique() end
    if #strings > n then strings = {} end
  end
end

-- Closures and their upvalues are replaced.
function workloads.closures(live)
  local closures, n = live.closures, live.n // 2
  return function()
    local sum = 0
    for i = 1, 2000 do
      local at = random(n)
      sum = sum + closures[at]()
      closures[at] = counter(i)
    end
    return sum
  end
end

-- References among old objects change, and next to nothing is allocated.
function workloads.links(live)
  local array, n = live.array, live.n
  return function()
    for i = 1, 4000 do
      array[random(n)].next = array[random(n)]
      if i % 8 == 0 then array[random(n)].extra = { i } end
    end
  end
end

-- Everything that is allocated dies at once.
function workloads.garbage()
  return function()
    local last
    for i = 1, 4000 do last = object(i, { i }) end
    return last
  end
end

-- Large arrays are built and dropped.
function workloads.buffers(live)
  local arrays, n = {}, live.n // 8
  local at, current = 0, {}
  return function()
    for i = 1, 4000 do current[#current + 1] = { i } end
    if #current >= n then
      at = at % 4 + 1
      arrays[at], current = current, {}
    end
  end
end

-- Many coroutines, some of which run.
function workloads.coroutines(live)
  local n = live.n // 100 + 1
  local threads = {}
  local function body(i)
    while true do
      local t = { i }
      coroutine.yield(t)
    end
  end
  local function spawn()
    local co = coroutine.create(body)
    coroutine.resume(co, 1)
    return co
  end
  for i = 1, n do threads[i] = spawn() end
  return function()
    for i = 1, 500 do coroutine.resume(threads[random(n)], i) end
    threads[random(n)] = spawn()
  end
end

-- Objects with finalizers, some of which die.
function workloads.finalizers(live)
  local n = live.n // 10
  local calls = 0
  local meta = { __gc = function() calls = calls + 1 end }
  local list = {}
  for i = 1, n do list[i] = setmetatable({ i }, meta) end
  return function()
    for i = 1, 500 do
      list[random(n)] = setmetatable({ i }, meta)
      object(i)
    end
    return calls
  end
end

-- Weak tables with values and keys that come and go.
function workloads.weak(live)
  local n = live.n // 20
  local values = setmetatable({}, { __mode = "v" })
  local keys = setmetatable({}, { __mode = "k" })
  local strong = {}
  return function()
    for i = 1, 1000 do
      local t, at = { i }, random(n)
      strong[at] = t
      values[at] = t
      keys[t] = { i, t }
    end
  end
end

return {
  names = { "array", "hash", "values", "strings", "growth", "closures", "links", "garbage",
    "buffers", "coroutines", "finalizers", "weak" },
  make = function(name, megabytes)
    local live = heap(megabytes * 13 // 25 + 1)
    local step = workloads[name](live)
    -- Part of the result, so that all of it stays alive.
    return step, live
  end,
}
