-- needs: term, system
-- package: lua-term lua-system
local term = require "term"
print(term.isatty(io.stdout), term.isatty(io.stdin))
print(pcall(function() return term.isatty(1) end))
print(term.colors.red .. "red" .. term.colors.reset)
term.cleareol()
print()
local system = require "system"
local a = system.gettime()
system.sleep(0.01)
print(system.gettime() - a >= 0.01, system.monotime() > 0)
