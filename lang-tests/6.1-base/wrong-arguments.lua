-- What the base functions say of wrong arguments (6.1).
-- expect: ok
--| assert #1  value expected!: none; assertion failed!: nil false; ok: 1.5 -1 1e100 'x' '10' {} print thread file
--| collectgarbage #1  ok: none nil; string expected: false {} print thread file; invalid option '1.5'!: 1.5; invalid option '-1'!: -1; invalid option '1e+100'!: 1e100; invalid option 'x'!: 'x'; invalid option '10'!: '10'
--| collectgarbage #1  ok: none nil; string expected: false {} print thread file; invalid option '1.5'!: 1.5; invalid option '-1'!: -1; invalid option '1e+100'!: 1e100; invalid option 'x'!: 'x'; invalid option '10'!: '10'
--| collectgarbage #2  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| dofile #1  ok: none nil; string expected: false {} print thread file; cannot open 1.5: No such file or directory: 1.5; cannot open -1: No such file or directory: -1; cannot open 1e+100: No such file or directory: 1e100; cannot open x: No such file or directory: 'x'; cannot open 10: No such file or directory: '10'
--| getmetatable #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| ipairs #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--|
--| load #1  function expected: none nil false {} thread file; ok: 1.5 -1 1e100 'x' '10' print
--| load #2  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| load #3  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| loadfile #1  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| loadfile #2  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| next #1  table expected: none nil false 1.5 -1 1e100 'x' '10' print thread file; ok: {}
--| pairs #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--|
--| pcall #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| rawequal #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| rawequal #2  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| rawget #1  table expected: none nil false 1.5 -1 1e100 'x' '10' print thread file; ok: {}
--| rawget #2  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| rawlen #1  table or string expected: none nil false 1.5 -1 1e100 print thread file; ok: 'x' '10' {}
--| rawset #1  table expected: none nil false 1.5 -1 1e100 'x' '10' print thread file; ok: {}
--| rawset #2  value expected!: none; table index is nil: nil; ok: false 1.5 -1 1e100 'x' '10' {} print thread file
--| rawset #3  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| require #1  string expected: none nil false {} print thread file; module '1.5' not found:
--| 	no field package.preload['1.5']
--| 	no file './1/5.lua'
--| 	no file './1/5.so'
--| 	no file './1.so': 1.5; module '-1' not found:
--| 	no field package.preload['-1']
--| 	no file './-1.lua'
--| 	no file './-1.so': -1; module '1e+100' not found:
--| 	no field package.preload['1e+100']
--| 	no file './1e+100.lua'
--| 	no file './1e+100.so': 1e100; module 'x' not found:
--| 	no field package.preload['x']
--| 	no file './x.lua'
--| 	no file './x.so': 'x'; module '10' not found:
--| 	no field package.preload['10']
--| 	no file './10.lua'
--| 	no file './10.so': '10'
--| select #1  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| select #2  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| select #1  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| select #2  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| setmetatable #1  table expected: none nil false 1.5 -1 1e100 'x' '10' print thread file; ok: {}
--| setmetatable #2  nil or table expected: none false 1.5 -1 1e100 'x' '10' print thread file; ok: nil {}
--| tonumber #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| tonumber #1  value expected!: none; string expected: nil false 1.5 -1 1e100 {} print thread file; ok: 'x' '10'
--| tonumber #2  ok: none nil '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; base out of range!: -1
--| tostring #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| type #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| warn #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| warn #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| warn #2  ok: none 1.5 -1 1e100 'x' '10'; string expected: nil false {} print thread file
--| attempt to call a nil value
--| attempt to call a boolean value
--| attempt to call a number value
--| attempt to call a number value
--| attempt to call a number value
--| attempt to call a string value
--| attempt to call a string value
--| attempt to call a table value
--| 1
--| attempt to call a thread value
--| attempt to call a FILE* value
--| xpcall #1  bad argument #2 to 'xpcall' (function expected, got no value): none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| xpcall #2  function expected: none nil false 1.5 -1 1e100 'x' '10' {} thread file; ok: print
--| bad argument #1 to 'type' (value expected)
--| xpcall #3  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file

local check = dofile("../modules/arguments.lua")
check("assert", assert, 1)
check("collectgarbage", collectgarbage, "count")
check("collectgarbage", collectgarbage, "step", 0)
check("dofile", dofile, "modules/none.lua")
check("getmetatable", getmetatable, {})
check("ipairs", ipairs, {})
check("load", load, "return 1", "=name", "t")
check("loadfile", loadfile, "/no/such/file", "t")
check("next", next, {})
check("pairs", pairs, {})
check("pcall", pcall, print)
check("rawequal", rawequal, 1, 2)
check("rawget", rawget, {}, 1)
check("rawlen", rawlen, {})
check("rawset", rawset, {}, 1, 2)
package.path, package.cpath = "./?.lua", "./?.so" -- the defaults depend on the distribution
check("require", require, "string")
check("select", select, 1, 2)
check("select", select, "#", 2)
check("setmetatable", setmetatable, {}, nil)
check("tonumber", tonumber, "10")
check("tonumber", tonumber, "10", 36)
check("tostring", tostring, 1)
check("type", type, 1)
check("warn", warn, "@off")
check("warn", warn, "@off", "@off")
check("xpcall", xpcall, type, print, 1)
