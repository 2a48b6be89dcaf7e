-- needs: cqueues
-- package: lua-cqueues
local cqueues = require "cqueues"
local socket = require "cqueues.socket"
local condition = require "cqueues.condition"
local thread = require "cqueues.thread"
local queue = cqueues.new()
local log, ready = {}, condition.new()
local server = socket.listen { host = "127.0.0.1", port = 0 }
local _, _, port = server:localname()
queue:wrap(function()
  local c = server:accept()
  for line in c:lines() do
    c:write("echo " .. line .. "\n")
    c:flush()
  end
  c:close()
  log[#log + 1] = "server ends"
  ready:signal()
end)
queue:wrap(function()
  local c = socket.connect("127.0.0.1", port)
  for i = 1, 3 do
    c:write("line " .. i .. "\n")
    c:flush()
    log[#log + 1] = c:read "*l"
  end
  c:close()
end)
queue:wrap(function()
  ready:wait()
  cqueues.sleep(0.01)
  log[#log + 1] = "timer"
end)
assert(queue:loop())
print(table.concat(log, "\n"))
queue:wrap(function() error("in a coroutine", 0) end)
print((select(2, queue:loop())))
-- a state of its own on another thread
local t, pipe = thread.start(function(pipe, text)
  pipe:write(text:rep(3), "\n")
end, "abc")
print(pipe:read "*l")
print(t:join())
