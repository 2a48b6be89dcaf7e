-- io.lines and file:lines: formats, ends, errors and closing (6.8).
-- expect: ok
--| 1	 one
--| 2	 two
--| 3	 three
--| <1 on><e|2 ><two|><|3 t><hree>
--| <1 one|2 two||3 three>
--| 1	nil	nil
--| o	nil	nil
--| n	nil	nil
--| e	2	 two
--|
--|
--| 	3	 three
--| zero 
--| 1 one
--| 2 two
--|
--| 3 three
--| false	cannot open file '/no/such/file' (No such file or directory)
--| true	false	lines-formats.lua:57: bad argument #2 to 'for iterator' (invalid format)
--| false	lines-formats.lua:58: bad argument #2 to 'for iterator' (string expected, got table)
--| false	bad argument #252 to 'io.lines' (too many arguments)
--| true
--| false	bad argument #1 to 'io.lines' (string expected, got table)
--| 4	1
--| function	nil	nil	file
--| 1 one	2 two		3 three
--| closed file
--| false	file is already closed
--| closed file
--| false	file is already closed
--| false	in loop
--| closed file
--| file	2 two
--|
--| .3. .t.h.r.e.e.file
--| false	file is already closed
--| false	attempt to use a closed file
--| [1 one][2 two][][3 three]file
--| []
--| 1 
--| false	attempt to use a closed file
--| false	default input file is closed
--| true	file (closed)
--| 50
--| 2000	94950
local name = os.tmpname(); local f = io.open(name, "w"); f:write("1 one\n2 two\n\n3 three")
f:close()
for a, b in io.lines(name, "n", "l") do print(a, b) end
for a in io.lines(name, 4) do io.write("<", (a:gsub("\n", "|")), ">") end print()
for a in io.lines(name, "a") do io.write("<", (a:gsub("\n", "|")), ">"); break end print()
for a, b, c in io.lines(name, 1, "n", "L") do print(a, b, c) end
for a in io.lines(name, 0) do io.write("zero "); break end print()
for l in io.lines(name, "L") do io.write(l) end print()
print(pcall(io.lines, "/no/such/file"))
print(pcall(io.lines, name, "x") == true, pcall(function() for l in io.lines(name, "x") do end end))
print(pcall(function() for l in io.lines(name, {}) do end end))
print(pcall(io.lines, name, table.unpack({}, 1, 251)))
print(pcall(io.lines, name, table.unpack({}, 1, 250)) == true); print(pcall(io.lines, {}))
print(select("#", io.lines(name)), select("#", io.open(name):lines()))
local it, a, b, file = io.lines(name); print(type(it), a, b, io.type(file))
print(it(), it(), it(), it(), it()); print(io.type(file)); print(pcall(it))
it, a, b, file = io.lines(name); for l in it, a, b, file do break end print(io.type(file))
print(pcall(it)); it, a, b, file = io.lines(name)
print(pcall(function() for l in it, a, b, file do error("in loop", 0) end end))
print(io.type(file))
f = io.open(name); for l in f:lines() do break end; print(io.type(f), f:read())
for l in f:lines(1) do io.write(l, ".") end print(io.type(f)); it = f:lines(); f:close()
print(pcall(it)); print(pcall(f.lines, f))
-- Without a name: the default input, which stays open.
io.input(name); for l in io.lines() do io.write("[", l, "]") end print(io.type(io.input()))
for l in io.lines(nil, "a") do io.write("[", l, "]"); break end print(); io.input():seek("set")
for n in io.lines(nil, "n") do io.write(n, " ") break end print(); io.close(io.input())
print(pcall(io.lines)); print(pcall(io.read)); print(pcall(io.input)); io.input(io.stdin)
local n = 0; for i = 1, 50 do for l in io.lines(name) do n = n + 1; break end end print(n)
os.remove(name)
f = io.open(name, "w"); for i = 1, 2000 do f:write(("x"):rep(i % 97), "\n") end f:close()
local count, bytes = 0, 0; for l in io.lines(name) do count = count + 1; bytes = bytes + #l end
print(count, bytes); os.remove(name)
