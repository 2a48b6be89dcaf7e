-- An unfinished string in the script (3.1).
-- expect: error
--! unfinished-string-file.lua:5: unfinished string near '"no end'

local s = "no end
print(s)
