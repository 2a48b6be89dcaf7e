-- Protected calls and variables to be closed in hot code (2.3, 3.3.8).
-- expect: ok
--| truenilnil	true56	true67	true7nil	truenilnil
--| falsetextnil	falsebad argument #1 to 'type' (value expected)nil	falseattempt to call a number valuenil	falseattempt to call a nil valuenil	truetrue12nil
--| true
--| 4
--| 13nil
--| 23
--| 7
--| true
--| 5	70: big 11	70: big 12	3
--| 10056
--| true1	false70: big 20
--| 7
--| falsenil
--| 97: attempt to perform arithmetic on a nil value
--| |F:101: in function F:101>|[C]: in function 'pcall'
--| pcalltrue
--| 20	150
--| C stack overflow	true
--| true
--| 4	119957
--| 5
--| return return return call
--| 50
--| true
--| mine	1
--| true	1
--| 4	50	a3nil	a1nil	a1nil
--| 2	e2nil	e2nil	e1nil
--| done	falsecnil	fnil
--| false213: variable 'x' got a non-closable valuenil
--| false214: variable 'x' got a non-closable valuenil
--| 9
--| 40 80 120 160 200 closed
--| native
--| call
--| call
--| true	outernil
local function hot(f, ...)
  local r
  for _ = 1, 300 do r = f(...) end
  return r
end

local function strip(e) return (tostring(e):gsub("%S+%.lua:", "")) end

-- results of different numbers
local function id(...) return ... end
local function none() end
local function two(a) return a, a + 1 end
local function three(a) return a, a + 1, a + 2 end
local function get(f, ...)
  local ok, x, y = pcall(f, ...)
  return tostring(ok) .. strip(x) .. strip(y)
