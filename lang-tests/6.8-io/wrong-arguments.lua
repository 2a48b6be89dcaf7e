-- What the functions of io and the methods of files say of wrong arguments (6.8).
-- ignore-stderr: messages of the shell
-- expect: ok
--| io.close #1  ok: none file; wrong-arguments.lua:60: bad argument #1 to 'close' (FILE* expected, got nil): nil; wrong-arguments.lua:60: bad argument #1 to 'close' (FILE* expected, got boolean): false; wrong-arguments.lua:60: bad argument #1 to 'close' (FILE* expected, got number): 1.5 -1 1e100; wrong-arguments.lua:60: bad argument #1 to 'close' (FILE* expected, got string): 'x' '10'; wrong-arguments.lua:60: bad argument #1 to 'close' (FILE* expected, got table): {}; wrong-arguments.lua:60: bad argument #1 to 'close' (FILE* expected, got function): print; wrong-arguments.lua:60: bad argument #1 to 'close' (FILE* expected, got thread): thread
--| io.lines #1  ok: none nil; string expected: false {} print thread file; cannot open file '1.5' (No such file or directory): 1.5; cannot open file '-1' (No such file or directory): -1; cannot open file '1e+100' (No such file or directory): 1e100; cannot open file 'x' (No such file or directory): 'x'; cannot open file '10' (No such file or directory): '10'
--| io.lines #2  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| io.open #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| io.open #2  ok: none nil; string expected: false {} print thread file; invalid mode!: 1.5 -1 1e100 'x' '10'
--| io.popen #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| io.popen #2  ok: none nil; string expected: false {} print thread file; invalid mode!: 1.5 -1 1e100 'x' '10'
--| io.read #1  ok: none; string expected: nil false {} print thread file; number has no integer representation!: 1.5 1e100; not enough memory: -1; invalid format!: 'x' '10'
--| io.read #2  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| io.type #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| io.write #1  ok: none 1.5 -1 1e100 'x' '10'; wrong-arguments.lua:67: bad argument #1 to 'write' (string expected, got nil): nil; wrong-arguments.lua:67: bad argument #1 to 'write' (string expected, got boolean): false; wrong-arguments.lua:67: bad argument #1 to 'write' (string expected, got table): {}; wrong-arguments.lua:67: bad argument #1 to 'write' (string expected, got function): print; wrong-arguments.lua:67: bad argument #1 to 'write' (string expected, got thread): thread; wrong-arguments.lua:67: bad argument #1 to 'write' (string expected, got FILE*): file
--| io.write #2  ok: none 1.5 -1 1e100 'x' '10'; wrong-arguments.lua:67: bad argument #2 to 'write' (string expected, got nil): nil; wrong-arguments.lua:67: bad argument #2 to 'write' (string expected, got boolean): false; wrong-arguments.lua:67: bad argument #2 to 'write' (string expected, got table): {}; wrong-arguments.lua:67: bad argument #2 to 'write' (string expected, got function): print; wrong-arguments.lua:67: bad argument #2 to 'write' (string expected, got thread): thread; wrong-arguments.lua:67: bad argument #2 to 'write' (string expected, got FILE*): file
--| close	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got number)
--| close	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got table)
--| close	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got string)
--| close	false	bad argument #1 to '?' (FILE* expected, got no value)
--| ? #1  FILE* expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| lines
--| ? #1  FILE* expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| ? #2  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| read
--| ? #1  FILE* expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| ? #2  ok: none; string expected: nil false {} print thread file; number has no integer representation!: 1.5 1e100; not enough memory: -1; invalid format!: 'x' '10'
--| seek
--| ? #1  FILE* expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| ? #2  ok: none nil; string expected: false {} print thread file; invalid option '1.5'!: 1.5; invalid option '-1'!: -1; invalid option '1e+100'!: 1e100; invalid option 'x'!: 'x'; invalid option '10'!: '10'
--| setvbuf
--| ? #1  FILE* expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| ? #2  string expected: none nil false {} print thread file; invalid option '1.5'!: 1.5; invalid option '-1'!: -1; invalid option '1e+100'!: 1e100; invalid option 'x'!: 'x'; invalid option '10'!: '10'
--| write
--| ? #1  FILE* expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| ? #2  ok: none 1.5 -1 1e100 'x' '10'; string expected: nil false {} print thread file
--| __gc	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got number)
--| __gc	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got table)
--| __gc	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got string)
--| __gc	false	bad argument #1 to '?' (FILE* expected, got no value)
--| __close	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got number)
--| __close	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got table)
--| __close	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got string)
--| __close	false	bad argument #1 to '?' (FILE* expected, got no value)
--| __tostring	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got number)
--| __tostring	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got table)
--| __tostring	false	wrong-arguments.lua:73: bad argument #1 to '?' (FILE* expected, got string)
--| __tostring	false	bad argument #1 to '?' (FILE* expected, got no value)
--| ? #1  FILE* expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| ? #2  ok: none nil; string expected: false {} print thread file; invalid option '1.5'!: 1.5; invalid option '-1'!: -1; invalid option '1e+100'!: 1e100; invalid option 'x'!: 'x'; invalid option '10'!: '10'
--| ? #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| ? #1  FILE* expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| ? #2  string expected: none nil false {} print thread file; invalid option '1.5'!: 1.5; invalid option '-1'!: -1; invalid option '1e+100'!: 1e100; invalid option 'x'!: 'x'; invalid option '10'!: '10'
--| ? #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| ? #1  FILE* expected: none nil false 1.5 -1 1e100 'x' '10' {} print thread; ok: file
--| ? #2  ok: none; string expected: nil false {} print thread file; number has no integer representation!: 1.5 1e100; not enough memory: -1; invalid format!: 'x' '10'

local check = dofile("../modules/arguments.lua")
local name = os.tmpname()
local f = io.open(name, "w+")
check("io.close", function(...) return select("#", ...) == 1 and io.close(...) end, f)
f = io.open(name, "w+")
check("io.lines", io.lines, name, "l")
check("io.open", io.open, name, "r")
check("io.popen", io.popen, "true", "r")
check("io.read", io.read, "l", "n")
check("io.type", io.type, f)
check("io.write", function(...) io.output(f); return io.write(...) end, "x", "y")
io.output(io.stdout)
for _, method in ipairs({ "close", "flush", "lines", "read", "seek", "setvbuf", "write", "__gc",
  "__close", "__tostring" }) do local g = io.open(name, "w+")
  local function call(...)
    if select("#", ...) == 0 then return g[method]() end
    return (g[method] or getmetatable(g)[method])(...)
  end
  if method == "close" or method:find("^__") then
    for _, wrong in ipairs({ 5, {}, "x" }) do print(method, pcall(call, wrong)) end
    print(method, pcall(getmetatable(g)[method] or g[method]))
  elseif method == "flush" then
    check("?", g.flush, g)
  else
    print(method)
    check("?", g[method], g, method == "seek" and "cur" or method == "setvbuf" and "full" or "l")
  end
  g:close()
end
f:seek("set")
check("?", f.seek, f, "set", 0)
check("?", f.setvbuf, f, "full", 1024)
check("?", f.read, f, 1)
f:close()
os.remove(name)
