-- Floats as keys of arrays in loops that are optimized: those that equal an integer are it (2.1).
-- expect: ok
--| 5050	100000	19050	5050
--| 50	float	1	1.0
--| 0.5	1.5	50
--| false	true	false	true
--| 100	51	integer
local function sum(t, a, b)
  local s = 0
  for j = a, b do s = s + (t[j] or 1000) end
  return s
end
local t = {}
for i = 1, 100 do t[i] = i end
for _ = 1, 300 do sum(t, 1.0, 100) end
print(sum(t, 1.0, 100), sum(t, 0.5, 100), sum(t, -3.0, 110), sum(t, 1, 100))

local function put(t, a, b)
  for j = a, b do t[j] = j end
  return #t
end
for _ = 1, 300 do put({}, 1.0, 50) end
local u = {}
print(put(u, 1.0, 50), math.type(u[3]), next(u))
put(u, 0.5, 3)
print(u[0.5], u[1.5], #u)

-- Not a number, infinite, and too large for an integer.
local function store(t, k) t[k / 1] = k return t[k / 1] == k end
for i = 1, 300 do store(t, i % 100 + 1) end
local function tried(k)
  local ok, message = pcall(store, {}, k)
  return ok or not message:find("index is NaN")
end
print(tried(0 / 0), tried(1 / 0), tried(0 / 0), tried(2 ^ 63))
store(t, -0.0)
local n, last = 0, nil
for k in pairs(t) do n = k == 0 and k or n if k == 50 then last = k end end
print(#t, t[50 / 1] and 51, math.type(n))
