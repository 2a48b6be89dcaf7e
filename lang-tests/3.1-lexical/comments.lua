-- Comments of both forms, and what ends them (3.1).
-- expect: ok
--| 1
--| 2
--| 3
--| 4
--| 5
--| 6
--| 7
--| 8
--| 9	10
--| 11

print(1) -- a short comment
--[[ a long comment ]] print(2)
--[[
print("inside")
]] print(3)
--[==[ ]] ]=] still inside
print("inside") ]==] print(4)
--[ not long
print(5)
--[=not long either
print(6) --]] print("not reached")
--[[]]print(7)
---[[ a short comment
print(8)
--]]
print(--[[ within an expression ]] 9, 10 --[=[ again ]=])
--
print(11)--
--[[ ends at the end of file]]
