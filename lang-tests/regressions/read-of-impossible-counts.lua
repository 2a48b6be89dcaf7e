-- A count that no memory has room for is an error, not the end of the file (6.8).
-- expect: ok

print(pcall(io.read, -1)); print(pcall(io.read, 1 << 50)); print(pcall(io.read, 1 << 20))
local f = io.tmpfile(); f:write("text"); f:seek("set")
print(pcall(f.read, f, 2, -1)); print(f:read("a"))
for _, n in ipairs({ -1, 1 << 50 }) do print(pcall(function() for s in f:lines(n) do end end)) end
