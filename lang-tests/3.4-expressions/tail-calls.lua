-- Tail calls use no stack (3.4.10).
-- expect: ok
--| done
--| false
--| method
--| a	nil	c
--| callable
--| 0
--| 2
--| b
--| false	in tail call
--| 2

local function loop(n) if n == 0 then return "done" end return loop(n - 1) end
print(loop(20000))
local function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
print(even(20001))
local t = {}
function t:method(n) if n > 0 then return self:method(n - 1) end return "method" end
print(t:method(20000))
local function vararg(n, ...) if n == 0 then return ... end return vararg(n - 1, ...) end
print(vararg(5000, "a", nil, "c"))
local callable = setmetatable({}, { __call = function(self, n)
  if n == 0 then return "callable" end return self(n - 1)
end })
print(callable(100))
local function cond(n)
  if n <= 0 then return n end return n % 2 == 0 and cond(n - 2) or cond(n - 1)
end
print(cond(50))
local function to_builtin(...) return select("#", ...) end
print(to_builtin(1, nil))
local function state(n, s)
  if n == 0 then return s end return (s == "a" and state or state)(n - 1, s == "a" and "b" or "a")
end
print(state(1001, "a"))
print(pcall(function() return error("in tail call", 0) end))
print(select("#", (function() return pcall(error) end)()))
