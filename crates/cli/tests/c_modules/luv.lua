-- needs: luv
-- package: lua-luv
local uv = require "luv"
local log, handles = {}, {}
local function keep(handle)
  handles[#handles + 1] = handle -- a handle that is collected is closed
  return handle
end
local timer = keep(uv.new_timer())
local ticks = 0
timer:start(1, 1, function()
  ticks = ticks + 1
  if ticks == 3 then
    timer:close(function() log[#log + 1] = "closed" end)
  end
end)
local server = keep(uv.new_tcp())
server:bind("127.0.0.1", 0)
server:listen(16, function(err)
  assert(not err, err)
  local c = keep(uv.new_tcp())
  server:accept(c)
  c:read_start(function(_, chunk)
    if chunk then c:write(chunk:upper()) else
      c:close()
      server:close()
    end
  end)
end)
local client = keep(uv.new_tcp())
client:connect("127.0.0.1", server:getsockname().port, function()
  client:read_start(function(_, chunk)
    log[#log + 1] = chunk
    client:shutdown(function() client:close() end)
  end)
  client:write "message"
end)
-- the loop runs in a coroutine, and callbacks resume another one
local waiting
local worker = coroutine.create(function()
  waiting = coroutine.running()
  local t = keep(uv.new_timer())
  t:start(2, 0, function()
    t:close()
    coroutine.resume(waiting, "woken")
  end)
  local how = coroutine.yield()
  log[#log + 1] = how
end)
coroutine.resume(worker)
coroutine.wrap(function() uv.run() end)()
table.sort(log)
print(ticks, table.concat(log, " "))
print(uv.fs_stat("/etc").type, uv.os_getpid() > 0)
local result
local work = uv.new_work(function(a, b) return a * b end, function(r) result = r end)
work:queue(6, 7)
uv.run()
print(result)
local thread = uv.new_thread(function(n)
  local sum = 0
  for i = 1, n do sum = sum + i end
  assert(sum == 5050)
end, 100)
print(thread:join())
