-- dofile and pairs are yieldable; load's result runs in the coroutine (2.6, 6.1).
-- expect: ok
--| in file
--| file got resumed
--| 1	2	3
--| back
--| pairs
--| pair	1	state
--| end

local name = os.tmpname()
local f = assert(io.open(name, "w"))
f:write("local x = coroutine.yield('in file', ...)\nreturn 'file got ' .. x")
f:close()
local co = coroutine.wrap(function() return dofile(name) end)
print(co())
print(co("resumed"))
os.remove(name)
local chunk = load("return coroutine.yield(...)")
co = coroutine.wrap(chunk)
print(co(1, 2, 3))
print(co("back"))
co = coroutine.wrap(function()
  for k, v in pairs(setmetatable({},
    { __pairs = function(t) return coroutine.yield("pairs") end })) do
    print("pair", k, v)
  end
  return "end"
end)
print(co())
print(co(function(s, c) if not c then return 1, s end end, "state"))
