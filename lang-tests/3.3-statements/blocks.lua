-- do blocks, empty statements and semicolons (3.3.1).
-- expect: ok
--| 2
--| 1
--| nil
--| called
--| ambiguity avoided
--| 2
--| return ends the chunk

;;; do end; do ; end
do local x = 1; do local x = 2; print(x) end; print(x) end
print(x)
;(function() print("called") end)()
local f = print
;(f or print)("ambiguity avoided")
do
  local a = 1
  local function get() return a end
  a = 2
  print(get())
end;
return print("return ends the chunk");
