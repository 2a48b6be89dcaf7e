-- covers: integer division and remainder, which narrow operands do with 32 bits, and remainders of
-- floats, which are computed from the quotient
-- expect: ok
--| -50457309707732122	43	attempt to divide by zero, attempt to perform 'n%0'
--| -50457309707732122	43	attempt to divide by zero, attempt to perform 'n%0'
--| -50457309707732122	43	attempt to divide by zero, attempt to perform 'n%0'
--| -50457309707732122	43	attempt to divide by zero, attempt to perform 'n%0'
--| attempt to perform 'n%0'	1
--| attempt to divide by zero	1
--| 262306680	12.0	0.25
--| 13170	232
--| 13170	232
--| 13170	232
--| 5.5	-2.0	1.5	-0.5	0.1	5.5	-inf
--| 2.0	-5.5	0.5	-1.5	3.0531133177192e-16	inf	-5.5
--| 5.0	-2.5	1.0	-1.0	0.1	5.0	-inf
--| 2.5	-5.0	1.0	-1.0	2.7755575615629e-16	inf	-5.0
--| 1.5	-6.0	-0.0	-0.0	3.3306690738755e-16	inf	-6.0
--| 0.3	-7.2	0.3	-1.7	0.1	0.3	-inf
--| 2.5	-5.0	0.0	0.0	0.048884876874218	1e+17	-inf

local integers = {
  0, 1, 2, 3, 7, 10, 127, 255, 65535, 65536, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 1,
  1 << 32, (1 << 32) + 1, (1 << 33) - 3, (1 << 53) - 1, 1 << 53, math.maxinteger - 1,
  math.maxinteger, math.mininteger, math.mininteger + 1,
}
for i = 1, #integers do
  if integers[i] > 0 then integers[#integers + 1] = -integers[i] end
end
local function divide(x, y) return x // y, x % y end
local function rest(x, y) return x % y end
local function quotient(x, y) return x // y end
local function all(f, x, y)
  local a, b = pcall(f, x, y)
  return a and b or b:gsub("^.-:%d+: ", "")
end
for round = 1, 4 do
  local sum, text = 0, {}
  for _, x in ipairs(integers) do
    for _, y in ipairs(integers) do
      if y ~= 0 then
        local q, r = divide(x, y)
        assert(q == quotient(x, y) and r == rest(x, y))
        assert(q * y + r == x)
        sum = sum * 31 + q * 7 + r
      else
        text[#text + 1] = all(quotient, x, y) .. ", " .. all(rest, x, y)
      end
    end
  end
  print(sum, #text, text[1])
end
print(({ pcall(rest, 1, 0) })[2]:gsub("^.-:%d+: ", ""))
print(({ pcall(quotient, 1 << 40, 0) })[2]:gsub("^.-:%d+: ", ""))

-- the kinds of operands change while machine code runs
local function euclid(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end
local found = 0
for i = 1, 3000 do
  found = found + euclid(i * 12, 360)
  if i % 100 == 0 then found = found + euclid(i << 33, 12345 << 20) end
  if i % 100 == 50 then found = found + euclid(-i, 360) end
end
print(found, euclid(84.0, 36), euclid(0.75, 0.5))

local floats = {
  0.0, -0.0, 0.1, 0.3, 0.7, 1.0, 1.5, 3.0, 7.5, 2 * math.pi, 1e-300, 5e-324, 1e15 + 0.5, 2^52 + 1,
  2^53, 2^60, 1e100, 1.7976931348623157e308, 1 / 0, 123456.789,
}
for i = 1, #floats do floats[#floats + 1] = -floats[i] end
local function show(x) return x ~= x and "nan" or ("%a"):format(x) end
for round = 1, 3 do
  local h, nans = 0, 0
  for _, x in ipairs(floats) do
    for _, y in ipairs(floats) do
      local r = rest(x, y)
      if r ~= r then nans = nans + 1 end
      for c in show(r):gmatch(".") do h = (h * 33 + c:byte()) % 1000003 end
    end
  end
  print(h, nans)
end
for _, x in ipairs { 5.5, -5.5, 5.0, -5.0, -6.0, 0.3, 1e17 } do
  print(x % 7.5, x % -7.5, x % 2.0, x % -2.0, x % 0.1, x % (1 / 0), x % (-1 / 0))
end
