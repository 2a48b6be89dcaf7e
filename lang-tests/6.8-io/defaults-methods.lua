-- The default files: io.input, io.output, io.read, io.write and io.close (6.8).
-- expect: ok
--| true	true	file	true	1
--| file	true	true	true
--| false	default output file is closed
--| false	attempt to use a closed file
--| true	file (closed)
--| file	1	2	3
--|
--| 	line	nil
--| true
--| false	default input file is closed
--| false	default input file is closed
--| nil		nil	nil
--| false	cannot open file '/no/such/file' (No such file or directory)
--| false	cannot open file '/no/such/dir/file' (No such file or directory)
--| false	bad argument #1 to 'io.input' (FILE* expected, got table)
--| true
--| true
--| false	bad argument #1 to 'io.write' (string expected, got nil)
--| written before the error false	bad argument #2 to 'io.write' (string expected, got table)
--|
--| afalse	bad argument #2 to 'io.write' (string expected, got boolean)
--|
--| 1 -0 1e+100 9.007199254741e+15 -9223372036854775808
--|
--| nil	nil	nil	file
--| true	FILE*	true	nil
--| true	true	file (closed)	closed file	false	attempt to use a closed file
--| false	attempt to use a closed file
--| true	file (closed)
--| false	defaults-methods.lua:76: attempt to use a closed file
--| false	defaults-methods.lua:77: attempt to use a closed file
--| true	true	true	false	defaults-methods.lua:78: attempt to compare two FILE* values
--| false	defaults-methods.lua:79: attempt to get length of a FILE* value (upvalue 'f')
--| false	defaults-methods.lua:79: attempt to index a FILE* value (upvalue 'f')
--| close flush lines read seek setvbuf write
--| __close __gc __index __name __tostring
--| close flush input lines open output popen read stderr stdin stdout tmpfile type write
--| false	bad argument #1 to '?' (FILE* expected, got no value)
--| false	bad argument #1 to '?' (FILE* expected, got number)
--| true
--| true
--| false	bad argument #1 to '?' (FILE* expected, got no value)
--| false	bad argument #1 to '?' (FILE* expected, got no value)
--| false	bad argument #1 to '?' (FILE* expected, got no value)
--| false	bad argument #1 to '?' (FILE* expected, got number)
--| false	defaults-methods.lua:89: bad argument #1 to 'write' (FILE* expected, got no value)
--| false	defaults-methods.lua:90: bad argument #1 to 'write' (FILE* expected, got string)
--| false	defaults-methods.lua:90: bad argument #1 to 'read' (FILE* expected, got number)
--| file	true	0	temp	true
--| false	false
--| closed by its variable
--| true
local name = os.tmpname()
print(io.input() == io.stdin, io.output() == io.stdout, io.type(io.stderr),
  io.input(io.stdin) == io.stdin, select("#", io.input(io.stdin)))
print(io.type(io.output(name)), io.output() ~= io.stdout, io.write("1 ", 2, " ", 3.0, "\n",
  "line") == io.output(), io.close())
print(pcall(io.write, "x")); print(pcall(io.close)); print(pcall(io.output)); io.output(io.stdout)
print(io.type(io.input(name)), io.read("n", "n", "n")); print(io.read("L", "a", "l", 0))
print(io.close(io.input())); print(pcall(io.read)); print(pcall(io.read, "a")); io.input(io.stdin)
print(io.read(), io.read("a"), io.read("n"), io.read(1))
print(pcall(io.input, "/no/such/file")); print(pcall(io.output, "/no/such/dir/file"))
print(pcall(io.input, {})); print(pcall(io.output, 5) ~= nil); io.output():close(); os.remove("5")
io.output(io.stdout); print(io.input() == io.stdin)
print(pcall(io.write, nil)); print(pcall(io.write, "written before the error ", {})); print()
print(pcall(io.write, "a", true)); print()
io.write(1, " ", -0.0, " ", 1e100, " ", 2^53, " ", math.mininteger, "\n"); io.write()
io.write("", "\n")
print(io.type(nil), io.type("x"), io.type({}), io.type(io.stdout))
print(tostring(io.stdout):find("^file %(0x%x+%)$") ~= nil, getmetatable(io.stdout).__name,
  getmetatable(io.stdout).__index.read == io.stdout.read, io.stdout.absent)
local f = io.open(name, "w")
print(tostring(f):find("^file %(") ~= nil, f:close(), tostring(f), io.type(f), pcall(f.close, f))
print(pcall(io.close, f)); print(pcall(tostring, f)); print(pcall(function() f:write("x") end))
print(pcall(function() return f:read() end))
print(f == f, f ~= io.stdout, rawequal(io.stdout, io.output()), pcall(function() return f < f end))
print(pcall(function() return #f end)); print(pcall(function() f.x = 1 end))
local methods = {} for k in pairs(getmetatable(f).__index) do methods[#methods + 1] = k end
table.sort(methods); print(table.concat(methods, " ")); local events = {}
for k in pairs(getmetatable(f)) do events[#events + 1] = k end table.sort(events)
print(table.concat(events, " ")); local functions = {}
for k in pairs(io) do functions[#functions + 1] = k end table.sort(functions)
print(table.concat(functions, " "))
print(pcall(getmetatable(f).__tostring)); print(pcall(getmetatable(f).__tostring, 5))
print(pcall(getmetatable(f).__gc, f)); print(pcall(getmetatable(f).__close, f))
print(pcall(getmetatable(f).__gc)); print(pcall(f.write)); print(pcall(io.stdout.write))
print(pcall(io.stdout.write, 5)); print(pcall(function() return io.stdout.write() end))
print(pcall(function() io.stdout.write("x") end)); print(pcall(function() f.read(5) end))
local t = io.tmpfile()
print(io.type(t), t:write("temp") == t, t:seek("set"), t:read("a"), t:close())
print(io.stdout:flush() == io.stdout, io.flush() == io.stdout); os.remove(name)
do local a <close> = io.open(name, "w"); local b <const> = a; a:write("closed by its variable") end
print(io.open(name):read("a"))
print(pcall(function() local c <close> = io.open(name); c:close() end)); os.remove(name)
