-- expect: ok
--| 45293.0
--| 742.5
--| numbernumbernil numbernumbernil stringstringnil booleanbooleannil tabletablenil functionfunctionnil
--| bad argument #1 to 'select' (index out of range)
--| bad argument #1 to 'select' (index out of range)
--| 45153	true	0
--| false	bad argument #1 to 'select' (index out of range)
--| 322255.0
--| 298	b	3
--| 299	changed	3
--| x 300 none none	x	300
--| 300	changed	3
--| 299 3 298 298, 300 2 299 299, 9.007199254741e+15 3 299 299, 301.5 2 300 300, 9.007199254741e+15 3 300 300
--| 19900	200	60500
--| Lualevels Lua!? Luatraces main?
--| 47250
--| 4016000
-- Vararg functions are inlined: their frames lie above their arguments, and select, VARARG and
-- constructors of their extra arguments are computed by the code.

local function count(...) return select("#", ...) end
local function from(...) return select(2, ...) end
local function pick(i, ...) return (select(i, ...)) end
local function pass(f, ...) return f(...) end
local function all(...) return ... end
local function first(...) local a, b, c = ... return a, b, c end
local function inc(x, ...) return x + 1, ... end
local function list(...) local t = {...} return #t, t[1], t[#t] end
local function mixed(a, ...) local t = {a, a, ...} return #t, t[3] end
local function sum(...)
  local s = 0
  for i = 1, select("#", ...) do s = s + (select(i, ...) or 0) end
  return s
end
local function add(a, b, c) return (a or 0) + (b or 0) + (c or 0) end
local function eight(x) return x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7 end
local function many(x)
  return x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x, x, x, x, x, x, x + 0.5, x
end
local function total(...) return sum(...) end
local function last(a, b, c, d, e, f, g, h) return h end

local function run(n)
  local s = 0
  for i = 1, n do
    s = s + count() + count(nil) + count(i, nil, s, nil)
    local a, b, c = from(i, i + 1, nil)
    s = s + a + (b and 1 or 2) + (c and 1 or 3)
    s = s + pick(1, i) + pick(3, 1, 2, i) + (pick(4, i, i) or 5)
    s = s + pass(add, i, 2) + pass(pass, add, i) + pass(pass, pass, add, 1, i, 3)
    s = s + add(all(i, 2, 3)) + (all(i)) + (first(i) or 0)
    local x, y, z = inc(i, s)
    s = (x + y + (z and 1 or 7)) % 100003
    local l, f, e = list(i, 2, 3)
    s = s + l + f + e
    l = list()
    s = s + l
    l, f = mixed(i, i)
    s = s + l + f
    l, f = mixed(i)
    s = s + l + (f or 11)
    s = s + sum(i, nil, 3) + total(1, 2, i)
    -- more results than the caller has registers
    s = s + last(eight(i)) + total(eight(i)) + pass(last, eight(i))
    s = s + last(many(i)) + total(many(i)) + pass(last, many(i)) + (select("#", all(many(i))))
  end
  return s
end
print(run(300))
print(run(3))

