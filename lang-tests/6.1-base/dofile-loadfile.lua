-- dofile and loadfile read a file (6.1).
-- expect: ok
--| nil	from file
--| arg	from file
--| after shebang
--| after mark
--| after both	2
--| nil	FILE:1: unexpected symbol near '='
--| true
--| own environment
--| attempt to load a text chunk (mode is 'b')
--| false	bad argument #1 to 'loadfile' (string expected, got table)
--| 5
--| nil	cannot open does-not-exist.lua: No such file or directory
--| false	cannot open does-not-exist.lua: No such file or directory

local name = os.tmpname()
local function write(text) local f = assert(io.open(name, "wb")); f:write(text); f:close() end
write("return ..., 'from file'")
print(dofile(name)); print(loadfile(name)("arg"))
write("#!shebang line\nreturn 'after shebang'")
print(dofile(name))
write("\xef\xbb\xbfreturn 'after mark'")
print(dofile(name))
write("\xef\xbb\xbf#! both\nreturn 'after both', debug.getinfo(1, 'l').currentline")
print(dofile(name))
write("x = = 1")
local f, message = loadfile(name)
print(f, (message:gsub("^.*:(%d+:)", "FILE:%1")))
print(pcall(dofile, name) == false)
write("return value")
print(loadfile(name, "t", { value = "own environment" })())
print((select(2, loadfile(name, "b")):gsub("^.*attempt", "attempt")))
print(pcall(loadfile, {}))
write("error({ code = 5 })")
print(select(2, pcall(dofile, name)).code)
os.remove(name)
print(loadfile("does-not-exist.lua"))
print(pcall(dofile, "does-not-exist.lua"))
