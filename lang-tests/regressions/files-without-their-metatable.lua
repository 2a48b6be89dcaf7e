-- expect: ok
--| nil
--| false	bad argument #1 to 'read' (FILE* expected, got userdata)
--| false	bad argument #1 to 'close' (FILE* expected, got userdata)
--| false	bad argument #1 to 'type' (FILE* expected, got userdata)
--| false	bad argument #1 to 'input' (FILE* expected, got userdata)
--| file	some text
-- A file whose metatable was changed is no file until it has the metatable again.
local f = io.tmpfile()
f:write("some text")
f:seek("set")
local meta = debug.getmetatable(f)
local read, tostring_of_files = meta.__index.read, meta.__tostring
debug.setmetatable(f, nil)
print(io.type(f))
local function show(name, ok, message)
    print(ok, (message:gsub("'[^']*'", "'" .. name .. "'")))
end
show("read", pcall(read, f))
show("close", pcall(io.close, f))
show("type", pcall(tostring_of_files, f))
show("input", pcall(io.input, f))
debug.setmetatable(f, meta)
print(io.type(f), f:read("a"))
f:close()