-- the values may be of any type
local function id(...) return (...) end
local values = {1, 2.5, "s", true, {}, print}
local kinds = {}
for i = 1, 600 do
  local v = values[i % #values + 1]
  kinds[i % #values + 1] = type(id(v, i)) .. type(pick(2, i, v)) .. type(id())
end
print(table.concat(kinds, " "))

-- errors name what they always do, and the arguments are where debuggers look for them
local function strip(m) return (m:gsub("^.-:%d+: ", "")) end
local function bad(i, ...) return (select(i, ...)) end
for i = 1, 300 do
  local ok, m = pcall(bad, i == 299 and 0 or i == 300 and -2 or 1, i)
  if not ok then print(strip(m)) end
end
local function selects(n)
  local r = 0
  for i = 1, n do
    local v = bad(i > n - 3 and -1 or 1, i, i + 1)
    r = r + v
  end
  return r
end
print(selects(300), pcall(selects, 0))
local function worse(i, ...) return (select(i, ...)) end
local function select_none(n)
  local r = 0
  for i = 1, n do r = r + worse(i < n and 1 or 0, i) end
  return r
end
local ok, m = pcall(select_none, 300)
print(ok, strip(m))

-- functions that are not inlined are passed more values than the caller has registers
local function greatest(i) local x = math.max(many(i)) return x end
local function joined(...) local x = string.format("%d%d%d%d%d%d%d%d", ...) return x end
local function counted(i) local t = {many(i)} return #t end
local function some(i, f) local x = f(many(i)) return x end
local others = {math.min, last, sum, tostring}
local function passes(n)
  local s, text = 0, ""
  for i = 1, n do
    s = s + greatest(i) + counted(i) + #joined(many(i)) + tonumber(some(i, others[i % 4 + 1]))
    s = s + some(i < n and i or i + 0.5, last)
  end
  return s
end
print(passes(300))

local function locals(...)
  local found = {}
  for n = -1, -4, -1 do
    local name, v = debug.getlocal(2, n)
    found[#found + 1] = name and tostring(v) or "none"
  end
  return table.concat(found, " ")
end
local function shown(a, ...)
  local r = a == 300 and locals()
  local x, y = ...
  return r, x, y
end
local function change(...)
  debug.setlocal(2, -2, "changed")
end
local function changed(a, ...)
  if a >= 299 then change() end
  local x, y = ...
  return x, y, select("#", ...)
end
local function debugged(n)
  local r, x, y, c
  for i = 1, n do
    r, x, y = shown(i, "x", i)
    if r then print(r, x, y) end
    x, y, c = changed(i, i, "b", nil)
    if i >= 298 then print(x, y, c) end
  end
end
debugged(300)

-- a frame that is left continues with its arguments, also with open results
local function leaves(a, ...)
  local s = a + 1
  return s, select("#", ...), ...
end
local function left(n)
  local out = {}
  for i = 1, n do
    local a, b, c, d = leaves(i < n and i or i + 0.5, i, {i})
    if i >= n - 1 then out[#out + 1] = a .. " " .. b .. " " .. c .. " " .. d[1] end
    local t = {leaves(i < n - 1 and i or 2 ^ 53, all(i, nil, i))}
    if i >= n - 2 then out[#out + 1] = t[1] .. " " .. t[2] .. " " .. t[3] .. " " .. t[5] end
  end
  return table.concat(out, ", ")
end
print(left(300))

-- yields, tracebacks and tail calls from inside
local function yields(...)
  local a = coroutine.yield(...)
  return a, ...
end
local co = coroutine.wrap(function()
  local s = 0
  for i = 1, 200 do
    local a, b, c = yields(i, i + 1)
    s = s + a + b + c
  end
  return s
end)
local sent, got = 0, co()
for i = 1, 199 do
  sent = sent + i
  got = co(i)
end
print(sent, got, co(200))
local function levels()
  local names = {}
  for level = 1, 4 do
    local info = debug.getinfo(level, "nSt")
    names[level] = info.what .. (info.istailcall and "!" or "") .. (info.name or "?")
  end
  return table.concat(names, " ")
end
local function traced(a, ...)
  local r = a == 250 and levels(...) or ...
  return r
end
local function passed(f, ...) return f(...) end
local function traces(n)
  local r
  for i = 1, n do r = passed(traced, i, i) or r end
  return r
end
print(traces(250))

-- metamethods
local mt = {}
mt.__add = function(...) local a, b = ... return select("#", ...) + a.n + b end
mt.__index = function(t, ...) return select("#", ...) .. (...) end
mt.__len = function(...) return select("#", ...) end
local function methods(n)
  local t, s = setmetatable({n = 1}, mt), 0
  for i = 1, n do s = s + (t + i) + #t + #t.x end
  return s
end
print(methods(300))

-- objects that only the arguments keep alive
local function keep(...)
  local made = 0
  for i = 1, 3 do made = made + #{{}, {}} end
  local a, b = ...
  return a[1] + b[1] + made
end
local function kept(n)
  local s = 0
  for i = 1, n do s = s + keep({i}, {i + 1}, {}) end
  return s
end
print(kept(2000))
