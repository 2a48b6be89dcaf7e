-- needs: readline
-- package: lua-readline
local readline = require "readline"
readline.set_options { histfile = "" , completion = false }
readline.add_history "first"
print(type(readline.readline))
