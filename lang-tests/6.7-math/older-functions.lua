-- Functions of older versions are there, as in PUC Lua when it is built as it is by default.
-- expect: ok
--| 1 1.1752011936438 -0.46211715726001
--| 1024 0.4 true
--| 3 -inf
--| 0 0
--| -0 0
--| 0.5 1
--| 0.5 0
--| -0.75 2
--| 0.74661089480258 997
--| 0.5 -1073
--| 0.71907725394493 -1028
--| inf 0
--| -inf 0
--| 1 0.75 -4.9406564584125e-324
--| 2 1.5 -9.8813129168249e-324
--| 0.5 0.375 -0
--| 8.9884656743116e+307 6.7413492557337e+307 -4.4408920985006e-16
--| inf 1.3482698511467e+308 -8.8817841970013e-16
--| 4.9406564584125e-324 4.9406564584125e-324 -0
--| 0 0 -0
--| inf inf -inf
--| 0 0 -0
--| 1 0.75 -4.9406564584125e-324
--| 9.8813129168249e-324 inf
--| true	true
--| true	true
--| true	true
--| true	true
--| false	bad argument #2 to 'math.pow' (number expected, got no value)
--| false	bad argument #2 to 'math.ldexp' (number has no integer representation)
--| false	bad argument #1 to 'math.frexp' (number expected, got table)
--| false	bad argument #1 to 'math.cosh' (number expected, got no value)
--| true	nil

local function show(...)
  local t = { ... }
  for i = 1, #t do
    t[i] = math.type(t[i]) == "float" and ("%.14g"):format(t[i]) or tostring(t[i])
  end
  print(table.concat(t, " "))
end
show(math.cosh(0), math.sinh(1), math.tanh(-0.5))
show(math.pow(2, 10), math.pow(2.5, -1), math.pow(-8, 1 / 3) ~= math.pow(-8, 1 / 3))
show(math.log10(1000), math.log10(0))
for _, x in ipairs { 0.0, -0.0, 1, 0.5, -3, 1e300, 5e-324, 2.5e-310, 1 / 0, -1 / 0 } do
  show(math.frexp(x))
end
for _, e in ipairs { 0, 1, -1, 1023, 1024, -1074, -1075, 3000, -3000, 1 << 32 } do
  show(math.ldexp(1, e), math.ldexp(0.75, e), math.ldexp(-5e-324, e))
end
show(math.ldexp(1.9999999999999998, -1074), math.ldexp(1 / 0, -5000))
for _, x in ipairs { 1, 0.1, 123456.789, -1e-310 } do
  local m, e = math.frexp(x)
  print(math.ldexp(m, e) == x, math.abs(m) >= 0.5 and math.abs(m) < 1)
end
print(pcall(math.pow, 1))
print(pcall(math.ldexp, 1, 1.5))
print(pcall(math.frexp, {}))
print(pcall(math.cosh))
print(math.atan2(1, -1) == math.atan(1, -1), math.mod)
