-- A round-robin scheduler with messages (2.6).
-- expect: ok
--| producer	true	put 1
--| consumer	true	took 1
--| failing	true	about to fail
--| producer	true	put 2
--| consumer	true	took 2
--| failing	false	crash
--| producer	true	put 3
--| consumer	true	took 3
--| producer	true	nil
--| consumer	true	consumer done

local queue, trace = {}, {}
local function spawn(name, f, ...)
  queue[#queue + 1] = { name = name, co = coroutine.create(f), args = table.pack(...) }
end
local box = {}
spawn("producer", function(n)
  for i = 1, n do box[#box + 1] = i; coroutine.yield("put " .. i) end
end, 3)
spawn("consumer", function()
  local got = 0
  while got < 3 do
    if #box > 0 then
      got = got + 1; coroutine.yield("took " .. table.remove(box, 1))
    else
      coroutine.yield("waiting")
    end
  end
  return "consumer done"
end)
spawn("failing", function() coroutine.yield("about to fail"); error("crash", 0) end)
while #queue > 0 do
  local task = table.remove(queue, 1)
  local ok, result = coroutine.resume(task.co, table.unpack(task.args, 1, task.args.n))
  print(task.name, ok, result)
  if coroutine.status(task.co) ~= "dead" then queue[#queue + 1] = task end
end
