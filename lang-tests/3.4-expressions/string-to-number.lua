-- Strings that look like numbers are converted by arithmetic (3.4.3).
-- expect: ok
--| 11	11.0	11.0	16	20	7
--| 10.0	16.0	0.5	5.0	-3	3	false
--| 1020	1.5|	-0.0	9.2233720368548e+18	1e+100
--| 30	12	8.0	3	1.5	-5	-5.0
--| -9223372036854775808	9.2233720368548e+18	-1
--| false	false	true	true	false
--| ""	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| " "	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "abc"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "1a"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "1 2"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "0x"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "1e"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "--1"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "nan"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "inf"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "1_0"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "0b1"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| "1\0"	false	string-to-number.lua:31: attempt to add a 'string' with a 'number'
--| integer	float	float
print("10" + 1, "10" + 1.0, "10.0" + 1, "0x10" + 0, " 10 " * 2, "\t7\n" - 0)
print("1e1" + 0, "0x1p4" + 0, ".5" + 0, "5." + 0, "-3" + 0, "+3" + 0, "- 3" == "-3")
print(10 .. 20, 1.5 .. "|", -0.0 .. "", 2^63 .. "", 1e100 .. "")
print("10" + "20", "3" * "4", "2" ^ "3", "7" // "2", "7.5" % "2", -"5", -"5.0")
print("9223372036854775807" + 1, "9223372036854775808" + 0, "0xffffffffffffffff" + 0)
print("10" == 10, 10 == "10", "abc" < "abd", "10" < "9", "0x10" == 16)
for _, s in ipairs({ "", " ", "abc", "1a", "1 2", "0x", "1e", "--1", "nan", "inf", "1_0", "0b1",
  "1\0" }) do
  print(("%q"):format(s), pcall(function() return s + 0 end))
end
print(math.type("10" + 0), math.type("10.0" + 0), math.type("1e1" + 0))
