-- A function that calls itself, as a member of its module.
local function recursion(n) if n == 0 then return 0 end return 1 + recursion(n - 1) end
recursion(4)
