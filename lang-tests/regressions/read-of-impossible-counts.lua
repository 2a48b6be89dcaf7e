-- A count that no memory has room for is an error, not the end of the file (6.8).
-- expect: ok
--| false	not enough memory
--| true	nil
--| false	not enough memory
--| xt
--| false	not enough memory

print(pcall(io.read, -1)); print(pcall(io.read, 1 << 20))
local f = io.tmpfile(); f:write("text"); f:seek("set")
print(pcall(f.read, f, 2, -1)); print(f:read("a"))
print(pcall(function() for s in f:lines(-1) do end end))
