-- Nine functions that call each other: errors, tracebacks, yields, debug.getinfo and operands of
-- another kind at the bottom, collections, and functions that end with tail calls.
-- expect: ok
--| 6600
--| 240.0
--| 260
--| true	69
--| attempt to perform arithmetic on a table value (local 'x')
--| false	at the bottom 1
--| 1800
--| 2200
--| 54
--| 150	1725
--| 2001000

local bottom
local function f9(x) return bottom(x) + 1 end
local function f8(x) local y = f9(x) return y + 1 end
local function f7(x) local y = f8(x) return y + 1 end
local function f6(x) local y = f7(x) return y + 1 end
local function f5(x) local y = f6(x) return y + 1 end
local function f4(x) local y = f5(x) return y + 1 end
local function f3(x) local y = f4(x) return y + 1 end
local function f2(x) local y = f3(x) return y + 1 end
local function f1(x) local y = f2(x) return y + 1 end

local function times(n, x)
  local sum = 0
  for _ = 1, n do sum = sum + f1(x) end
  return sum
end

bottom = function(x) return x * 2 end
print(times(600, 1))
print(times(20, 1.5))
print(times(20, 2))

-- other operands, and other functions at the bottom
print(pcall(times, 3, "7"))
print((select(2, pcall(times, 3, {})):gsub("^.-:%d+: ", "")))
bottom = function(x) error("at the bottom " .. x, 0) end
print(pcall(times, 3, 1))
bottom = function(x) return x end
print(times(200, setmetatable({}, { __add = function(_, n) return n end })))

-- levels, as seen from the bottom
bottom = function(x)
  local lines = {}
  for level = 1, 12 do
    local info = debug.getinfo(level, "l")
    lines[#lines + 1] = info and info.currentline or "none"
  end
  collectgarbage("step")
  return #lines + x
end
print(times(100, 1))
bottom = function() return select(2, debug.traceback("x"):gsub("'f%d'", "")) end
print(times(3, 1))

-- yields
bottom = function(x) return coroutine.yield(x) end
local co = coroutine.wrap(function() return times(50, 3) end)
local got = co()
for n = 1, 49 do got = got + co(n) end
print(got, co(50))

-- each calls the next one at several places, and ends with a tail call of various functions
local ends = { tostring, math.abs, function(x) return x end }
local f = function(x) return x end
for _ = 1, 8 do
  local g = f
  f = function(x)
    local k = x % 4
    if k == 0 then g(x + 1)
    elseif k == 1 then g(x + 1)
    elseif k == 2 then g(x + 1)
    else g(x + 1) end
    return ends[x % 3 + 1](x)
  end
end
local seen = 0
for n = 1, 2000 do seen = seen + tonumber(f(n)) end
print(seen)
