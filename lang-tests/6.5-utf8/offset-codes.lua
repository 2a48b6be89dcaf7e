-- utf8.offset from every position, and utf8.codes (6.5).
-- expect: ok
--| -6: nil -5: 1 -4: 2 -3: 4 -2: 7 -1: 11 0: 1 1: 1 2: 2 3: 4 4: 7 5: 11 6: 12 
--| 1: nil nil 1 1 2 4
--| 2: nil 1 2 2 4 7
--| 3: error error 2 error error error
--| 4: 1 2 4 4 7 11
--| 5: error error 4 error error error
--| 6: error error 4 error error error
--| 7: 2 4 7 7 11 12
--| 8: error error 7 error error error
--| 9: error error 7 error error error
--| 10: error error 7 error error error
--| 11: 4 7 11 11 12 nil
--| 12: 7 11 12 12 nil nil
--| false	initial position is a continuation byte
--| false	bad argument #3 to 'utf8.offset' (position out of bounds)
--| false	bad argument #3 to 'utf8.offset' (position out of bounds)
--| false	bad argument #3 to 'utf8.offset' (position out of bounds)
--| 7	11	1	1	nil	nil	nil	4	1	false	initial position is a continuation byte
--| nil	nil
--| 1:97 2:228 4:8364 7:128512 11:122 
--| 1:0 2:97 3:0 
--| false	offset-codes.lua:73: invalid UTF-8 code
--| false	offset-codes.lua:75: invalid UTF-8 code
--| false	offset-codes.lua:73: bad argument #1 to 'codes' (invalid UTF-8 code)
--| false	offset-codes.lua:75: bad argument #1 to 'codes' (invalid UTF-8 code)
--| false	offset-codes.lua:73: invalid UTF-8 code
--| false	offset-codes.lua:75: invalid UTF-8 code
--| false	offset-codes.lua:73: invalid UTF-8 code
--| false	offset-codes.lua:75: invalid UTF-8 code
--| false	offset-codes.lua:73: invalid UTF-8 code
--| true	55296
--| false	offset-codes.lua:73: invalid UTF-8 code
--| true	1114112
--| false	offset-codes.lua:73: invalid UTF-8 code
--| false	offset-codes.lua:75: invalid UTF-8 code
--| false	offset-codes.lua:73: invalid UTF-8 code
--| true	2147483647
--| false	offset-codes.lua:73: invalid UTF-8 code
--| false	offset-codes.lua:75: invalid UTF-8 code
--| function	xyz	0	1	120
--| 2	121
--|
--|
--| true
--| false	bad argument #1 to '?' (string expected, got no value)
--| true	1	120
--| true
--|
--| false	bad argument #1 to 'utf8.codes' (string expected, got no value)
--| false	bad argument #1 to 'utf8.codes' (string expected, got table)
local s = "aä€😀z"
for n = -6, 6 do io.write(n, ": ", tostring(utf8.offset(s, n)), " ") end print()
for i = 1, #s + 1 do
  io.write(i, ":")
  for _, n in ipairs({ -2, -1, 0, 1, 2, 3 }) do
    local ok, r = pcall(utf8.offset, s, n, i); io.write(" ", ok and tostring(r) or "error")
  end
  print()
end
print(pcall(utf8.offset, s, 1, 3)); print(pcall(utf8.offset, s, 1, #s + 2))
print(pcall(utf8.offset, s, 1, 0)); print(pcall(utf8.offset, s, 1, -#s - 1))
print(utf8.offset(s, 0, -2), utf8.offset(s, 1, -1), utf8.offset("", 0), utf8.offset("", 1),
  utf8.offset("", 2), utf8.offset("", -1), utf8.offset("abc", 5), utf8.offset("abc", 4),
  utf8.offset("\x80\x80", 0, 2), pcall(utf8.offset, "\x80\x80", 1))
print(utf8.offset(s, math.maxinteger), utf8.offset(s, math.mininteger))
for p, c in utf8.codes(s) do io.write(p, ":", c, " ") end print()
for p in utf8.codes("") do print("never") end
for p, c in utf8.codes("\0a\0") do io.write(p, ":", c, " ") end print()
for _, w in ipairs({ "a\x80", "\x80a", "a\xc3", "a\xc3\xa4\xa4", "\xed\xa0\x80", "\xf4\x90\x80\x80",
  "ab\xff", "\u{7FFFFFFF}", "a\xe2\x82" }) do
  print(pcall(function() local n = 0; for p, c in utf8.codes(w) do n = n + 1 end return n end))
  print(pcall(function()
    local n = 0; for p, c in utf8.codes(w, true) do n = n + c end return n
  end))
end
local f, t, i = utf8.codes("xyz"); print(type(f), t, i, f(t, 0)); print(f(t, 1)); print(f(t, 3))
print(f(t, 4)); print(pcall(f, t, -1)); print(pcall(f)); print(pcall(f, "x"))
print(pcall(f, "ä", 2)); print(f("ä", 1)); print(pcall(utf8.codes)); print(pcall(utf8.codes, {}))
