-- needs: socket
-- package: lua-socket
local socket = require "socket"
local server = assert(socket.bind("127.0.0.1", 0))
local _, port = server:getsockname()
local client = socket.tcp()
client:settimeout(5)
print(client:connect("127.0.0.1", port))
local peer = server:accept()
peer:settimeout(5)
print(client:send "hello\nworld\n")
print(peer:receive "*l", peer:receive(5))
peer:send(("x"):rep(100000))
peer:close()
local all = client:receive "*a"
print(#all, client:receive())
client:close()
local readable = socket.select({ server }, nil, 0)
print(#readable)
server:settimeout(0)
print(server:accept())
print(pcall(server.accept, 1))
local udp = socket.udp()
udp:setsockname("127.0.0.1", 0)
local _, uport = udp:getsockname()
socket.udp():sendto("datagram", "127.0.0.1", uport)
udp:settimeout(5)
print(udp:receive())
-- coroutines that wait for each other on one server
local function serve(n)
  local answered = 0
  server:settimeout(5)
  while answered < n do
    local c = server:accept()
    c:send("answer " .. c:receive() .. "\n")
    c:close()
    answered = answered + 1
    coroutine.yield(answered)
  end
end
local worker = coroutine.wrap(serve)
for i = 1, 3 do
  local c = socket.connect("127.0.0.1", port)
  c:send(i .. "\n")
  if i == 1 then print(worker(3)) else print(worker()) end
  print(c:receive())
end
local ltn12, mime = require "ltn12", require "mime"
print((mime.b64 "perilune"), mime.unb64 "cGVyaWx1bmU=")
local out = {}
local sink = ltn12.sink.chain(mime.encode "base64", (ltn12.sink.table(out)))
ltn12.pump.all(ltn12.source.string(("line "):rep(100)), sink)
print(#table.concat(out))
local url = require "socket.url"
print(url.parse("http://a.b:80/c?d=e").port, url.escape "a b&c")
