-- A branch that was never taken is left to the interpreter.
local function branch(n)
  if n > 10 then return n * 2 end
  return n + 1
end
for i = 1, 4 do branch(i) end
