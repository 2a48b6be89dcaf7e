-- What the functions of utf8 say of wrong arguments (6.5).
-- expect: ok
--| utf8.char #1  ok: none '10'; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; value out of range!: -1
--| utf8.char #2  ok: none '10'; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; value out of range!: -1
--| utf8.codepoint #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 '10'; bad argument #3 to 'utf8.codepoint' (out of bounds): 'x'
--| utf8.codepoint #2  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| utf8.codepoint #3  ok: none nil -1; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; out of bounds!: '10'
--| utf8.codepoint #4  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| utf8.codes #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| utf8.codes #2  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| utf8.len #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 '10'; bad argument #3 to 'utf8.len' (final position out of bounds): 'x'
--| utf8.len #2  ok: none nil -1; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; initial position out of bounds!: '10'
--| utf8.len #3  ok: none nil -1; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; final position out of bounds!: '10'
--| utf8.len #4  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| utf8.offset #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| utf8.offset #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| utf8.offset #3  ok: none nil -1; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; position out of bounds!: '10'
--| utf8.offset #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| utf8.offset #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'

local check = dofile("../modules/arguments.lua")
check("utf8.char", utf8.char, 65, 66)
check("utf8.codepoint", utf8.codepoint, "abc", 1, 2, true)
check("utf8.codes", utf8.codes, "abc", true)
check("utf8.len", utf8.len, "abc", 1, 2, true)
check("utf8.offset", utf8.offset, "abc", 1, 1)
check("utf8.offset", utf8.offset, "abc", 1)
