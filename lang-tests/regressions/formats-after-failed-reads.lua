-- expect: ok
--| Is a directory
--| Is a directory
--| Is a directory
--| bad argument #3 to 'read' (invalid format)
--| bad argument #4 to 'read' (invalid format)
--| Is a directory
-- Reading the remainder of a file never fails by itself: the formats after it are used, too.
local f = io.open("/")
local function message(...)
    local ok, result, text = pcall(f.read, f, ...)
    text = ok and text or result
    return (text:gsub("to '[^']*'", "to 'read'"))
end
print(message("a"))
print(message("a", "a"))
print(message("a", 5))
print(message("a", "x"))
print(message("a", "a", "x"))
print(message("a", "l", "x"))
f:close()
