-- What the functions of os say of wrong arguments (6.9).
-- ignore-stderr: messages of the shell
-- expect: ok
--| os.clock #1  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| os.date #1  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| os.date #2  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| os.difftime #1  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| os.difftime #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| os.execute #1  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| os.getenv #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| os.remove #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| os.rename #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| os.rename #2  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| os.setlocale #1  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| os.setlocale #2  ok: none nil; string expected: false {} print thread file; invalid option '1.5'!: 1.5; invalid option '-1'!: -1; invalid option '1e+100'!: 1e100; invalid option 'x'!: 'x'; invalid option '10'!: '10'
--| os.time #1  ok: none nil; table expected: false 1.5 -1 1e100 'x' '10' print thread file; field 'year' missing in date table: {}

local check = dofile("../modules/arguments.lua")
check("os.clock", os.clock, 1)
check("os.date", os.date, "!%Y", 0)
check("os.difftime", os.difftime, 2, 1)
check("os.execute", os.execute, "true")
check("os.getenv", os.getenv, "LANG_TEST")
check("os.remove", os.remove, "/no/such/file")
check("os.rename", os.rename, "/no/such/file", "/no/such/other")
check("os.setlocale", os.setlocale, "C", "all")
check("os.time", os.time, { year = 2020, month = 1, day = 1 })
