-- expect: ok
--| 0/41
--| 4920/41
--| 3247/27
--| 7380/41
--| 21/4
--| 12/3
--| 41/6
--| 0/0	0/0
--| 0/0
--| 2/3	600
--| 4/3
--| 2842/28
--| 7842/29
--| 6470/15
--| 6548/37
--| 6482/17
--| 250	49
--| 99	98
--| 3/1
--| 3	4	7/2
--| nil	4/1
--| 315/3
--| 320/4
--| 0
--| 400/20	0/0	0/0
--| 401/20
--| 46/40
--| 3/2
--| 1225/1	1176/2	1128/3	1035/5	861/9
-- Machine code searches the hash part of tables itself: integers among chained and direct nodes,
-- and strings in dictionaries and environments.
local function hot(f, ...)
  local last
  for _ = 1, 300 do last = f(...) end
  return last
end

local function sum(t, keys)
  local n, found = 0, 0
  for i = 1, #keys do
    local v = t[keys[i]]
    if v then
      n, found = n + v, found + 1
    end
  end
  return n .. "/" .. found
end

-- chained nodes
local far = {}
for i = -20, 20 do far[i * 1000003] = i end
local keys = {}
for i = -40, 40 do keys[#keys + 1] = i * 1000003 // 2 end
print(hot(sum, far, keys))

-- direct nodes, holes in them, and zero, which nodes without a key seem to have
local ring = {}
for i = 100, 140 do ring[i] = i end
local near = {}
for i = 0, 300 do near[#near + 1] = i end
print(hot(sum, ring, near))
for i = 100, 140, 3 do ring[i] = nil end
print(hot(sum, ring, near))
for i = 141, 200 do ring[i], ring[i - 41] = i, nil end
print(hot(sum, ring, near))

-- the bits of a float are those of an integer
local bits = string.unpack("i8", string.pack("d", 1.5))
local mixed = { [1.5] = 7, [bits] = 9, [true] = 1, [0] = 3, [-1] = 4, [math.mininteger] = 5 }
print(hot(sum, mixed, { bits, 1, 0, -1, math.mininteger, math.maxinteger, 2 }))
mixed[bits] = nil
print(hot(sum, mixed, { bits, 1, 0, -1, math.mininteger, 2 }))

-- an array and nodes, an empty table, and a table that has had nodes
local both = { 1, 2, 3 }
both[10], both[20], both[-5] = 10, 20, 5
print(hot(sum, both, { 1, 2, 3, 4, 10, 20, -5, 0 }))
print(hot(sum, {}, { 1, 2, 10 }), hot(sum, setmetatable({}, {}), { 1, 10 }))
for k in pairs(both) do both[k] = nil end
print(hot(sum, both, { 1, 2, 3, 4, 10, 20, -5, 0 }))

-- metatables are asked for what is not there
local asked = 0
local watched = setmetatable({ [1000] = 1 }, { __index = function(_, k)
  asked = asked + 1
  return k % 2
end })
print(hot(sum, watched, { 1000, 1001, 1002 }), asked)
print(hot(sum, setmetatable({ [50] = 1 }, { __index = far }), { 50, 1000003, 2000006, 1 }))

-- strings in dictionaries
local words = {}
for i = 1, 200 do words["w" .. i] = i end
local names = {}
for i = 0, 250, 7 do names[#names + 1] = "w" .. i end
names[#names + 1] = ("w"):rep(100)
print(hot(sum, words, names))
words[("w"):rep(100)] = 5000
print(hot(sum, words, names))
for i = 1, 200, 2 do words["w" .. i] = nil end
print(hot(sum, words, names))
print(hot(sum, setmetatable(words, { __index = function(_, k) return #k end }), names))
setmetatable(words, { __index = { w0 = 3, w7 = 9 } })
print(hot(sum, words, names))
setmetatable(words, nil)
local function fields(t)
  local a, b, c = t.w2, t.w3, t.w200
  t.w3 = (b or 0) + 1
  if t.w3 > 250 then t.w3 = nil end
  return a + (b or 0) + (c or 0)
end
print(hot(fields, words), words.w3)
words.w200 = nil
print(hot(fields, words), words.w3)

-- environments keep their values in cells
shown, hidden = 3, nil
print(hot(sum, _G, { "shown", "hidden", "nothing" }))
local function of_env(env) return env.shown, env.hidden end
hidden = 4
print(hot(of_env, _G), select(2, of_env(_G)), hot(sum, _G, { "shown", "hidden" }))
shown = nil
print(hot(of_env, _G), hot(sum, _G, { "shown", "hidden" }))
hidden = nil

-- tables with both direct nodes and strings asked for
local mixture = {}
for i = 100, 120 do mixture[i] = i end
print(hot(sum, mixture, { 100, "x", 110, 1.0, 105.0, "100" }))
mixture.x = 5
print(hot(sum, mixture, { 100, "x", 110, 1.0, 105.0, "100" }))

-- weak tables
local weak = setmetatable({}, { __mode = "v" })
for i = 1000, 1010 do weak[i] = { i } end
local function count(t)
  local n = 0
  for i = 990, 1020 do if t[i] then n = n + 1 end end
  return n
end
hot(count, weak)
collectgarbage()
print(hot(count, weak))

-- tables as keys
local nodes, marks = {}, {}
for i = 1, 40 do nodes[i] = {} end
for i = 1, 40, 2 do marks[nodes[i]] = i end
local function visited(list, of)
  local n, found = 0, 0
  for i = 1, #list do
    local v = of[list[i]]
    if v then
      n, found = n + v, found + 1
    end
  end
  return n .. "/" .. found
end
print(hot(visited, nodes, marks), hot(visited, nodes, {}), hot(visited, nodes, { 1, 2 }))
marks[nodes[1]], marks[nodes[2]], marks.x = nil, 2, 1
print(hot(visited, nodes, marks))
print(hot(visited, nodes, setmetatable({ [nodes[3]] = 7 }, { __index = function() return 1 end })))
print(hot(visited, { nodes[1], "x", 2.5, true, print, nodes[2] }, marks))

-- queues of a few elements
local function pass(n, width)
  local queue, head, tail, seen = {}, 1, 0, 0
  for i = 1, n do
    tail = tail + 1
    queue[tail] = i
    if tail - head >= width then
      seen = seen + queue[head]
      queue[head] = nil
      head = head + 1
    end
  end
  local rest = 0
  for _ in pairs(queue) do rest = rest + 1 end
  return seen .. "/" .. rest
end
print(hot(pass, 50, 1), hot(pass, 50, 2), hot(pass, 50, 3), hot(pass, 50, 5), hot(pass, 50, 9))
