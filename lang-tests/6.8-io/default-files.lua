-- io.write, io.output, io.input and io.read (6.8).
-- expect: ok
--| a1 2.5
--| true	true	true	file	file (
--| first	second
--| 	nil
--| nil		nil
--| false	bad argument #1 to 'io.write' (string expected, got table)
--| false	bad argument #1 to 'io.write' (string expected, got nil)
--| false	bad argument #1 to 'io.read' (invalid format)
--| false	cannot open file '/no/such/dir/file' (No such file or directory)
--| nil	/no/such/dir/file: No such file or directory	2
--| false	bad argument #2 to 'io.open' (invalid mode)
--| false	bad argument #1 to 'io.open' (string expected, got no value)
--| false	bad argument #1 to 'io.close' (FILE* expected, got number)
--| method write
--| chained
--| true	true	true	true

io.write("a", 1, " ", 2.5, "\n")
print(io.write("") == io.stdout, io.output() == io.stdout, io.input() == io.stdin,
  io.type(io.stdin), tostring(io.stdout):match("^file %("))
local name = os.tmpname()
io.output(name); io.write("first\n", "second\n"); io.close(); io.output(io.stdout)
io.input(name); print(io.read(), io.read("L"), io.read()); io.close(io.input()); io.input(io.stdin)
print(io.read(), io.read("a"), io.read(0))
print(pcall(io.write, {})); print(pcall(io.write, nil)); print(pcall(io.read, "x"))
print(pcall(io.output, "/no/such/dir/file")); print(io.open("/no/such/dir/file", "w"))
print(pcall(io.open, name, "bad")); print(pcall(io.open)); print(pcall(io.close, 5))
io.stdout:write("method ", "write", "\n"):write("chained\n")
print(io.stdout:seek("cur", 0) ~= false, io.stdout:setvbuf("full"), io.stdout:flush() and true,
  io.flush() and true)
os.remove(name)
