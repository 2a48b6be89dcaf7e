-- yield in a tail position returns its values to the caller (2.6, 3.4.10).
-- expect: ok
--| 1	2
--| relay gave	3	4
--| last
--| 5	6
--| 3	2	1	finished

local function relay(...) return coroutine.yield(...) end
local co = coroutine.wrap(function(...)
  print("relay gave", relay(...))
  return relay("last")
end)
print(co(1, 2))
print(co(3, 4))
print(co(5, 6))
local loop = coroutine.wrap(function()
  local function again(n)
    if n == 0 then return "finished" end coroutine.yield(n) return again(n - 1)
  end
  return again(3)
end)
print(loop(), loop(), loop(), loop())
