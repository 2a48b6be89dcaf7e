-- The string metatable: methods, and arithmetic on strings (6.4, 3.4.3).
-- expect: ok
--| true	1	1	true	nil
--| __add __div __idiv __index __mod __mul __pow __sub __unm
--| byte char dump find format gmatch gsub len lower match pack packsize rep reverse sub unpack upper
--| 15	12	16	9.0	3	3	8.0	-2	-2.0	5.0	6	9007199254740993	-9223372036854775808	2.0
--| 'a' + 1	false	e:1: attempt to add a 'string' with a 'number'
--| 1 + 'a'	false	e:1: attempt to add a 'number' with a 'string'
--| {} + '1'	false	e:1: attempt to add a 'table' with a 'string'
--| '1' + {}	false	e:1: attempt to add a 'string' with a 'table'
--| -'x'	false	e:1: attempt to unm a 'string' with a 'string'
--| '1' + nil	false	e:1: attempt to add a 'string' with a 'nil'
--| 'abc' * 'def'	false	e:1: attempt to mul a 'string' with a 'string'
--| '1' & 'x'	false	e:1: attempt to perform bitwise operation on a string value (constant '1')
--| '1.5' | 1	false	e:1: attempt to perform bitwise operation on a string value (constant '1.5')
--| ~'a'	false	e:1: attempt to perform bitwise operation on a string value (constant 'a')
--| 1 < '2'	false	e:1: attempt to compare number with string
--| '1' < 2	false	e:1: attempt to compare string with number
--| '10' .. {}	false	e:1: attempt to concatenate a table value
--| #5	false	e:1: attempt to get length of a number value
--| ('x')()	false	e:1: attempt to call a string value (constant 'x')
--| 'x'.y.z	false	attempt to call a nil value
--| '5' // 0	false	attempt to divide by zero
--| '5' % 0	false	attempt to perform 'n%0'
--| '5.0' // 0	true	inf
--| 2 ^ 'x'	false	e:1: attempt to pow a 'number' with a 'string'
--| '10' & 7	false	e:1: attempt to perform bitwise operation on a string value (constant '10')
--| '0xff' | 0	false	e:1: attempt to perform bitwise operation on a string value (constant '0xff')
--| '3' << 2	false	e:1: attempt to perform bitwise operation on a string value (constant '3')
--| ~'0'	false	e:1: attempt to perform bitwise operation on a string value (constant '0')
--| '2.0' ~ 1	false	e:1: attempt to perform bitwise operation on a string value (constant '2.0')
--| '2.5' & 1	false	e:1: attempt to perform bitwise operation on a string value (constant '2.5')
--| added true	added true	added false	minus
--| false	metatable-arithmetic.lua:61: attempt to add a 'string' with a 'userdata'
--| [both]
--| h	o		HELLO
--| called2
--| nil	false	bad argument #1 to 'setmetatable' (table expected, got string)
--| true
print(getmetatable("").__index == string, ("x"):len(), #"x", ("x").rep == string.rep, ("x").absent)
local names = {} for name in pairs(getmetatable("")) do names[#names + 1] = name end
table.sort(names); print(table.concat(names, " "))
local all = {} for name in pairs(string) do all[#all + 1] = name end table.sort(all)
print(table.concat(all, " "))
print("10" + 5, "3" * "4", "0x10" + 0, "1e1" - 1, 10 // "3", "7" % 4, "2" ^ 3, -"2", -"2.0",
  "10" / 2, " 5 " + 1, "9007199254740993" + 0, "9223372036854775807" + 1, "1" + 1.0)
for _, e in ipairs({ "'a' + 1", "1 + 'a'", "{} + '1'", "'1' + {}", "-'x'", "'1' + nil",
  "'abc' * 'def'", "'1' & 'x'", "'1.5' | 1", "~'a'", "1 < '2'", "'1' < 2", "'10' .. {}", "#5",
  "('x')()", "'x'.y.z", "'5' // 0", "'5' % 0", "'5.0' // 0", "2 ^ 'x'" }) do
  print(e, pcall(load("return " .. e, "=e")))
end
for _, e in ipairs({ "'10' & 7", "'0xff' | 0", "'3' << 2", "~'0'", "'2.0' ~ 1", "'2.5' & 1" }) do
  print(e, pcall(load("return " .. e, "=e")))
end
-- Another metamethod is asked when the strings are no numerals.
local other = setmetatable({}, {
  __add = function(a, b) return "added " .. tostring(b == "x" or a == "x") end,
  __unm = function() return "minus" end,
})
print("x" + other, other + "x", "10" + other, -other)
print(pcall(function() return "x" + io.stdout end))
string.trim = function(s) return (s:gsub("^%s+", ""):gsub("%s+$", "")) end
print(("[" .. ("  both  "):trim() .. "]")); string.trim = nil
getmetatable("").__index = function(s, k)
  return type(k) == "number" and s:sub(k, k) or string[k]
end
local s = "hello"; print(s[1], s[5], s[9], s:upper()); getmetatable("").__index = string
getmetatable("").__call = function(s, ...) return s .. select("#", ...) end; print(("called")(1, 2))
getmetatable("").__call = nil
print(getmetatable("").__name, pcall(setmetatable, "x", {}))
print(debug.getmetatable("x") == getmetatable("y"))
