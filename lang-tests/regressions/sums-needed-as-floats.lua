-- Sums of integers and floats that are only needed as floats are computed as floats. Integers that
-- are too large for that, the sign of zero, and the sum that a metamethod sees stay as they are in
-- the interpreter.
-- expect: ok
--| 177.25	130.625	33.75	24.0
--| 3.25	-0.75
--| 0x1p+49 0x0p+0
--| 0x1.0000000000008p+48 0x1.ffffffffffffp+47
--| 0x0p+0 -0x1p+49
--| 0x1.0000000000008p+48 -0x1.ffffffffffffp+47
--| 0x1.0000000000004p+48 0x1.ffffffffffff8p+47
--| 0x1.0000000000004p+48 -0x1.ffffffffffff8p+47
--| 0x1.00000000000ap+48
--| 0x1.0000000000048p+49
--| 0x1.800000000004p+49
--| 0x1.000000000001cp+50
--| 0x1.4000000000018p+50
--| 0x1.8000000000014p+50
--| 0x1.c00000000001p+50
--| 0x1.0000000000006p+51
--| 0x1.2000000000004p+51
--| 0x1.4000000000002p+51
--| 0x1.6p+51
--| 0x1.ffffffffffff8p+49 0x0p+0
--| 0x1p+49 0x1.ffffffffffffp+48
--| 0x0p+0 -0x1.ffffffffffff8p+49
--| 0x1p+49 -0x1.ffffffffffffp+48
--| 0x1.ffffffffffffcp+48 0x1.ffffffffffff4p+48
--| 0x1.ffffffffffffcp+48 -0x1.ffffffffffff4p+48
--| 0x1.000000000004cp+49
--| 0x1.000000000002p+50
--| 0x1.800000000001ap+50
--| 0x1.000000000000ap+51
--| 0x1.4000000000007p+51
--| 0x1.8000000000004p+51
--| 0x1.c000000000001p+51
--| 0x1.ffffffffffffep+51
--| 0x1.1fffffffffffep+52
--| 0x1.3fffffffffffcp+52
--| 0x1.5fffffffffffap+52
--| 0x1p+50 0x0p+0
--| 0x1.0000000000004p+49 0x1.ffffffffffff8p+48
--| 0x0p+0 -0x1p+50
--| 0x1.0000000000004p+49 -0x1.ffffffffffff8p+48
--| 0x1.0000000000002p+49 0x1.ffffffffffffcp+48
--| 0x1.0000000000002p+49 -0x1.ffffffffffffcp+48
--| 0x1.000000000005p+49
--| 0x1.0000000000024p+50
--| 0x1.800000000002p+50
--| 0x1.000000000000ep+51
--| 0x1.400000000000cp+51
--| 0x1.800000000000ap+51
--| 0x1.c000000000008p+51
--| 0x1.0000000000003p+52
--| 0x1.2000000000002p+52
--| 0x1.4000000000001p+52
--| 0x1.6p+52
--| 0x1.0000000000004p+50 0x0p+0
--| 0x1.0000000000008p+49 0x1p+49
--| 0x0p+0 -0x1.0000000000004p+50
--| 0x1.0000000000008p+49 -0x1p+49
--| 0x1.0000000000006p+49 0x1.0000000000002p+49
--| 0x1.0000000000006p+49 -0x1.0000000000002p+49
--| 0x1.0000000000054p+49
--| 0x1.0000000000028p+50
--| 0x1.8000000000026p+50
--| 0x1.0000000000012p+51
--| 0x1.4000000000011p+51
--| 0x1.800000000001p+51
--| 0x1.c00000000000fp+51
--| 0x1.0000000000007p+52
--| 0x1.2000000000006p+52
--| 0x1.4000000000006p+52
--| 0x1.6000000000006p+52
--| 0x1.fffffffffffffp+52 0x0p+0
--| 0x1p+52 0x1.ffffffffffffep+51
--| 0x0p+0 -0x1.fffffffffffffp+52
--| 0x1p+52 -0x1.ffffffffffffep+51
--| 0x1p+52 0x1.ffffffffffffep+51
--| 0x1p+52 -0x1.ffffffffffffep+51
--| 0x1.000000000000ap+52
--| 0x1.0000000000004p+53
--| 0x1.8000000000003p+53
--| 0x1.0000000000001p+54
--| 0x1.4000000000001p+54
--| 0x1.8p+54
--| 0x1.cp+54
--| 0x1p+55
--| 0x1.2p+55
--| 0x1.4p+55
--| 0x1.5ffffffffffffp+55
--| 0x1p+53 0x0p+0
--| 0x1p+52 0x1.fffffffffffffp+51
--| 0x0p+0 -0x1p+53
--| 0x1p+52 -0x1.fffffffffffffp+51
--| 0x1p+52 0x1p+52
--| 0x1p+52 -0x1p+52
--| 0x1.000000000000ap+52
--| 0x1.0000000000004p+53
--| 0x1.8000000000004p+53
--| 0x1.0000000000002p+54
--| 0x1.4000000000002p+54
--| 0x1.8000000000001p+54
--| 0x1.c000000000001p+54
--| 0x1p+55
--| 0x1.2p+55
--| 0x1.4p+55
--| 0x1.6p+55
--| 0x1p+53 0x0p+0
--| 0x1.0000000000001p+52 0x1p+52
--| 0x0p+0 -0x1p+53
--| 0x1.0000000000001p+52 -0x1p+52
--| 0x1p+52 0x1p+52
--| 0x1p+52 -0x1p+52
--| 0x1.000000000000ap+52
--| 0x1.0000000000005p+53
--| 0x1.8000000000005p+53
--| 0x1.0000000000002p+54
--| 0x1.4000000000002p+54
--| 0x1.8000000000002p+54
--| 0x1.c000000000002p+54
--| 0x1.0000000000001p+55
--| 0x1.2000000000001p+55
--| 0x1.4000000000001p+55
--| 0x1.6000000000001p+55
--| 0x1.0000000000002p+53 0x0p+0
--| 0x1.0000000000002p+52 0x1.0000000000001p+52
--| 0x0p+0 -0x1.0000000000002p+53
--| 0x1.0000000000002p+52 -0x1.0000000000001p+52
--| 0x1.0000000000002p+52 0x1.0000000000002p+52
--| 0x1.0000000000002p+52 -0x1.0000000000002p+52
--| 0x1.000000000000cp+52
--| 0x1.0000000000006p+53
--| 0x1.8000000000006p+53
--| 0x1.0000000000003p+54
--| 0x1.4000000000003p+54
--| 0x1.8000000000004p+54
--| 0x1.c000000000004p+54
--| 0x1.0000000000002p+55
--| 0x1.2000000000002p+55
--| 0x1.4000000000002p+55
--| 0x1.6000000000002p+55
--| -0x1p+62 0x0p+0
--| 0x1p+61 0x1p+61
--| 0x0p+0 -0x1p+62
--| 0x1p+61 -0x1p+61
--| 0x1p+61 0x1p+61
--| 0x1p+61 -0x1p+61
--| 0x1p+61
--| -0x1p+62
--| -0x1p+61
--| 0x1.cp+2
--| 0x1p+61
--| -0x1p+62
--| -0x1p+61
--| 0x1.8p+1
--| 0x1p+61
--| -0x1p+62
--| -0x1p+61
--| -0x1p+0 0x0p+0
--| -0x1p+62 0x1p+62
--| 0x0p+0 0x1p+0
--| -0x1p+62 -0x1p+62
--| 0x1p+62 0x1p+62
--| 0x1p+62 -0x1p+62
--| -0x1p+62
--| 0x1p+3
--| -0x1p+62
--| 0x1.4p+2
--| -0x1p+62
--| 0x1p+1
--| -0x1p+62
--| -0x1p+0
--| 0x1p+62
--| -0x1p+2
--| 0x1p+62
--| 0x0p+0 0x0p+0
--| -0x1p+62 0x1p+62
--| 0x0p+0 0x0p+0
--| -0x1p+62 -0x1p+62
--| -0x1p+62 -0x1p+62
--| -0x1p+62 0x1p+62
--| -0x1p+62
--| 0x1.2p+3
--| -0x1p+62
--| 0x1.cp+2
--| -0x1p+62
--| 0x1.4p+2
--| -0x1p+62
--| 0x1.8p+1
--| -0x1p+62
--| 0x1p+0
--| -0x1p+62
--| 0.0	0.0
--| 0.0	0.0
--| 0.0	0.0
--| 0.0	0.0
--| 0.0	0.0
--| 0.0	0.0
--| 0.0	-0.0
--| 0.0	-0.0
--| -0.0	0.0
--| integer	3
--| float	3.5
--| integer	1125899906842624
--| 6.0	7.0	2.2517998136852e+15
--| integer	1
--| integer	1
--| 6.0	6.0
--| 12.0	39.0
--| attempt to perform arithmetic on a nil value (field 'integer index')
--| attempt to perform arithmetic on a nil value (field 'integer index')
--| attempt to add a 'number' with a 'string'
--| attempt to add a 'string' with a 'nil'
--| attempt to perform arithmetic on a boolean value (field 'integer index')
--| attempt to perform arithmetic on a boolean value (field 'integer index')

