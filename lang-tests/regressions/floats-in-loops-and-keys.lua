-- Loops over floats, floats as keys, and arrays with a key 0 in hot code (3.3.5, 2.1).
-- expect: ok
--| 1275	50
--| 50275	99
--| 1275	50
--| 2196	9
--| 1275	50
--| 1	1
--| 1000	1
--| 3000	3
--| false	'for' step is zero
--| 1275	50
--| 1	1	integer
--| 2	2	integer
--| 3	3	integer
--| 4	4	float
--| 5	5	integer
--| 6	6	integer
--| 7	7	integer
--| 8	8	integer
--| 9	9	integer
--| 10	10	integer
--| 11	11	float
--| 12	12	integer
--| 13	13	float
--| 14	14	float
--| 15	15	float
--| 16	16	float
--| 3	1	2	3	6	7	12	10	nil
--| false	table index is NaN
--| 100	integer	100.0	50.0
--| 0
--| 30	zero	minus	n	half	yes	30	nil
--| 35	-1 0 1 10 11 12
--| 40	41	41
--| 12	far
local function try(f, ...)
  local ok, e = pcall(f, ...)
  print(ok, (tostring(e):gsub("^.-:%d+: ", "")))
end

local function sum(t, from, to, step)
  local s, n = 0, 0
  for i = from, to, step do s = s + (t[i] or 1000) n = n + 1 end
  return s, n
end
local t = {}
for i = 1, 50 do t[i] = i end
for _ = 1, 300 do sum(t, 1.0, 50, 1) end
print(sum(t, 1.0, 50, 1))
print(sum(t, 1.0, 50, 0.5))
print(sum(t, 50.0, 1, -1))
print(sum(t, 0.0, 60, 7))
print(sum(t, 1, 50, 1))
print(sum(t, 1.0, 0 / 0, 1))
print(sum(t, 0 / 0, 1, 1))
print(sum(t, 2.0 ^ 53, 2.0 ^ 53 + 4, 2))
try(sum, t, 1.0, 2, 0)
for _ = 1, 300 do sum(t, 50.0, 1, -1.0) end
print(sum(t, 50.0, 1, -1.0))

local function store(t, k, v) t[k] = v return t[k] end
for i = 1, 300 do store({}, i % 3 + 1.0, i) end
local keys = { 1.0, 2.0, 3.0, 2.5, 0.0, -0.0, -1.0, 2.0 ^ 31, 2.0 ^ 53, 2.0 ^ 62, 2.0 ^ 63,
  -2.0 ^ 63,
  -2.0 ^ 64, math.huge, -math.huge, 1e300 }
local u = {}
for n, k in ipairs(keys) do print(n, store(u, k, n), math.type(next({ [k] = 1 }))) end
print(#u, u[1], u[2], u[3], u[0], u[-1], u[math.mininteger], u[1 << 62], u[math.maxinteger])
try(store, {}, 0 / 0, 1)
local full = {}
for i = 1.0, 100.0 do full[i] = i end
print(#full, math.type(next(full)), full[100], full[50.0])
local function clear(t, n) for i = n, 1.0, -1.0 do t[i] = nil end return #t end
print(clear(full, 100))

-- arrays with a key 0, and with others that are not elements
local function fill(n)
  local a = { [0] = "zero", name = "n", [-1] = "minus" }
  a[2.5] = "half" a[true] = "yes"
  for i = 1, n do a[i] = i end
  return a
end
for _ = 1, 50 do fill(20) end
local a = fill(30)
print(#a, a[0], a[-1], a.name, a[2.5], a[true], a[30], a[31])
local order = {}
for k in pairs(a) do order[#order + 1] = tostring(k) end
table.sort(order)
print(#order, table.concat(order, " ", 1, 6))
-- elements that are in the hash part first
local function behind(n)
  local a = { [0] = 0 }
  for i = n, 2, -1 do a[i] = i end
  a[1] = 1
  local border = #a
  for i = 1, n do assert(a[i] == i) end
  a[n + 1] = n + 1
  return border, #a, a[n + 1]
end
for _ = 1, 50 do behind(40) end
print(behind(40))
local function hole(n)
  local a = { [0] = 0, [n] = "far" }
  for i = 1, n - 1 do a[i] = i end
  return #a, a[n]
end
for _ = 1, 50 do hole(12) end
print(hole(12))
