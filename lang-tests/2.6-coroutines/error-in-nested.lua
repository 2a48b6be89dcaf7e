-- Errors cross a chain of coroutines one resume at a time (2.6).
-- expect: ok
--| false	bottom < 1 < 2 < 3 < 4
--| false	error-in-nested.lua:16: error-in-nested.lua:16: error-in-nested.lua:16: error-in-nested.lua:16: error-in-nested.lua:16: deep
--| first	true	1
--| outer goes on

local function nest(n)
  if n == 0 then error("bottom", 0) end
  local ok, e = coroutine.resume(coroutine.create(nest), n - 1)
  error(tostring(e) .. " < " .. n, 0)
end
print(pcall(nest, 4))
local function wrapped(n)
  if n == 0 then error("deep", 0) end
  return coroutine.wrap(wrapped)(n - 1)
end
print(pcall(wrapped, 5))
local co = coroutine.wrap(function()
  local ok, e = pcall(coroutine.wrap(function() coroutine.yield(1); error("inner", 0) end))
  print("first", ok, e)
  return "outer goes on"
end)
print(co())
