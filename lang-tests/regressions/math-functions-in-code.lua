-- Functions of floats are called by machine code with floats, and random numbers are computed in
-- it: the results, the errors and the sequence are those of the functions.
-- expect: ok
--| acos	9.424778	nan	1.570796
--| asin	0.000000	nan	1.570796
--| atan	45.775718	2.636731	-1.570796
--| atan2	-3.141593	3.141593	-2.356194
--| cos	0.467711	nan	0.540302
--| exp	inf	0.000000	inf
--| fmod	-1	1	0	0	0.500000	-0.500000
--| log	inf	nan	0.000000
--| sin	0.032700	nan	0.841471
--| tan	-9.016097	nan	1.557408
--| bad argument #1 to 'sin' (number expected, got table)
--| bad argument #1 to 'log' (number expected, got nil)
--| bad argument #2 to 'atan' (number expected, got string)
--| bad argument #2 to 'fmod' (zero)
--| bad argument #1 to 'random' (interval is empty)
--| bad argument #1 to 'random' (interval is empty)
--| bad argument #1 to 'random' (number has no integer representation)
--| wrong number of arguments
--| 3.000000	0.301030	2.321928
--| sin is 7
--| random	162630557	504.9	51.5	2625	32

local function f6(x) return (string.format("%.6f", x):gsub("%-nan", "nan")) end
local function hot(f, ...)
  local r
  for _ = 1, 300 do r = f(...) end
  return r
end
local inf, nan = math.huge, 0 / 0

-- each loop keeps its function in place, and gets integers, floats and strings
local function sum_acos(n) local s = 0 for i = -n, n do s = s + math.acos(i / n) end return s end
print("acos", f6(hot(sum_acos, 2.5)), f6(math.acos(2)), f6(math.acos(0)))
local function sum_asin(n) local s = 0 for i = -n, n do s = s + math.asin(i / n) end return s end
print("asin", f6(hot(sum_asin, 2.5)), f6(math.asin(2)), f6(math.asin(1)))
local function sum_atan(a, b)
  local s = 0
  for i = a, b do s = s + math.atan(i) end
  return s
end
print("atan", f6(hot(sum_atan, -10, 40)), f6(hot(sum_atan, 0.5, 3)), f6(math.atan(-inf)))
local function atan2(y, x) return math.atan(y, x) end
print("atan2", f6(hot(atan2, -0.0, -1)), f6(hot(atan2, 0, -1)), f6(hot(atan2, -1, "-1")))
local function sum_cos(n) local s = 0 for i = 0, n do s = s + math.cos(i) end return s end
print("cos", f6(hot(sum_cos, 100)), f6(hot(math.cos, inf)), f6(hot(math.cos, 1)))
local function exp(x) return math.exp(x) end
print("exp", f6(hot(exp, 1000)), f6(hot(exp, -1000)), f6(hot(exp, inf)))
local function fmod(a, b) return math.fmod(a, b) end
print("fmod", hot(fmod, -7, 3), hot(fmod, 7, -3), hot(fmod, 7, -1),
  hot(fmod, math.mininteger, -1), f6(hot(fmod, 2.5, 1)), f6(hot(fmod, -2.5, 2)))
local function log(x) return math.log(x) end
print("log", f6(hot(log, inf)), f6(hot(log, -1)), f6(hot(log, 1)))
local function sum_sin(n) local s = 0 for i = 0, n do s = s + math.sin(i) end return s end
print("sin", f6(hot(sum_sin, 200)), f6(hot(math.sin, inf)), f6(hot(math.sin, 1)))
local function sum_tan(n) local s = 0 for i = 0, n do s = s + math.tan(i) end return s end
print("tan", f6(hot(sum_tan, 10)), f6(hot(math.tan, inf)), f6(hot(math.tan, 1)))

-- arguments of other types, where code has met numbers only
local function message(f, ...)
  local _, e = pcall(f, ...)
  print((e:gsub("^[^ ]*:%d+: ", "")))
end
local function sin(x) return math.sin(x) end
hot(sin, 1) hot(sin, 1.5) hot(sin, "2")
message(sin, {})
message(log, nil)
message(atan2, 1, "x")
message(fmod, 5, 0)
local function one(n) return math.random(n) end
local function two(a, b) return math.random(a, b) end
local function none() return math.random() end
hot(one, 6) hot(two, -3, 3) hot(none)
message(one, -1)
message(two, 3, 2)
message(one, 1.5)
local function three(a, b, c) return math.random(a, b, c) end
message(three, 1, 2, 3)
local function base(x, b) return math.log(x, b) end
print(f6(hot(base, 8, 2)), f6(hot(base, 2, 10)), f6(hot(base, 5, 2)))

-- another function in its place
local calls = 0
local before = math.sin
local function last(n)
  local r
  for i = 1, n do
    if i == 500 then math.sin = function() calls = calls + 1 return 7 end end
    r = math.sin(i)
  end
  return r
end
for _ = 1, 20 do last(499) end
print("sin is " .. last(1000))
assert(calls == 501)
math.sin = before

-- the sequence of a seed, in all kinds of calls, also where a number takes several of it
math.randomseed(42)
local mixed, floats, small, wide, zero = 0, 0, 0, 0, 0
for i = 1, 1000 do
  mixed = (mixed * 31 + math.random(i)) % 2147483647
  floats = floats + math.random()
  small = small + math.random(-3, 2)
  if math.random(math.mininteger, math.maxinteger) % 7 == 3 then wide = wide + 1 end
  wide = wide + math.random(5, 5) - math.random(1, 4)
  zero = zero + math.random(0) % 2
  if i % 100 == 0 then zero = zero + math.random(6.0) % 2 end
end
print("random", mixed, string.format("%.1f", floats), string.format("%.1f", zero / 10), wide,
  small % 100)
