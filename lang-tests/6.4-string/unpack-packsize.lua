-- string.unpack: every option, positions and wrong data (6.4.2).
-- expect: ok
--| 1	2
--| 1	2
--| -1	10
--| -8	17
--| 1	2
--| 1	2
--| 255	10
--| 248	17
--| 513	3
--| 258	3
--| -257	11
--| bad argument #2 to 'string.unpack' (data string too short)
--| 513	3
--| 258	3
--| 65279	11
--| bad argument #2 to 'string.unpack' (data string too short)
--| 197121	4
--| 66051	4
--| -131329	12
--| bad argument #2 to 'string.unpack' (data string too short)
--| 197121	4
--| 66051	4
--| 16645887	12
--| bad argument #2 to 'string.unpack' (data string too short)
--| 67305985	5
--| 16909060	5
--| -50462977	13
--| bad argument #2 to 'string.unpack' (data string too short)
--| 67305985	5
--| 16909060	5
--| 4244504319	13
--| bad argument #2 to 'string.unpack' (data string too short)
--| 578437695752307201	9
--| 72623859790382856	9
--| -506097522914230529	17
--| bad argument #2 to 'string.unpack' (data string too short)
--| 578437695752307201	9
--| 72623859790382856	9
--| -506097522914230529	17
--| bad argument #2 to 'string.unpack' (data string too short)
--| 578437695752307201	9
--| 72623859790382856	9
--| -506097522914230529	17
--| bad argument #2 to 'string.unpack' (data string too short)
--| 578437695752307201	9
--| 72623859790382856	9
--| -506097522914230529	17
--| bad argument #2 to 'string.unpack' (data string too short)
--| 21542142465	6
--| 4328719365	6
--| -17230332161	14
--| bad argument #2 to 'string.unpack' (data string too short)
--| 1976943448883713	8
--| 283686952306183	8
--| 70363229389192959	16
--| bad argument #2 to 'string.unpack' (data string too short)
--| 578437695752307201	-506097522914230529	17
--| 16-byte integer does not fit into Lua Integer
--| -1	17
--| 16-byte integer does not fit into Lua Integer
--| 1	10
--| -1	10
--| 9-byte integer does not fit into Lua Integer
--| -1	10
--| 10-byte integer does not fit into Lua Integer
--| 1.5	5
--| 0.1	9
--| 0.1	9
--| inf	5
--| -inf	9
--| 1.4012984643248e-45	5
--| 4.9406564584125e-324	9
--| abc	5
--| abc	6
--| bad argument #2 to 'string.unpack' (data string too short)
--| bad argument #2 to 'string.unpack' (data string too short)
--| bad argument #2 to 'string.unpack' (data string too short)
--| bad argument #2 to 'string.unpack' (data string too short)
--| abc	5
--| bad argument #2 to 'string.unpack' (unfinished string for format 'z')
--| bad argument #2 to 'string.unpack' (unfinished string for format 'z')
--| a		4
--| abc	4
--| bad argument #2 to 'string.unpack' (data string too short)
--| 	1
--| bad argument #3 to 'string.unpack' (initial position out of string)
--| missing size for format option 'c'
--| 2
--| bad argument #2 to 'string.unpack' (data string too short)
--| 1	2	9
--| bad argument #2 to 'string.unpack' (data string too short)
--| 1	2	6
--| 2	6
--| 0	17
--| bad argument #1 to 'string.unpack' (invalid next option for option 'X')
--| bad argument #1 to 'string.unpack' (invalid next option for option 'X')
--| bad argument #1 to 'string.unpack' (format asks for alignment not power of 2)
--| 97	2
--| 98	3
--| 99	4
--| bad argument #2 to 'string.unpack' (data string too short)
--| 99	4
--| 97	2
--| 97	2
--| 97	2
--| bad argument #3 to 'string.unpack' (initial position out of string)
--| 97	2
--| 1
--| 4
--| bad argument #3 to 'string.unpack' (initial position out of string)
--| 1
--| bad argument #2 to 'string.unpack' (data string too short)
--| bad argument #2 to 'string.unpack' (data string too short)
--| 97	98	3
--| 1	515	4
--| 2
--| integral size (17) out of limits [1,16]
--| invalid format option 'y'
--| 97	2
--| bad argument #2 to 'string.unpack' (string expected, got table)
--| bad argument #1 to 'string.unpack' (string expected, got table)
--| bad argument #2 to 'string.unpack' (string expected, got no value)
--| bad argument #3 to 'string.unpack' (number expected, got string)
--| bad argument #3 to 'string.unpack' (number has no integer representation)
--| 49	2
--| 49	50	3
--| 201
--| false	stack overflow (too many results)
--| b	1
--| B	1
--| h	2
--| H	2
--| i	4
--| I	4
--| l	8
--| L	8
--| j	8
--| J	8
--| T	8
--| f	4
--| d	8
--| n	8
--| x	1
--| !8d	8
--| bi	5
--| !bi	8
--| !bXi	4
--| c10	10
--| c0	0
--| !16i16	16
--| i3i3	6
--| !4i4i4b	9
--| <>=! 	0
--| bXx	1
--| 	0
--| s	false	bad argument #1 to 'string.packsize' (variable-length format)
--| z	false	bad argument #1 to 'string.packsize' (variable-length format)
--| s1	false	bad argument #1 to 'string.packsize' (variable-length format)
--| i17	false	integral size (17) out of limits [1,16]
--| c	false	missing size for format option 'c'
--| X	false	bad argument #1 to 'string.packsize' (invalid next option for option 'X')
--| bz	false	bad argument #1 to 'string.packsize' (variable-length format)
--| !4i3	false	bad argument #1 to 'string.packsize' (format asks for alignment not power of 2)
--| c2147483647	false	invalid format option '7'
--| c2147483647b	false	invalid format option '7'
--| c2147483648	false	invalid format option '8'
--| c1000000000c1000000000c1000000000	false	bad argument #1 to 'string.packsize' (format result too large)
--| false	bad argument #1 to 'string.packsize' (string expected, got no value)
--| false	bad argument #1 to 'string.packsize' (string expected, got table)
--| 4