local maxint, minint = math.maxinteger, math.mininteger

local function smooth(t, n)
  local sum = 0.0
  for i = 2, n - 1 do
    sum = sum + 0.25 * (t[i - 1] + t[i] - t[i + 1])
  end
  return sum
end

local function half(a, b)
  return (a[1] + b[1]) / 2, (a[1] - b[1]) / 2
end

local function long(t)
  return (t[1] + t[2] + t[3] + t[4] + t[5] + t[6] + t[7] + t[8] + t[9] + t[10] + t[11]) * 0.5
end

local function last(t, u)
  return (t[1] + t[2] + u[1]) * 2.0
end

local function list(n, f)
  local t = {}
  for i = 1, n do t[i] = f(i) end
  return t
end

local mixed = list(40, function(i) return i % 3 == 0 and i + 0.5 or i end)
local shifted = list(40, function(i) return i % 2 == 0 and i or i * 0.5 end)
local ints, floats = { 3, "" }, { 2.5, "" }
for _ = 1, 400 do
  smooth(mixed, 40)
  smooth(shifted, 40)
  half(ints, floats)
  half(floats, ints)
  half(ints, ints)
  long(mixed)
  long(shifted)
  last(mixed, ints)
  last(shifted, floats)
end
print(smooth(mixed, 40), smooth(shifted, 40), long(mixed), long(shifted))
print(smooth({ 1, 2.0, 3, 4, -5 }, 5), smooth({ 0, 0.5, 3, 4, 3 }, 4))

