-- Finalizers of living objects run when the state closes, in reverse order of marking (2.5.3).
-- expect: ok
--| end of program
--| closing local
--| closing 4
--| closing 3
--| closing 2
--| closing 1

for i = 1, 4 do
  _G["object" .. i] = setmetatable({}, { __gc = function() print("closing " .. i) end })
end
local kept = setmetatable({}, { __gc = function() print("closing local") end })
print("end of program")
