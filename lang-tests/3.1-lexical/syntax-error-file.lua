-- A syntax error in the script itself is reported without a traceback (3.1).
-- expect: error
--! syntax-error-file.lua:6: unexpected symbol near '='

print("never printed")
local x = = 1
