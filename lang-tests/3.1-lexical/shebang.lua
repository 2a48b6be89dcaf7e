#!/usr/bin/env lua
-- A first line that begins with # is skipped, and still counts as a line (3.1, 7).
-- expect: ok
--| after the first line
--| false	shebang.lua:10: position
--| shebang.lua:11: line
--| nil	[string "#!/bin/lua..."]:1: unexpected symbol near '#'

print("after the first line")
print(pcall(error, "position", 2))
local ok, message = pcall(function() error("line") end)
print(message)
print(load("#!/bin/lua\nprint(1)"))
