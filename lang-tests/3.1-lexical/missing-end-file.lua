-- A block without its end names the line where it began (3.3).
-- expect: error
--! missing-end-file.lua:10: 'end' expected (to close 'if' at line 6) near <eof>

local function f()
  if true then
    print(1)

print(2)
