-- The state of a generic loop is what PUC shows, and writes to it take effect (6.10), also
-- where the loop by next calls nothing.
-- expect: ok
--| 1	true	1:10 2:20 function table 2 nil
--| 1	true	1:10 2:20 function table 2 nil
--| 2	true	1:10 2:20 function table 2 nil 3:3 4:a 5:b
--| 2	true	1:10 2:20 function table 2 nil 3:3 4:a 5:b
--| 3	true	1:10 2:20 function 5 2 nil 5/2
--| 3	true	1:10 2:20 function 5 2 nil 5/2
--| 4	false	setlocal-in-loop-by-next.lua:52: bad argument #1 to 'for iterator' (table expected, got number)
--| 4	false	attempt to index a number value
--| 5	true	1:10 2:20 function table 3 nil 4:40
--| 5	true	1:10 2:20 function table 3 nil 4:40
--| 6	true	1:10 2:20 function table 2 string 3:30 4:40
--| 6	true	1:10 2:20 function table 2 string 3:30 4:40
--| 1	true	1:10 2:20 function table 2 nil
--| 1	true	1:10 2:20 function table 2 nil
--| 2	true	1:10 2:20 function table 2 nil 3:3 4:a 5:b
--| 2	true	1:10 2:20 function table 2 nil 3:3 4:a 5:b
--| 3	true	1:10 2:20 function 5 2 nil 5/2
--| 3	true	1:10 2:20 function 5 2 nil 5/2
--| 4	false	setlocal-in-loop-by-next.lua:52: bad argument #1 to 'for iterator' (table expected, got number)
--| 4	false	attempt to index a number value
--| 5	true	1:10 2:20 function table 3 nil 4:40
--| 5	true	1:10 2:20 function table 3 nil 4:40
--| 6	true	1:10 2:20 function table 2 string 3:30 4:40
--| 6	true	1:10 2:20 function table 2 string 3:30 4:40
--| a:1
--| key
--| key
--| key
--| 1=2 2=4 1=from the iterator 2=8 3=9
--| 1=1 2=2 3=7 4=8
--| 1=1 2=2 3=7 4=8
--| 1=10 2=20 4=40 5=50
local function hidden(level)
  local found = {}
  for n = 1, 40 do
    local name = debug.getlocal(level + 1, n)
    if not name then break end
    if name == "(for state)" then found[#found + 1] = n end
  end
  return found
end

local function show(v)
  return type(v) == "number" and tostring(v) or type(v)
end

local function loop(mode, first, object, control)
  local out = {}
  for k, v in first, object, control do
    out[#out + 1] = tostring(k) .. ":" .. tostring(v)
    if mode > 0 and #out == 2 then
      local at = hidden(1)
      local function set(i, value) debug.setlocal(2, at[i], value) end
      if mode == 1 then
        set(1, function(s, c) return nil end)
      elseif mode == 2 then
        set(2, {1, 2, 3, "a", "b"})
      elseif mode == 3 then
        set(1, function(s, c) out[#out + 1] = show(s) .. "/" .. show(c) return nil end)
        set(2, 5)
      elseif mode == 4 then
        set(2, 5)
      elseif mode == 5 then
        set(3, 3)
      elseif mode == 6 then
        set(4, "closing")
      end
      for i = 1, 4 do
        local name, value = debug.getlocal(1, at[i])
        out[#out + 1] = show(value)
      end
    end
    if #out > 20 then break end
  end
  return table.concat(out, " ")
end

local step = ipairs {}
local list = {10, 20, 30, 40}
for i = 1, 200 do
  loop(0, next, list)
  loop(0, step, list, 0)
end
for round = 1, 2 do
  for mode = 1, 6 do
    print(mode, pcall(loop, mode, next, list))
    print(mode, pcall(loop, mode, step, list, 0))
  end
end
print(loop(6, next, {a = 1, b = nil, [2.5] = nil}))

-- The key that a loop has reached stays its control variable when it is gone from the table.
local function cleared()
  local object = setmetatable({}, {__name = "key"})
  local t = {[object] = 1}
  object = nil
  for k in next, t do
    t[k] = nil
    k = nil
    collectgarbage()
    local at = hidden(1)
    local _, control = debug.getlocal(1, at[3])
    debug.setlocal(1, at[1], function(s, c) return nil end)
    return getmetatable(control).__name
  end
end
for i = 1, 3 do print(cleared()) end

-- From outside: by an iterator, by another coroutine, and by a hook.
local function by_iterator()
  local out, calls = {}, 0
  local function iterator(s, c)
    calls = calls + 1
    if calls == 3 then
      debug.setlocal(2, hidden(2)[1], next)
      debug.setlocal(2, hidden(2)[2], {7, 8, 9})
      return 1, "from the iterator"
    end
    return calls, calls * 2
  end
  for k, v in iterator do
    out[#out + 1] = k .. "=" .. v
    if #out > 8 then break end
  end
  return table.concat(out, " ")
end
for i = 1, 100 do by_iterator() end
print(by_iterator())

for i = 1, 50 do
  local co = coroutine.create(function(t)
    local out = {}
    for k, v in next, t do
      out[#out + 1] = k .. "=" .. v
      coroutine.yield()
    end
    return table.concat(out, " ")
  end)
  local ok, result = coroutine.resume(co, {1, 2, 3, 4})
  ok, result = coroutine.resume(co)
  for n = 1, 10 do
    local name, value = debug.getlocal(co, 1, n)
    if value == next then debug.setlocal(co, 1, n + 1, {5, 6, 7, 8}) end
  end
  while coroutine.status(co) ~= "dead" do ok, result = coroutine.resume(co) end
  if i % 25 == 0 then print(result) end
end

local function hooked(t)
  local out = {}
  for k, v in next, t do
    out[#out + 1] = k .. "=" .. v
    if k == 2 then
      debug.sethook(function()
        debug.sethook()
        debug.setlocal(2, hidden(2)[3], 3)
      end, "l")
    end
    local line = k
  end
  return table.concat(out, " ")
end
for i = 1, 100 do hooked {1} end
print(hooked {10, 20, 30, 40, 50})
