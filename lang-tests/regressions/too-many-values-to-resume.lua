-- Values that do not fit into the stack to which a coroutine passes them (manual 6.2).
-- expect: ok
--| true	1
--| false	too many arguments to resume
--| suspended
--| true	2	nil	nil	nil	nil
--| false	too many results to resume	nil	nil	nil
--| dead
--| false	too many results to resume	nil	nil	nil
--| false	too many results to resume	nil	nil	nil
--| dead
--| false	too many results to resume	nil	nil	nil
--| false	too many results to resume	nil	nil	nil
--| true	end

local many = {}
for i = 1, 900000 do many[i] = i end
local function deep(n, f)
  if n == 0 then return f() end
  local a, b, c, d, e = deep(n - 1, f)
  return a, b, c, d, e
end

local co = coroutine.create(function(...)
  return deep(50000, function() return select("#", coroutine.yield(1)) end)
end)
print(coroutine.resume(co))
print(coroutine.resume(co, table.unpack(many)))
print(coroutine.status(co))
print(coroutine.resume(co, 1, 2))

for _, first in ipairs { false, true } do
  local function body()
    if first then coroutine.yield() end
    return table.unpack(many)
  end
  co = coroutine.create(body)
  if first then coroutine.resume(co) end
  print(deep(50000, function() local ok, e = coroutine.resume(co) return ok, e end))
  print(coroutine.status(co))
  co = coroutine.wrap(body)
  if first then co() end
  print(deep(50000, function() local ok, e = pcall(co) return ok, e end))
end
-- one that yields them goes on
co = coroutine.create(function() coroutine.yield(table.unpack(many)) return "end" end)
print(deep(50000, function() local ok, e = coroutine.resume(co) return ok, e end))
print(coroutine.resume(co))