-- integers at the limits of what is exact, and overflow
local function show(...)
  local shown = { ... }
  for i, x in ipairs(shown) do shown[i] = string.format("%a", x) end
  print(table.concat(shown, " "))
end
for _, n in ipairs({ 1 << 49, (1 << 50) - 1, 1 << 50, (1 << 50) + 1, (1 << 53) - 1, 1 << 53,
  (1 << 53) + 1, (1 << 53) + 3, 1 << 62, maxint, minint }) do
  show(half({ n, "" }, { n, "" }))
  show(half({ n, "" }, { 1, "" }))
  show(half({ -n, "" }, { n, "" }))
  show(half({ 1, "" }, { n, "" }))
  show(half({ n, "" }, { 0.5, "" }))
  show(half({ 0.5, "" }, { n, "" }))
  for terms = 1, 11 do
    local t = list(11, function(i) return i <= terms and n or 2 end)
    t[12] = ""
    show(long(t))
  end
end

-- the sign of zero
local zeros = { { 0, "" }, { 0.0, "" }, { -0.0, "" } }
for _, a in ipairs(zeros) do
  for _, b in ipairs(zeros) do print(half(a, b)) end
end

-- what a metamethod sees of a sum
local seen = setmetatable({}, {
  __add = function(a, b)
    local n = math.type(a) and a or b
    print(math.type(n), n)
    return n
  end,
})
print(last({ 1, 2 }, { seen }), last({ 1, 2.5 }, { seen }), last({ 1 << 49, 1 << 49 }, { seen }))
print(last({ seen, 1 }, { 2 }), last({ 1, seen }, { 2 }))
print(last({ 1, "2" }, { 3 }), last({ "0x10", 2.5 }, { "1" }))
for _, bad in ipairs({ {}, { "x" }, { true } }) do
  local _, first = pcall(last, { 1, 2 }, bad)
  local _, second = pcall(last, bad, { 1, 2 })
  print((first:gsub("^.-:%d+: ", "")))
  print((second:gsub("^.-:%d+: ", "")))
end
