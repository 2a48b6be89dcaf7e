-- debug.getlocal and setlocal: parameters, varargs, levels and coroutines (6.10).
-- expect: ok
--| a=1 b=2 c=3 d=nil g=7 h=nil names=table i=11
--| -1	(vararg)	x
--| -2	(vararg)	y
--| -3	(vararg)	nil
--| -4	nil
--| a	c	(vararg)	nil	nil	A	C	V
--| A	2	C	nil	V	y	nil
--| a=nil b=nil c=3 d=nil g=7 h=nil names=table i=11
--| -1	nil
--| -2	nil
--| -3	nil
--| -4	nil
--| a	c	nil	nil	nil	A	C	nil
--| A	nil	C	nil
--| a b nil nil nil	nil	nil	nil	nil
--| false	bad argument #1 to 'debug.getlocal' (level out of range)
--| false	bad argument #1 to 'debug.getlocal' (level out of range)
--| false	bad argument #1 to 'debug.setlocal' (level out of range)
--| false	bad argument #1 to 'debug.getlocal' (number has no integer representation)
--| false	bad argument #1 to 'debug.getlocal' (number expected, got string)
--| false	bad argument #2 to 'debug.getlocal' (number expected, got no value)
--| false	bad argument #2 to 'debug.getlocal' (number expected, got string)
--| false	bad argument #1 to 'debug.setlocal' (number expected, got function)
--| false	bad argument #3 to 'debug.setlocal' (value expected)
--| false	bad argument #2 to 'debug.getlocal' (number expected, got no value)
--| outer inner
--| (for state) (for state) (for state) i (for state) (for state) (for state)
--| mine
--| after
--| false	bad argument #2 to 'debug.getlocal' (level out of range)
--| p	p
--| q	p!
--| (vararg)	va
--| p	q	(vararg)
--| true	P	Q	VA
--| false	bad argument #2 to 'debug.getlocal' (level out of range)
--| a
--| (temporary)	1
--| nil

local getlocal, setlocal = debug.getlocal, debug.setlocal
local function f(a, b, ...) local c, d = 3; do local e = 5 end local g <const>, h <close> = 7, nil
  local names = {}
  for i = 1, 100 do
    local n, v = getlocal(1, i); if not n then break end
    if n:sub(1, 1) ~= "(" then names[#names + 1] = n .. "=" .. tostring(v) end
  end
  print((table.concat(names, " "):gsub("table: 0x%x+", "table")))
  for i = -1, -4, -1 do print(i, getlocal(1, i)) end
  print(setlocal(1, 1, "A"), setlocal(1, 3, "C"), setlocal(1, -1, "V"), setlocal(1, -5, 1),
    setlocal(1, 200, 1), a, c, (...))
  return a, b, c, d, ...
end
print(f(1, 2, "x", "y", nil)); print(f())
for i = 1, 4 do io.write(tostring(getlocal(f, i)), " ") end
print(getlocal(f, 0), getlocal(f, -1), getlocal(print, 1), getlocal(function(...) end, 1),
  getlocal(function() end, 1))
print(pcall(getlocal, 1000, 1)); print(pcall(getlocal, -1, 1)); print(pcall(setlocal, 1000, 1, 1))
print(pcall(getlocal, 1.5, 1)); print(pcall(getlocal, "x", 1)); print(pcall(getlocal, f))
print(pcall(getlocal, f, "x")); print(pcall(setlocal, f, 1, 1)); print(pcall(setlocal, 1, 1))
print(pcall(getlocal))
-- Only what is in scope, and the innermost of equal names last.
local x = "outer"
do
  local x = "inner"; local y; local seen = {}
  for i = 1, 50 do local n, v = getlocal(1, i); if n == "x" then seen[#seen + 1] = v end end
  print(table.concat(seen, " "))
end
for i = 1, 1 do
  local names = {}
  for k = 1, 50 do
    local n = getlocal(1, k); if n == "(for state)" or n == "i" then names[#names + 1] = n end
  end
  print(table.concat(names, " "))
end
-- Other levels, and coroutines.
local function caller()
  local mine = "before";
  (function()
    for i = 1, 9 do if getlocal(2, i) == "mine" then print(setlocal(2, i, "after")) end end
  end)()
  return mine
end
print((caller()))
local co = coroutine.create(function(p, ...)
  local q = p .. "!"; coroutine.yield(); return p, q, ...
end)
print(pcall(getlocal, co, 0, 1)); coroutine.resume(co, "p", "va"); print(getlocal(co, 1, 1))
print(getlocal(co, 1, 2)); print(getlocal(co, 1, -1))
print(setlocal(co, 1, 1, "P"), setlocal(co, 1, 2, "Q"), setlocal(co, 1, -1, "VA"))
print(coroutine.resume(co)); print(pcall(getlocal, co, 1, 1)); print(getlocal(co, f, 1))
local stripped = load(string.dump(function(a, b)
  local c = a; return debug.getlocal(1, 1)
end, true))
print(stripped(1, 2)); print(getlocal(stripped, 1))
