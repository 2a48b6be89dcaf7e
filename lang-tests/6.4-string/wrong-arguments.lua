-- What the string functions say of wrong arguments (6.4).
-- expect: ok
--| string.byte #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.byte #2  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| string.byte #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| string.char #1  ok: none '10'; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; value out of range!: -1
--| string.char #2  ok: none '10'; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; value out of range!: -1
--| string.dump #1  function expected: none nil false 1.5 -1 1e100 'x' '10' {} thread file; unable to dump given function: print
--| string.dump #2  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| string.find #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.find #2  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.find #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| string.find #4  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| string.format #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.format #2  no value!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| string.format #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.format #2  no value!: none; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| string.format #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.format #2  no value!: none; number expected: nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| string.format #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.format #2  no value!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| string.format #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.format #2  no value!: none; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| string.format #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.format #2  no value!: none; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| string.format #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.format #2  no value!: none; number expected: nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| string.format #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.format #2  no value!: none; ok: nil false 1.5 -1 1e100 'x' '10'; value has no literal form!: {} print thread file
--| string.gmatch #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.gmatch #2  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.gmatch #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| string.gsub #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.gsub #2  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| b
--| string.gsub #3  string/function/table expected: none nil false thread file; ok: 1.5 -1 1e100 'x' '10' {} print
--| string.gsub #4  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| string.gsub #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.gsub #2  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| b
--| string.gsub #3  string/function/table expected: none nil false thread file; ok: 1.5 -1 1e100 'x' '10' {} print
--| string.gsub #4  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| string.len #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.lower #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.match #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.match #2  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.match #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| string.pack #1  string expected: none nil false {} print thread file; invalid format option '1': 1.5 1e100 '10'; invalid format option '-': -1; ok: 'x'
--| string.pack #2  number expected, got nil!: none; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| string.pack #1  string expected: none nil false {} print thread file; invalid format option '1': 1.5 1e100 '10'; invalid format option '-': -1; ok: 'x'
--| string.pack #2  number expected, got nil!: none; number expected: nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| string.pack #1  string expected: none nil false {} print thread file; invalid format option '1': 1.5 1e100 '10'; invalid format option '-': -1; ok: 'x'
--| string.pack #2  string expected, got nil!: none; string expected: nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.packsize #1  string expected: none nil false {} print thread file; invalid format option '1': 1.5 1e100 '10'; invalid format option '-': -1; ok: 'x'
--| string.rep #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.rep #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| string.rep #3  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| string.reverse #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.sub #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| string.sub #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| string.sub #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| string.unpack #1  string expected: none nil false {} print thread file; invalid format option '1': 1.5 1e100 '10'; invalid format option '-': -1; ok: 'x'
--| string.unpack #2  string expected: none nil false {} print thread file; data string too short!: 1.5 -1 'x' '10'; ok: 1e100
--| string.unpack #3  ok: none nil; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; bad argument #2 to 'string.unpack' (data string too short): -1; initial position out of string!: '10'
--| string.upper #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'

local check = dofile("../modules/arguments.lua")
check("string.byte", string.byte, "abc", 1, 2)
check("string.char", string.char, 65, 66)
check("string.dump", string.dump, function() end, true)
check("string.find", string.find, "abc", "b", 1, true)
check("string.format", string.format, "%s", 1)
check("string.format", string.format, "%5d", 1)
check("string.format", string.format, "%g", 1)
check("string.format", string.format, "%-5s", 1)
check("string.format", string.format, "%c", 65)
check("string.format", string.format, "%x", 65)
check("string.format", string.format, "%a", 1)
check("string.format", string.format, "%q", 1)
check("string.gmatch", string.gmatch, "abc", "b", 1)
check("string.gsub", string.gsub, "abc", "b", "c", 1)
check("string.gsub", string.gsub, "abc", "b", {}, 1)
check("string.len", string.len, "abc")
check("string.lower", string.lower, "abc")
check("string.match", string.match, "abc", "b", 1)
check("string.pack", string.pack, "i4", 1)
check("string.pack", string.pack, "d", 1)
check("string.pack", string.pack, "z", "a")
check("string.packsize", string.packsize, "i4")
check("string.rep", string.rep, "abc", 2, ",")
check("string.reverse", string.reverse, "abc")
check("string.sub", string.sub, "abc", 1, 2)
check("string.unpack", string.unpack, "i4", "\1\0\0\0", 1)
check("string.upper", string.upper, "abc")
