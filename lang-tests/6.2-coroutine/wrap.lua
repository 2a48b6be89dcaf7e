-- coroutine.wrap: values, errors and dead functions (6.2).
-- expect: ok
--| start	a	nil
--| 1	2
--| second	b	nil
--| end	nil
--| false	cannot resume dead coroutine
--| false	cannot resume dead coroutine
--| false	wrap.lua:37: message
--| false	cannot resume dead coroutine
--| false	plain
--| false	wrap.lua:39: plain
--| false	wrap.lua:40: plain
--| false	42
--| 7
--| false	nil
--| false	wrap.lua:44: wrap.lua:43: attempt to index a nil value (local 'x')
--| closed	in body
--| false	in body
--| false	cannot resume dead coroutine
--| false	in close of body
--| 1:1 2:4 3:9 
--| false	cannot resume non-suspended coroutine
--| 1 2 1 3 1 2 1 4 1 2 1 3 1 2 1 
--| 0
--| 1	nil	3
--| 1
--| false	bad argument #1 to 'coroutine.wrap' (function expected, got no value)
--| function

local wrap, yield = coroutine.wrap, coroutine.yield
local f = wrap(function(...)
  print("start", ...); print("second", yield(1, 2)); return "end", nil
end)
print(f("a", nil)); print(f("b", nil)); print(pcall(f)); print(pcall(f))
-- A message of an error gets the position of the caller in front, an object stays as it is.
f = wrap(function() error("message") end); print(pcall(f)); print(pcall(f))
f = wrap(function() error("plain", 0) end); print(pcall(f))
f = wrap(function() error("plain", 0) end); print(pcall(function() f() end))
f = wrap(function() error("plain", 0) end); print(pcall(function() return (f()) end))
f = wrap(function() error(42) end); print(pcall(f)); f = wrap(function() error({ 7 }) end)
print(select(2, pcall(f))[1]); f = wrap(error); print(pcall(f))
f = wrap(function() local x = nil; return x.y end)
print(pcall(function() local r = f(); return r end))
-- An error closes what is pending, once.
f = wrap(function()
  local c <close> = setmetatable({}, { __close = function(_, e) print("closed", e) end })
  error("in body", 0)
end)
print(pcall(f)); print(pcall(f))
f = wrap(function()
  local c <close> = setmetatable({}, { __close = function(_, e) error("in close of " .. e, 0) end })
  error("body", 0)
end)
print(pcall(f))
-- As an iterator, and called by itself.
for i, j in wrap(function() for i = 1, 3 do yield(i, i * i) end end) do io.write(i, ":", j, " ") end
print()
local self; self = wrap(function() return pcall(self) end); print(self())
local function tree(n) if n > 0 then tree(n - 1); yield(n); tree(n - 1) end end
for n in wrap(function() tree(4) end) do io.write(n, " ") end print()
print(select("#", wrap(function() end)())); print(wrap(yield)(1, nil, 3)); wrap(wrap(print))(1)
print(pcall(wrap)); print(type(f))
