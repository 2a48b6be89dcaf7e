-- utf8.char and utf8.charpattern (6.5).
-- expect: ok
--| 0	00
--| 7f	7f
--| 80	c280
--| 7ff	dfbf
--| 800	e0a080
--| d7ff	ed9fbf
--| d800	eda080
--| dfff	edbfbf
--| ffff	efbfbf
--| 10000	f0908080
--| 10ffff	f48fbfbf
--| 110000	f4908080
--| 1fffff	f7bfbfbf
--| 200000	f888808080
--| 3ffffff	fbbfbfbfbf
--| 4000000	fc8480808080
--| 7fffffff	fdbfbfbfbfbf
--| 	Hä€😀	9	AB
--| false	bad argument #2 to 'utf8.char' (value out of range)
--| false	bad argument #2 to 'utf8.char' (value out of range)
--| false	bad argument #2 to 'utf8.char' (value out of range)
--| false	bad argument #2 to 'utf8.char' (value out of range)
--| false	bad argument #2 to 'utf8.char' (number has no integer representation)
--| false	bad argument #2 to 'utf8.char' (number expected, got string)
--| 5b002d7fc22dfd5d5b802dbf5d2a	14
--| 1 2 3 4 1 

local function hex(s) return (s:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end
for _, c in ipairs({ 0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdfff, 0xffff, 0x10000, 0x10ffff,
  0x110000, 0x1fffff, 0x200000, 0x3ffffff, 0x4000000, 0x7fffffff }) do
  print(("%x"):format(c), hex(utf8.char(c)))
end
print(utf8.char(), utf8.char(72, 228, 8364, 0x1F600),
  #utf8.char(table.unpack({ 0x20ac, 0x20ac, 0x20ac })), utf8.char(65.0, "66"))
for _, c in ipairs({ -1, 0x80000000, math.maxinteger, math.mininteger, 1.5, "x" }) do
  print(pcall(utf8.char, 65, c))
end
print(hex(utf8.charpattern), #utf8.charpattern)
for c in ("aä€😀\0"):gmatch(utf8.charpattern) do io.write(#c, " ") end print()
