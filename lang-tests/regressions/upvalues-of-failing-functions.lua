-- Closures that a failing function has made keep its variables, whatever has called the function.
-- expect: ok
--| false	hook
--| hook	hook kept
--| false	comparison
--| comparison	comparison kept
--| false	tostring
--| tostring	tostring kept
--| false	body
--| false	close
--| close	close kept
--| false	close of wrap
--| close of wrap	close of wrap kept
--| false	close
--| close	close kept

local made
local function failing(message)
  local v, w = { message }, message .. " kept"
  made = function() return v and v[1], w end
  error(message, 0)
end
local function closing(message)
  return setmetatable({}, { __close = function() failing(message) end })
end
local function show(...)
  print(...)
  collectgarbage() collectgarbage()
  local t = {}
  for i = 1, 1000 do t[i] = { i } end
  print(made())
end

show(coroutine.resume(coroutine.create(function()
  debug.sethook(function() failing("hook") end, "l")
  local x = 1
  local y = 2
end)))
show(coroutine.resume(coroutine.create(function()
  table.sort({ 3, 2, 1 }, function() failing("comparison") end)
end)))
show(coroutine.resume(coroutine.create(function()
  return tostring(setmetatable({}, { __tostring = function() failing("tostring") end }))
end)))
local co = coroutine.create(function()
  local x <close> = closing("close")
  error("body", 0)
end)
print(coroutine.resume(co))
show(coroutine.close(co))
show(pcall(coroutine.wrap(function()
  local x <close> = closing("close of wrap")
  error("body", 0)
end)))
show(pcall(function()
  local x <close> = closing("close")
  error("body", 0)
end))
