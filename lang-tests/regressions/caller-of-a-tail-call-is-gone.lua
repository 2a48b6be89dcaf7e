-- A function that ended with a tail call may be collected while the frame goes on; an error there
-- does not look at it.
-- expect: ok
--| false	gone 5 200
--| false	gone 10 200
--| false	gone 15 200
--| false	gone 20 200
--| gone 5 200
--| gone 10 200
--| gone 15 200
--| gone 20 200
--| gone 7 200!
local function fill()
  local t = {}
  for i = 1, 200 do t[i] = function() return i, t end end
  return t
end
local function fail(x)
  collectgarbage()
  collectgarbage()
  local t = fill()
  error("gone " .. x .. " " .. #t, 0)
end
for i = 1, 20 do
  local ok, message = pcall(function(x, ...) local y = x return fail(y, ...) end, i, 1, 2)
  if i % 5 == 0 then print(ok, message) end
end
for i = 1, 20 do
  local co = coroutine.wrap(function(...)
    return select(2, pcall(function(...) return fail(...) end, ...))
  end)
  if i % 5 == 0 then print(co(i, 2)) else co(i) end
end
print(select(2, xpcall(function(...) return fail(...) end, function(m) return m .. "!" end, 7)))
