-- Mathematical functions at the limits of integers and floats (6.7).
-- expect: ok
--| 0 0 0 0 0f
--| 0 0 0f 0 0f
--| 0 1 0.5f 0 0.5f
--| -1 0 0.5f 0 -0.5f
--| 2 3 2.5f 2 0.5f
--| -3 -2 2.5f -2 -0.5f
--| 9007199254740992 9007199254740992 9.007199254741e+15f 9007199254740992 0f
--| 9.2233720368548e+18f 9.2233720368548e+18f 9.2233720368548e+18f 9.2233720368548e+18f 0f
--| -9223372036854775808 -9223372036854775808 9.2233720368548e+18f -9223372036854775808 0f
--| -1.3835058055282e+19f -1.3835058055282e+19f 1.3835058055282e+19f -1.3835058055282e+19f 0f
--| 9223372036854775807 9223372036854775807 9223372036854775807 9223372036854775807 0f
--| -9223372036854775808 -9223372036854775808 -9223372036854775808 -9223372036854775808 0f
--| inff inff inff inff 0f
--| -inff -inff inff -inff 0f
--| nanf nanf nanf nanf nanf
--| 0 1 4.9406564584125e-324f 0 4.9406564584125e-324f
--| 1e+308f 1e+308f 1e+308f 1e+308f 0f
--| 10 10 10f 10 0f
--| -3 -2 2.7f -2 -0.7f
--| 16 16 16f 16 0f
--| 3
--| nil
--| 3
--| 3
--| 16
--| 7
--| nil
--| nil
--| -9223372036854775808
--| nil
--| nil
--| nil
--| nil
--| nil
--| 9223372036854775807
--| nil
--| 100
--| 1
--| -1
--| 1
--| 0
--| 0
--| 0
--| 1.5f
--| -1.5f
--| 2f
--| 5f
--| -5f
--| nanf
--| nanf
--| nanf
--| 0
--| 0
--| -0f
--| 2f
--| 4.9406564584125e-324f
--| false	bad argument #2 to 'math.fmod' (zero)
--| false	bad argument #2 to 'math.fmod' (zero)
--| false	bad argument #2 to 'math.fmod' (zero)
--| nanf
--| 3 1f 1 -0f 0 nanf 1 9.2233720368548e+18f 9.2233720368548e+18f 2 9223372036854775807 -inff -9223372036854775808 nanf
--| false	attempt to compare string with number
--| false	attempt to compare number with string
--| 0f -0f inff nanf 2.2227587494851e-162f 1.4142135623731f inff 0f 0f 2.718281828459f 1.6487212707001f
--| 3f 9.9657842846621f -inff nanf
--| 0.90308998699194f 3f -inff nanf
--| 3f 9.9657842846621f -inff nanf
--| 0.90308998699194f 3f -inff nanf
--| 1.8927892607144f 6.2877098228682f -inff nanf
--| -0f -0f nanf nanf
--| inff inff -inff nanf
--| nanf nanf nanf nanf
--| 0f 0f nanf nanf
--| -3f -9.9657842846621f inff nanf
--| 0.75f 2.4914460711655f -inff nanf
--| inff -inff -inff -744.44007192138f 43.668272375277f 10f 15f 2.0794415416798f
--| 0f 1f 0f 0f 1.5707963267949f 0f
--| -0f 1f -0f -0f 1.5707963267949f -0f
--| 0.4794255386042f 0.87758256189037f 0.54630248984379f 0.5235987755983f 1.0471975511966f 0.46364760900081f
--| 0.8414709848079f 0.54030230586814f 1.5574077246549f 1.5707963267949f 0f 0.78539816339745f
--| -0.8414709848079f 0.54030230586814f -1.5574077246549f -1.5707963267949f 3.1415926535898f -0.78539816339745f
--| 0.90929742682568f -0.41614683654714f -2.1850398632615f nanf nanf 1.1071487177941f
--| -0.48750602508751f 0.87311962267686f -0.55834963781124f nanf nanf 1.5707963266949f
--| -0.85220084976719f 0.52321478539514f -1.6287782256069f nanf nanf 1.5707963267949f
--| nanf nanf nanf nanf nanf 1.5707963267949f
--| nanf nanf nanf nanf nanf nanf
--| 0f
--| 3.1415926535898f
--| -0f
--| -3.1415926535898f
--| 1.5707963267949f
--| -1.5707963267949f
--| 0f
--| -3.1415926535898f
--| 0.78539816339745f
--| -0.78539816339745f
--| 2.3561944901923f
--| 0f
--| 3.1415926535898f
--| nanf
--| 0.46364760900081f
--| 57.295779513082f 180f 3.1415926535898f 0.017453292519943f inff 3.1415926535898f 9223372036854775807 -9223372036854775808 inff
--| false false true true false true
--| integer	float	nil	nil	nil	float	integer	float	float	integer
--| false	bad argument #1 to 'math.type' (value expected)
--| false	bad argument #1 to 'math.abs' (number expected, got string)
--| 5.0	5.0	5	4.0
--| abs acos asin ceil deg floor fmod huge max maxinteger min mininteger modf pi rad random randomseed sqrt tointeger type ult
--| false	limits.lua:175: bad argument #1 to 'atan' (number expected, got no value)
--| false	limits.lua:176: bad argument #2 to 'atan' (number expected, got table)
--| false	limits.lua:177: bad argument #1 to 'atan' (number expected, got string)
local max, min, huge, nan = math.maxinteger, math.mininteger, math.huge, 0/0
local function show(...)
  local r = table.pack(...)
  for i = 1, r.n do
    local x = r[i]
    r[i] = math.type(x) == "float" and ("%.14g"):format(x):gsub("^%-?nan$", "nan") .. "f"
      or tostring(x)
  end
  print(table.concat(r, " ", 1, r.n))
