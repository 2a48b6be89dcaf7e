-- Writing a file and reading it back in every format (6.8).
-- expect: ok
--| file	nil	true
--| true	closed file	file (closed)
--| false	attempt to use a closed file
--| false	write-read.lua:27: attempt to use a closed file
--| line one
--| 2	3.5
--|
--|
--| last	
--|  line without end
--| 	nil	nil	nil
--| 5	one	9	36	0
--| line one	2 3.5
--| 	last line without end	nil
--| line one	true
--| false	bad argument #2 to '?' (invalid format)
--| false	bad argument #2 to '?' (invalid format)
--| 3
--| LINE one
--| true	3	true
local name = os.tmpname(); local f = assert(io.open(name, "w"))
print(io.type(f), io.type(5), f:write("line one\n", 2, " ", 3.5, "\n",
  "last line without end") == f)
print(f:close(), io.type(f), tostring(f)); print(pcall(f.write, f, "x"))
print(pcall(function() return f:read() end))
f = assert(io.open(name))
print(f:read()); print(f:read("n", "n")); print(f:read("L")); print(f:read(4), f:read(0))
print(f:read("a")); print(f:read("a"), f:read("l"), f:read(0), f:read(5))
print(f:seek("set", 5), f:read("l"), f:seek("cur"), f:seek("end"), f:seek("set"))
print(f:read("l", "L", "l", "l")); f:close()
f = io.open(name, "r"); print(f:read("*l"), f:read("*a") ~= nil); print(pcall(f.read, f, "x"))
print(pcall(f.read, f, "*z")); f:close()
f = io.open(name, "a"); f:write("\nappended"); f:close(); f = io.open(name, "rb")
print(select(2, f:read("a"):gsub("\n", ""))); f:close()
f = io.open(name, "r+"); f:write("LINE"); f:seek("set"); print(f:read()); f:close()
print(os.remove(name), select("#", os.remove(name)), io.open(name) == nil)
