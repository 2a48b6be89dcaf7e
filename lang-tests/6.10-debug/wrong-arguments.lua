-- What the functions of debug say of wrong arguments (6.10).
-- expect: ok
--| debug.gethook #1  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.getinfo #1  number expected: none nil false 'x' {} file; number has no integer representation!: 1.5 1e100; ok: -1 '10' print; bad argument #2 to 'debug.getinfo' (number expected, got string): thread
--| debug.getinfo #2  ok: none nil; string expected: false {} print thread file; invalid option!: 1.5 -1 1e100 'x' '10'
--| debug.getinfo #1  number expected: none nil false 'x' {} file; number has no integer representation!: 1.5 1e100; ok: -1 '10' thread; bad argument #2 to 'debug.getinfo' (invalid option): print
--| debug.getinfo #2  number expected: none nil false 'x' {} thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10' print
--| debug.getinfo #3  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| debug.getlocal #1  bad argument #2 to 'debug.getlocal' (number expected, got no value): none; number expected: nil false 'x' {} file; number has no integer representation!: 1.5 1e100; level out of range!: -1 '10'; ok: print; bad argument #3 to 'debug.getlocal' (number expected, got no value): thread
--| debug.getlocal #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| debug.getlocal #1  bad argument #2 to 'debug.getlocal' (number expected, got no value): none; bad argument #2 to 'debug.getlocal' (number expected, got function): nil false 1.5 -1 1e100 'x' '10' {} print file; ok: thread
--| debug.getlocal #2  bad argument #3 to 'debug.getlocal' (number expected, got no value): none; number expected: nil false 'x' {} thread file; number has no integer representation!: 1.5 1e100; level out of range!: -1 '10'; ok: print
--| debug.getlocal #3  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| debug.getmetatable #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.getregistry #1  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.getupvalue #1  bad argument #2 to 'debug.getupvalue' (number expected, got no value): none; function expected: nil false 1.5 -1 1e100 'x' '10' {} thread file; ok: print
--| debug.getupvalue #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| debug.getuservalue #1  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.getuservalue #2  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| debug.sethook #1  ok: none nil print; function expected: false 1.5 -1 1e100 'x' '10' {} file; bad argument #2 to 'debug.sethook' (function expected, got string): thread
--| debug.sethook #2  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| debug.sethook #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| debug.sethook #1  ok: none nil thread; bad argument #2 to 'debug.sethook' (string expected, got function): false 1.5 -1 1e100 'x' '10' {} print file
--| debug.sethook #2  ok: none nil print; function expected: false 1.5 -1 1e100 'x' '10' {} thread file
--| debug.sethook #3  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| debug.sethook #4  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| debug.setlocal #1  number expected: none nil false 'x' {} print file; number has no integer representation!: 1.5 1e100; level out of range!: -1 '10'; bad argument #2 to 'debug.setlocal' (level out of range): thread
--| debug.setlocal #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| debug.setlocal #3  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.setlocal #1  number expected: none nil false 'x' {} print file; number has no integer representation!: 1.5 1e100; level out of range!: -1 '10'; bad argument #2 to 'debug.setlocal' (level out of range): thread
--| debug.setlocal #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; level out of range!: -1 '10'
--| debug.setlocal #3  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; bad argument #2 to 'debug.setlocal' (level out of range): -1 '10'
--| debug.setlocal #4  bad argument #2 to 'debug.setlocal' (level out of range): none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.setmetatable #1  bad argument #2 to 'debug.setmetatable' (nil or table expected, got no value): none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.setmetatable #2  nil or table expected: none false 1.5 -1 1e100 'x' '10' print thread; ok: nil {}; nil or table expected, got userdata!: file
--| debug.setupvalue #1  bad argument #3 to 'debug.setupvalue' (value expected): none; function expected: nil false 1.5 -1 1e100 'x' '10' {} thread file; ok: print
--| debug.setupvalue #2  bad argument #3 to 'debug.setupvalue' (value expected): none; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| debug.setupvalue #3  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.setuservalue #1  userdata expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| debug.setuservalue #2  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.setuservalue #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| debug.traceback #1  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.traceback #2  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| debug.traceback #1  ok: none false {} print thread file; bad argument #2 to 'debug.traceback' (number expected, got string): nil 1.5 -1 1e100 'x' '10'
--| debug.traceback #2  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.traceback #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| debug.upvalueid #1  bad argument #2 to 'debug.upvalueid' (number expected, got no value): none; function expected: nil false 1.5 -1 1e100 'x' '10' {} thread file; ok: print
--| debug.upvalueid #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; bad argument #1 to 'debug.upvalueid' (function expected, got FILE*): -1 '10'
--| debug.upvaluejoin #1  bad argument #2 to 'debug.upvaluejoin' (number expected, got no value): none; function expected: nil false 1.5 -1 1e100 'x' '10' {} thread file; bad argument #2 to 'debug.upvaluejoin' (invalid upvalue index): print
--| debug.upvaluejoin #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; bad argument #1 to 'debug.upvaluejoin' (function expected, got FILE*): -1 '10'
--| debug.upvaluejoin #3  bad argument #1 to 'debug.upvaluejoin' (function expected, got FILE*): none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| debug.upvaluejoin #4  bad argument #1 to 'debug.upvaluejoin' (function expected, got FILE*): none nil false 1.5 -1 1e100 'x' '10' {} print thread file

local check = dofile("../modules/arguments.lua")
local function f(a) return f, check end
local co = coroutine.create(f)
check("debug.gethook", debug.gethook, co)
check("debug.getinfo", debug.getinfo, f, "S")
check("debug.getinfo", debug.getinfo, co, 0, "S")
check("debug.getlocal", debug.getlocal, f, 1)
check("debug.getlocal", debug.getlocal, co, f, 1)
check("debug.getmetatable", debug.getmetatable, {})
check("debug.getregistry", debug.getregistry, 1)
check("debug.getupvalue", debug.getupvalue, f, 1)
check("debug.getuservalue", debug.getuservalue, io.stdin, 1)
check("debug.sethook", debug.sethook, f, "", 0)
check("debug.sethook", debug.sethook, co, f, "", 0)
debug.sethook()
check("debug.setlocal", debug.setlocal, 1, 100, 1)
check("debug.setlocal", debug.setlocal, co, 1, 1, 1)
local of_files = getmetatable(io.stdin)
check("debug.setmetatable", debug.setmetatable, {}, {})
debug.setmetatable(io.stdin, of_files)
debug.setmetatable("", { __index = string })
debug.setmetatable(co, nil)
debug.setmetatable(nil, nil)
debug.setmetatable(false, nil)
debug.setmetatable(1, nil)
debug.setmetatable(print, nil)
check("debug.setupvalue", debug.setupvalue, function() return f end, 1, f)
check("debug.setuservalue", debug.setuservalue, io.stdin, 1, 1)
check("debug.traceback", debug.traceback, "message", 100)
check("debug.traceback", debug.traceback, co, "message", 0)
check("debug.upvalueid", debug.upvalueid, f, 1)
check("debug.upvaluejoin", debug.upvaluejoin, f, 1, f, 2)