end
for _, x in ipairs({ 0, -0.0, 0.5, -0.5, 2.5, -2.5, 2^53 + 0.0, 2^63, -2^63, -2^63 * 1.5, max, min,
  huge, -huge, nan, 5e-324, 1e308, "10", "-2.7", "0x10" }) do
  show(math.floor(x), math.ceil(x), math.abs(x), math.modf(x))
end
for _, x in ipairs({ 3.0, 3.5, "3", "3.0", "0x10", " 7 ", "x", 2^63, -2^63, max + 0.0, huge, nan,
  {}, true, "9223372036854775807", "9223372036854775808", "1e2" }) do
  show(math.tointeger(x))
end
for _, p in ipairs({ { 7, 3 }, { -7, 3 }, { 7, -3 }, { min, -1 }, { min, 1 }, { max, -1 },
  { 7.5, 2 }, { -7.5, 2 }, { 7, 2.5 }, { 5, huge }, { -5, huge }, { huge, 5 }, { 5, 0.0 },
  { nan, 1 }, { 0, -1 }, { -6, 2 }, { -0.0, 2 }, { 1e308, 3 }, { 5e-324, 1 } }) do
  show(math.fmod(p[1], p[2]))
end
print(pcall(math.fmod, 1, 0)); print(pcall(math.fmod, 0, 0)); print(pcall(math.fmod, min, 0))
show(math.fmod(1, 0.0))
show(math.max(1, 2, 3), math.max(1.0, 1), math.max(1, 1.0), math.max(-0.0, 0), math.max(0, -0.0),
  math.max(nan, 1), math.max(1, nan), math.max(max, max + 0.0), math.max(max + 0.0, max),
  math.max("2", "10"), math.min(huge, max), math.min(-huge, min),
  math.min(min, min + 0.0), math.min(nan, nan))
print(pcall(math.max, "10", 9)); print(pcall(math.min, "1", 2))
show(math.sqrt(0), math.sqrt(-0.0), math.sqrt(huge), math.sqrt(-1), math.sqrt(5e-324), math.sqrt(2),
  math.exp(710), math.exp(-750), math.exp(-huge), math.exp(1), math.exp(0.5))
for _, b in ipairs({ 2, 10, 2.0, 10.0, 3, 0, 1, -1, huge, 0.5, 16 }) do
  show(math.log(8, b), math.log(1000, b), math.log(0, b), math.log(-1, b))
end
show(math.log(huge), math.log(0), math.log(-0.0), math.log(5e-324), math.log(max),
  math.log(1024, 2), math.log(1e15, 10), math.log(8, nil))
for _, x in ipairs({ 0, -0.0, 0.5, 1, -1, 2, 1e10, 1e22, huge, nan }) do
  show(math.sin(x), math.cos(x), math.tan(x), math.asin(x), math.acos(x), math.atan(x))
end
for _, p in ipairs({ { 0, 1 }, { 0, -1 }, { -0.0, 1 }, { -0.0, -1 }, { 1, 0 }, { -1, 0 }, { 0, 0 },
  { -0.0, -0.0 }, { huge, huge }, { -huge, huge }, { huge, -huge }, { 1, huge }, { 1, -huge },
  { nan, 1 }, { 1, 2 } }) do
  show(math.atan(p[1], p[2]))
end
show(math.deg(1), math.deg(math.pi), math.rad(180), math.rad(1), math.deg(huge), math.pi, max, min,
  huge)
show(math.ult(0, 0), math.ult(-1, 0), math.ult(0, -1), math.ult(max, min), math.ult(min, max),
  math.ult(2.0, "3"))
print(math.type(1), math.type(1.0), math.type("1"), math.type(nil), math.type({}), math.type(2^53),
  math.type(1 // 1), math.type(1 / 1), math.type(1e2), math.type(0x7fffffffffffffff + 1))
print(pcall(math.type)); print(pcall(math.abs, "x"))
print(math.abs("5"), math.abs("-5.0"), math.floor("5.5"), math.sqrt("16"))
local names = {} for name in pairs(math) do names[#names + 1] = name end table.sort(names)
local standard = {}
for _, name in ipairs(names) do
  if not ("pow sinh cosh tanh frexp ldexp log10 atan2"):find(name, 1, true) then
    standard[#standard + 1] = name
  end
end
print(table.concat(standard, " "))
print(pcall(function() return math.atan() end))
print(pcall(function() return math.atan(1, {}) end))
print(pcall(function() local r = math.atan("x"); return r end))
