-- A file is a to-be-closed value, and is closed by the collector (6.8).
-- expect: ok
--| file
--| closed file
--| left open
--| FILE*	true	false	bad argument #1 to 'io.type' (value expected)
--| false	bad argument #1 to '?' (FILE* expected, got number)
--| false	bad argument #1 to '?' (FILE* expected, got no value)
--| false	bad argument #1 to '?' (FILE* expected, got table)

local name = os.tmpname()
local kept
do local f <close> = io.open(name, "w"); f:write("text"); kept = f; print(io.type(f)) end
print(io.type(kept))
; (function() io.open(name, "w"):write("left open") end)()
collectgarbage(); collectgarbage()
local f <close> = io.open(name)
print(f:read("a"))
print(getmetatable(f).__name, pcall(getmetatable(f).__tostring, f) ~= nil, pcall(io.type))
print(pcall(f.read, 5)); print(pcall(f.read)); print(pcall(io.stdout.write, {}, "x"))
os.remove(name)
