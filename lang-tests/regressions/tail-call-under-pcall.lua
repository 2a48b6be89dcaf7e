-- A tail call in a function that pcall or xpcall runs: the results go to them, in whatever way the
-- callee is run.
-- expect: ok
--| true	0	1
--| true	0	2
--| false	error in error handling
--| 0

local function down(x)
  if x == 0 then return 0, 1 end
  local again = function() return down(x - 1) end
  local ok, a, b = pcall(again)
  return a, b + (x - 1)
end
print(pcall(down, 1))
print(pcall(down, 2))
local function fail(x)
  if x == 0 then error("a") end
  local again = function() return fail(x - 1) end
  local a, b = xpcall(again, again)
  return a, tostring(b):match("error in error handling") or b
end
print(fail(1))
local n = 0
for i = 1, 3 do if not fail(2) then n = n + 1 end end
print(n)
