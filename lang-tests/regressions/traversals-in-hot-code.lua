-- Loops by next, pairs and ipairs in hot code, and other iterators in their place (3.3.5, 6.1).
-- expect: ok
--| mixed	7	91	7
--| empty	0	0	0
--| grown	3	99	3
--| ipairs	6	3
--| floats	4.0	3
--| hash	30	2
--| index	123	5
--| not a table	false	attempt to index a number value
--| closure	2=3 1=3 0=3
--| gmatch	a=1 b=2
--| coroutine	1=-1 2=-2 3=-3
--| next	1=5 2=6
--| __pairs	1=s 0=s
--| callable	1=c 2=c 3=c
--| change	6	3
--| nested	22	6	3	2
--| stop	stopped	2	1
--| error	true
--| removed	nil
--| invalid	invalid key to 'next'
--| hooked	10	8

-- Elements, fields and nodes, with holes, and more variables than values.
local function count(t)
  local n, sum, none = 0, 0, 0
  for k, v, x, y in pairs(t) do
    n = n + 1
    sum = sum + (math.type(k) == "integer" and k or #tostring(k)) * (tonumber(v) or 1)
    if x == nil and y == nil then none = none + 1 end
  end
  return n, sum, none
end
local mixed = { 1, 2, nil, 4, a = 5, bb = 6, [2.5] = 7, [true] = 8 }
for _ = 1, 60 do count(mixed) end
print("mixed", count(mixed))
print("empty", count({}))
print("grown", count(setmetatable({ [100] = 1, [-1] = 2, x = false }, {})))

-- ipairs ends at the first nil, also where a metamethod decides.
local function total(t)
  local s, last = 0, 0
  for i, v in ipairs(t) do s, last = s + v, i end
  return s, last
end
for _ = 1, 60 do total({ 1, 2, 3 }) end
print("ipairs", total({ 1, 2, 3, nil, 5 }))
print("floats", total({ 0.5, 1, 2.5 }))
print("hash", total({ [1] = 10, [2] = 20, [4] = 40 }))
local function at(_, i) return i < 6 and i * 10 or nil end
local computed = setmetatable({ 1, 2 }, { __index = at })
print("index", total(computed))
print("not a table", pcall(total, 7))

-- Other iterators at the same place.
local function visit(...)
  local out = {}
  for k, v in ... do out[#out + 1] = tostring(k) .. "=" .. tostring(v) end
  return table.concat(out, " ")
end
for _ = 1, 60 do visit(pairs({ 1, 2 })) end
local function down(n, i) if i > 0 then return i - 1, n end end
print("closure", visit(down, 3, 3))
print("gmatch", visit(("a1b2"):gmatch("(%a)(%d)")))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i, -i) end end)
print("coroutine", visit(co))
print("next", visit(next, { 5, 6 }))
local custom = setmetatable({}, { __pairs = function() return down, "s", 2 end })
print("__pairs", visit(pairs(custom)))
print("callable", visit(setmetatable({}, { __call = function(_, _, i)
  i = (i or 0) + 1
  if i < 4 then return i, "c" end
end })))

-- Fields are assigned and removed, and other tables change, while a table is traversed.
local counter = { n = 0 }
local function change(t)
  local seen = 0
  for k, v in pairs(t) do
    counter.n = counter.n + 1
    t[k] = v > 2 and v - 1 or nil
    seen = seen + counter.n
  end
  return seen, next(t)
end
for _ = 1, 60 do
  counter.n = 0
  change({ 2, 3, 4 })
end
counter.n = 0
local seen = change({ a = 1, b = 2, c = 9 })
print("change", seen, counter.n)

-- Loops in loops over the same table, left early, with closures and errors in them.
local function pairs_of(t, stop)
  local n, fs = 0, {}
  for i, a in ipairs(t) do
    for k, b in pairs(t) do
      if a == b then goto continue end
      n = n + a * b
      if n == stop then return "stopped", i, k end
      fs[#fs + 1] = function() return a, b end
      ::continue::
    end
  end
  return n, #fs, fs[#fs]()
end
for _ = 1, 60 do pairs_of({ 1, 2, 3 }) end
print("nested", pairs_of({ 1, 2, 3 }))
print("stop", pairs_of({ 1, 2, 3 }, 7))
print("error", select(2, pcall(total, { 1, 2, "x", {} })) ~= nil)

-- A key that goes away while the table is traversed is an error, as is a new one in some places.
local function remove(t)
  for k in pairs(t) do
    t[k] = nil
    collectgarbage("step")
  end
  return next(t)
end
for _ = 1, 60 do remove({ x = 1, y = 2 }) end
print("removed", remove({ x = 1, y = 2, 3 }))
local key = next({ only = 1 })
print("invalid", (select(2, pcall(next, {}, key)):gsub("^.-:%d+: ", "")))

-- A hook sees the calls of the iterator, which code did not make before.
local calls = 0
debug.sethook(function() calls = calls + 1 end, "c")
local sum = total({ 1, 2, 3, 4 })
debug.sethook()
print("hooked", sum, calls)
