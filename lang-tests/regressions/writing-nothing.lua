-- covers: writing empty strings to a file that is open for reading only
-- expect: ok
--| true
--| nil	Bad file descriptor	9
--| true

local file = io.open("/dev/null", "r")
print(file:write("", "") == file)
print(file:write("", "a"))
print(file:close())