local function show(...) print(select(2, pcall(string.unpack, ...))) end
local data = "\1\2\3\4\5\6\7\8\255\254\253\252\251\250\249\248"
for _, f in ipairs({ "b", "B", "h", "H", "i3", "I3", "i", "I", "l", "j", "J", "T", "i5", "I7" }) do
  show("<" .. f, data); show(">" .. f, data); show(f, data, 9); show(f, data, -1)
end
show("<i8<i8", data); show("i16", data); show("<i16", ("\255"):rep(16))
show("<I16", ("\255"):rep(16)); show("<I9", "\1" .. ("\0"):rep(8)); show("<i9", ("\255"):rep(9))
show("<i9", ("\255"):rep(8) .. "\0"); show("<I9", ("\255"):rep(8) .. "\0")
show("<i10", "\1" .. ("\0"):rep(8) .. "\1")
show("<f", "\0\0\xc0\x3f"); show("<d", "\x9a\x99\x99\x99\x99\x99\xb9\x3f")
show(">n", "\x3f\xb9\x99\x99\x99\x99\x99\x9a"); show("<f", "\0\0\x80\x7f")
show("<d", "\0\0\0\0\0\0\xf0\xff"); show("<f", "\1\0\0\0"); show("<d", "\1\0\0\0\0\0\0\0")
show("s1", "\3abcd"); show("<s2", "\3\0abcd"); show("s1", "\5abcd"); show("s1", ""); show("s", "\3")
show("<s8", ("\255"):rep(8)); show("z", "abc\0def"); show("z", "abc"); show("z", "")
show("zz", "a\0\0"); show("c3", "abcdef"); show("c7", "abcdef"); show("c0", ""); show("c0", "", 2)
show("c", "x")
show("x", "a"); show("x", ""); show("!4 b i4", "\1\0\0\0\2\0\0\0")
show("!4 b i4", "\1\0\0\2\0\0\0"); show("!4 b Xi4 b", "\1\0\0\0\2")
show("!4 Xi4 b", "\1\0\0\0\2", 2); show("!8 i8", ("\0"):rep(16), 2); show("X", ""); show("Xz", "")
show("!4i3", "abcdefg", 2)
for _, at in ipairs({ 1, 2, 3, 4, -1, -3, -4, 0, math.maxinteger, math.mininteger }) do
  show("B", "abc", at)
end
show("", "abc"); show("", "abc", 4); show("", "abc", 5); show("", "", 1); show("b", "")
show("bbb", "ab"); show("b b", "ab"); show("<b>h", "\1\2\3"); show(" ", "abc", 2); show("i17", data)
show("y", data); show("B\0B", "ab")
show("b", {}); show({}, ""); show("b"); show("b", "a", "x"); show("b", "a", 1.5); show("b", 12)
show("bb", "12", "1")
print(select("#", string.unpack(("B"):rep(200), ("x"):rep(200))))
print(pcall(string.unpack, ("B"):rep(1e6), ("x"):rep(1e6)))
for _, f in ipairs({ "b", "B", "h", "H", "i", "I", "l", "L", "j", "J", "T", "f", "d", "n", "x",
  "!8d", "bi", "!bi", "!bXi", "c10", "c0", "!16i16", "i3i3", "!4i4i4b", "<>=! ", "bXx", "" }) do
  print(f, string.packsize(f))
end
for _, f in ipairs({ "s", "z", "s1", "i17", "c", "X", "bz", "!4i3", "c2147483647", "c2147483647b",
  "c2147483648", ("c1000000000"):rep(3) }) do
  print(f, pcall(string.packsize, f))
end
print(pcall(string.packsize)); print(pcall(string.packsize, {})); print(string.packsize("i4\0y"))
