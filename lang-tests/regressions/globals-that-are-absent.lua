-- expect: ok
--| 501500
--| -500500
--| 501500
--| 5150	false
--| 534000	100
--| 105	nil
--| 370	-210	40	14
--| 350	-210
--| 310	230	false	globals-that-are-absent.lua:51: attempt to call a nil value (global 'missing')
--| false	false	globals-that-are-absent.lua:20: undeclared DEBUG
--| 48550
--| 90300
--| 46520
--| 90300
--| 1	50	nil	nil
--| nil	50	new	nil
-- Globals that are not there, at least at first, in environments with and without metatables.
local function debugged(x)
  if DEBUG then return -x end
  return x + 1
end
local function sum(n) local s = 0 for i = 1, n do s = s + debugged(i) end return s end
print(sum(1000))
DEBUG = true
print(sum(1000))
DEBUG = nil
print(sum(1000))
DEBUG = false
print(sum(100), DEBUG)
DEBUG = nil
local function maybe(i) return (optional or 5) + i end
local function total(n)
  local s = 0
  for i = 1, n do
    s = s + maybe(i)
    if i == 700 then optional = 100 end
  end
  return s
end
print(total(1000), optional)
optional = nil
print(total(10), optional)
-- a metatable is asked
local asked = 0
setmetatable(_G, { __index = function(_, k) asked = asked + 1 return #k end })
print(total(20), sum(20), asked, undefined_name)
setmetatable(_G, { __index = { optional = 7, DEBUG = true } })
print(total(20), sum(20))
setmetatable(_G, nil)
print(total(20), sum(20), pcall(function() for i = 1, 100 do sum(i) end return missing() end))
-- strict environments
setmetatable(_G, { __index = function(_, k) error("undeclared " .. k, 2) end })
print(pcall(maybe, 1), pcall(sum, 3))
setmetatable(_G, nil)
-- other environments
local code = [[
  local n = ...
  return function(i)
    if flag then return i * 2 end
    return (extra or n) + i
  end
]]
local inherits = setmetatable({}, { __index = { flag = 2 } })
for _, env in ipairs({ {}, { flag = 1 }, { extra = 3 }, inherits }) do
  local f = load(code, "=env", "t", env)(10)
  local s = 0
  for i = 1, 300 do
    s = s + f(i)
    if i == 290 then env.extra = 50 end
  end
  print(s)
end
local many = {}
for i = 1, 100 do many["g" .. i] = i end
local source = "return function() return g1, g50, g101, nothing end"
local g = load(source, "=many", "t", many)()
for i = 1, 300 do g() end
print(g())
many.g101, many.g1 = "new", nil
print(g())
