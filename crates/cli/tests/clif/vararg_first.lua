-- A function with extra arguments.
local function first(...)
  local a = ...
  return a
end
for i = 1, 4 do first(i, 2) end
