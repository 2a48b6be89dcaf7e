-- Coroutines that take the memory of dead ones, which have died in every way: ended, failed, closed
-- and dropped while suspended, with large stacks, shared variables and hooks.
-- expect: ok
--| 36870	4000	2000	50
local function deep(n)
  if n == 0 then coroutine.yield("deep") return 0 end
  return 1 + deep(n - 1)
end
local kept = {}
local function make(i)
  local kind = i % 6
  local co = coroutine.create(function(...)
    local a, b, c = ...
    local shared = i
    local function bump() shared = shared + 1 return shared end
    if kind == 1 then error("failed " .. i, 0) end
    if kind == 2 then deep(60) end
    if kind == 3 then
      local closed <close> = setmetatable({}, { __close = bump })
      coroutine.yield(bump)
    end
    if kind == 4 then kept[#kept % 50 + 1] = bump coroutine.yield(bump()) end
    local x, y, z
    return x, y, z, a, b, c, bump()
  end)
  if kind == 5 then debug.sethook(co, function() end, "l") end
  return co, kind
end
local sum, states = 0, {}
for round = 1, 4 do
  for i = 1, 1500 do
    local co, kind = make(i)
    assert(debug.gethook(co) ~= nil == (kind == 5))
    local results = table.pack(coroutine.resume(co, i, nil, i + 1))
    if kind == 0 or kind == 5 then
      assert(results[1] and results.n == 8)
      assert(results[2] == nil and results[3] == nil and results[4] == nil)
      assert(results[5] == i and results[6] == nil and results[7] == i + 1 and results[8] == i + 1)
    elseif kind == 1 then
      assert(results[2] == "failed " .. i)
    elseif kind == 3 then
      assert(coroutine.close(co))
      assert(results[2]() == i + 2)
    end
    local status = coroutine.status(co)
    states[status] = (states[status] or 0) + 1
  end
  collectgarbage()
  for _, bump in ipairs(kept) do sum = sum + bump() end
end
print(sum, states.dead, states.suspended, #kept)