end
print(hot(get, none), hot(get, two, 5), hot(get, three, 6), hot(get, id, 7), hot(get, id))
print(hot(get, error, "text", 0), hot(get, type), hot(get, 5), hot(get, nil), hot(get, get, two, 1))
print(hot(function(f) pcall(f, 1) local ok = pcall(f, 2) return ok end, two))
print(hot(function(f) return (select("#", pcall(f, 1))) end, three))
print(hot(function(f)
  local a, b, c, d, e = pcall(f, 1)
  return b .. d .. strip(e)
end, three))
print(hot(function(f) local a, b, c, d = pcall(f, 1) return c .. d end, three))
print(hot(function(f) local t = { pcall(f, 4) } return #t + t[2] end, two))
print(hot(function(f) return pcall(f, 4) end, two))

-- errors
local function fail(x) if x > 10 then error("big " .. x) end return x end
local function try(x)
  local ok, e = pcall(fail, x)
  if not ok then return strip(e) end
  return e
end
print(hot(try, 5), try(11), hot(try, 12), try(3))
local function both(x)
  local n = 0
  for i = 1, 20 do
    local ok, v = pcall(fail, i)
    if ok then n = n + v else n = n + 1000 end
  end
  return n + x
end
print(hot(both, 1))
local function nested(x)
  local ok, e = pcall(function(y)
    local ok, e = pcall(fail, y)
    if not ok then error(e, 0) end
    return e
  end, x)
  return tostring(ok) .. strip(e)
end
print(hot(nested, 1), hot(nested, 20))
print(hot(function() local ok, e = pcall(error, { 7 }) return e[1] end))
print(hot(function() local ok, e = pcall(error) return tostring(ok) .. tostring(e) end))
print(hot(function() local ok, e = pcall(function() local x = nil + 1 end) return strip(e) end))

-- the frames inside
print(hot(function()
  local ok, t = pcall(function() local t = debug.traceback("t") return t end)
  t = t:gsub("%S+%.lua", "F"):gsub("\n%s*", "|")
  return t:match("|F.-'pcall'")
end))
print(hot(function()
  local ok, name, what = pcall(function()
    local i = debug.getinfo(2, "Snf")
    return i.name, i.what == "C" and i.func == pcall
  end)
  return tostring(name) .. tostring(what)
end))

-- deep recursion
local function deep(n) if n == 0 then return 0 end local ok, v = pcall(deep, n - 1) return v + 1 end
print(hot(deep, 20), deep(150))
local depth = 0
local function endless() depth = depth + 1 local ok, e = pcall(endless) return ok and e or e end
local e = endless()
print(strip(e), depth > 150 and depth < 250)
local function count(n) local ok, v = pcall(count or id, n) return ok end
print(hot(count, 1))

-- yields, also across errors
local co = coroutine.wrap(function()
  local sum = 0
  for i = 1, 200 do
    local ok, v, w = pcall(function(k)
      if k % 50 == 0 then
        local r = coroutine.yield(k)
        if r == 3 then error("resumed", 0) end
        return r, k
      end
      return k
    end, i)
    sum = sum + (ok and v or 100000) + (w or 0)
  end
  return "end", sum
end)
local r, sum = co()
local n = 0
while r ~= "end" do n = n + 1 r, sum = co(n) end
print(n, sum)

-- hooks that are set inside
local events = {}
print(hot(function(i)
  local ok, v = pcall(function(x) return x end, i)
  return v
end, 5))
local function hooked()
  local ok, v = pcall(function(x)
    debug.sethook(function(e) events[#events + 1] = e end, "cr")
    return x
  end, 6)
  debug.sethook()
  return v
end
for _ = 1, 100 do events = {} hooked() end
print(table.concat(events, " "))

-- the collector, and interrupts of the loop by it
print(hot(function()
  local ok, t = pcall(function() local t = {} for i = 1, 50 do t[i] = { i } end return t end)
  return #t
end))

-- another function in its place
local saved = pcall
local function replaced(f, x) local ok, v = pcall(f, x) return ok, v end
print(hot(replaced, two, 1))
pcall = function(f, x) return "mine", f(x) end
print(replaced(two, 1))
pcall = saved
print(replaced(two, 1))

-- variables to be closed
local log = {}
local function note(x) log[#log % 50 + 1] = x end
local C = { __close = function(o, e) note(o.name .. strip(e)) end }
local function new(name) return setmetatable({ name = name }, C) end
local function scoped(x)
  local n = 0
  for i = 1, 3 do
    local a <close> = new("a" .. i)
    local b <close> = i == 2 and nil or new("b" .. i)
    local c <const> = i
    if i == x then goto continue end
    n = n + c
    ::continue::
  end
  return n
end
log = {}
print(hot(scoped, 2), #log, log[1], log[2], log[50])
local function early(x)
  for i = 1, 3 do
    local a <close> = new("e" .. i)
    if i == x then return i end
  end
end
log = {}
print(hot(early, 2), log[1], log[2], log[3])
local function failing(x)
  for i = 1, 3 do
    local a <close> = new("f")
    local b <close> = setmetatable({}, {
      __close = function() if i == x then error("c", 0) end end })
  end
  return "done"
end
log = {}
print(hot(failing, 5), hot(function() return get(failing, 2) end), log[50])
print(get(function() for i = 1, 300 do local x <close> = i == 300 and 5 or nil end end))
print(get(function() for i = 1, 300 do local x <close> = i == 299 and {} or false end end))
local function captured()
  local fs = {}
  for i = 1, 3 do
    local a <close> = new("u")
    local v = i
    fs[i] = function() v = v + 1 return v end
  end
  return fs[1]() + fs[1]() + fs[3]()
end
print(hot(captured))
local y = coroutine.wrap(function()
  for i = 1, 200 do
    local a <close> = setmetatable({}, {
      __close = function() if i % 40 == 0 then coroutine.yield(i) end end })
    local b <close> = i % 2 == 0 and new("y") or nil
  end
  return "closed"
end)
local seen = {}
repeat local v = y() seen[#seen + 1] = v until v == "closed"
print(table.concat(seen, " "))
local N = setmetatable({}, { __close = collectgarbage and type })
print(hot(function() for i = 1, 2 do local x <close> = N end return "native" end))
local O = setmetatable({}, {
  __close = setmetatable({}, { __call = function(self, o) note("call") end }) })
log = {}
print(hot(function() do local x <close> = O end return log[1] end))
print(hot(function()
  for k, v in next, { 1 }, nil, new("iter") do if v == 1 then break end end
  return log[2]
end))
print(hot(function()
  local outer <close> = new("outer")
  for i = 1, 2 do
    local a <close> = new("a")
    local b <close> = N
    local c <close> = O
    local d <close> = i == 1 and N or nil
  end
  return log[#log]
end) ~= "outernil", log[1])
