-- A variable is closed after an error however full the stack is.
-- expect: ok
--| true	0
-- skip(puc): PUC forgets a variable for whose `__close` there is no room

local names = {}
for i = 1, 190 do names[i] = "a" .. i end
local opened, closed
local value = setmetatable({}, { __close = load(([[
  local note = ...
  return function() note() local %s end]]):format(table.concat(names, ",")))(
  function() closed = true end) })
local function last()
  local x <close> = value
  opened = true
  error("enough", 0)
end
local function full(...) last() end
local function fill(n) full(table.unpack(names, 1, n)) end

local found, missing = 0, 0
for n = 999700, 1000000, 10 do
  opened, closed = false, false
  pcall(fill, n)
  if opened then found = found + 1 end
  if opened and not closed then missing = missing + 1 end
end
print(found > 0, missing)
