-- needs: ssl, openssl.x509, socket
-- package: lua-sec lua-luaossl lua-socket
local pkey, x509 = require "openssl.pkey", require "openssl.x509"
local name = require "openssl.x509.name"
local key = pkey.new { type = "RSA", bits = 2048 }
local subject = name.new()
subject:add("CN", "localhost")
local cert = x509.new()
cert:setVersion(3)
cert:setSerial(1)
cert:setSubject(subject)
cert:setIssuer(subject)
cert:setLifetime(os.time() - 60, os.time() + 3600)
cert:setPublicKey(key)
cert:sign(key)
local function save(text)
  local path = os.tmpname()
  local f = io.open(path, "w")
  f:write(text)
  f:close()
  return path
end
local keyfile, certfile = save(key:toPEM "private"), save(tostring(cert))
local socket, ssl = require "socket", require "ssl"
local server = assert(socket.bind("127.0.0.1", 0))
local _, port = server:getsockname()
local client = socket.connect("127.0.0.1", port)
local peer = server:accept()
local settings = { mode = "server", protocol = "any", key = keyfile, certificate = certfile }
local s = assert(ssl.wrap(peer, settings))
local c = assert(ssl.wrap(client, { mode = "client", protocol = "any", verify = "none" }))
s:settimeout(0)
c:settimeout(0)
local server_done, client_done
for _ = 1, 1000 do
  server_done = server_done or s:dohandshake()
  client_done = client_done or c:dohandshake()
  if server_done and client_done then break end
  socket.select({ peer, client }, nil, 0.01)
end
print(server_done, client_done)
s:settimeout(5)
c:settimeout(5)
print(c:send "over tls\n")
print(s:receive "*l")
print(c:getpeercertificate():subject()[1].value)
s:close()
c:close()
os.remove(keyfile)
os.remove(certfile)
