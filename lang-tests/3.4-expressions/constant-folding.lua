-- Folded constants give what the operators give at run time (3.4).
-- expect: ok
--| 1 + 2	3	true
--| 7 // 2	3	true
--| 7 % 3	1	true
--| 7.5 // 2	3.0	true
--| 2 ^ 10	1024.0	true
--| 1 / 3	0.33333333333333	true
--| 3 - 5	-2	true
--| 3 * 1.5	4.5	true
--| 5 & 3	1	true
--| 5 | 3	7	true
--| 5 ~ 3	6	true
--| 1 << 62	4611686018427387904	true
--| 1 >> 1	0	true
--| -7	-7	true
--| ~7	-8	true
--| -7.25	-7.25	true
--| 9223372036854775807 + 1	-9223372036854775808	true
--| 2 ^ 53 + 1	9.007199254741e+15	true
--| 0.1 + 0.2	0.3	true
--| 10 // 0.3	33.0	true
--| 5 % 2.5	0.0	true
--| false	false	[string "return 1 % 0"]:1: attempt to perform 'n%0'
--| inf	inf	-0.0	-0.0	-inf	-inf
--| false	false	[string "return 'a' + 1"]:1: attempt to add a 'string' with a 'number'

local function same(source)
  local folded = load("return " .. source)()
  local numbers = {}
  local args = source:gsub("[%d.]+", function(n)
    numbers[#numbers + 1] = load("return " .. n)(); return "a" .. #numbers
  end)
  local names = {}
  for i = 1, #numbers do names[i] = "a" .. i end
  local run = load("local " .. table.concat(names, ", ") .. " = ... return "
    .. args)(table.unpack(numbers))
  print(source, folded, folded == run and math.type(folded) == math.type(run))
end
same("1 + 2"); same("7 // 2"); same("7 % 3"); same("7.5 // 2"); same("2 ^ 10"); same("1 / 3")
same("3 - 5"); same("3 * 1.5"); same("5 & 3"); same("5 | 3"); same("5 ~ 3"); same("1 << 62")
same("1 >> 1")
same("-7"); same("~7"); same("-7.25"); same("9223372036854775807 + 1"); same("2 ^ 53 + 1")
same("0.1 + 0.2"); same("10 // 0.3"); same("5 % 2.5")
print(pcall(load("return 1 // 0")), pcall(load("return 1 % 0")))
print(1 / 0, 1 // 0.0, -(0.0), 0.0 * -1, 1 / (0.0 * -1), 1 / -0.0)
print(pcall(load("return 1 & 1.5")), pcall(load("return 'a' + 1")))
