-- covers: SHA-256 and SHA-512 with 64-bit integers, HMAC, PBKDF2, base64 and base32, hex
-- needs: 5.4
-- Hashes messages in pieces with SHA-224, SHA-256, SHA-384 and SHA-512, checks known answers, signs
-- tokens, builds a Merkle tree and a chain of blocks, and encodes and decodes in four alphabets.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, 36 * scale // 1)
local BYTES = math.max(300, 9000 * math.min(1, scale * 8) // 1)

local pack, unpack = string.pack, string.unpack
local byte, char, sub = string.byte, string.char, string.sub
local format, concat, rep = string.format, table.concat, string.rep

------------------------------------------------------------------------------------------------
-- Constants: the fractional parts of roots of primes, computed with integers

local function primes(count)
  local list, candidate = {}, 2
  while #list < count do
    local is_prime = true
    for _, prime in ipairs(list) do
      if prime * prime > candidate then break end
      if candidate % prime == 0 then
        is_prime = false
        break
      end
    end
    if is_prime then list[#list + 1] = candidate end
    candidate = candidate + 1
  end
  return list
end

-- Big numbers as lists of 24-bit digits, least significant first: enough for the constants.
local function big_multiply(a, b)
  local product = {}
  for i = 1, #a + #b do product[i] = 0 end
  for i = 1, #a do
    local carry = 0
    for j = 1, #b do
      local value = product[i + j - 1] + a[i] * b[j] + carry
      product[i + j - 1] = value & 0xffffff
      carry = value >> 24
    end
    product[i + #b] = product[i + #b] + carry
  end
  return product
end

local function big_compare(a, b)
  for i = math.max(#a, #b), 1, -1 do
    local x, y = a[i] or 0, b[i] or 0
    if x ~= y then return x < y and -1 or 1 end
  end
  return 0
end

local function big_of(value, shift)
  local digits = {}
  for i = 1, shift // 24 do digits[i] = 0 end
  value = value << shift % 24
  repeat
    digits[#digits + 1] = value & 0xffffff
    value = value >> 24
  until value == 0
  return digits
end

-- Returns the first 64 bits after the point of the root of a prime: the largest r with
-- r^power <= prime * 2^(64 * power), bit by bit, without its whole part.
local function root_fraction(prime, power)
  local target = big_of(prime, 64 * power)
  local whole = 1
  while (whole + 1) ^ power <= prime do whole = whole + 1 end
  local fraction = 0
  for bit = 63, 0, -1 do
    local candidate = fraction | 1 << bit
    local digits = { candidate & 0xffffff, candidate >> 24 & 0xffffff,
      candidate >> 48 & 0xffff | (whole & 0xff) << 16, whole >> 8 }
    local result = digits
    for _ = 2, power do result = big_multiply(result, digits) end
    if big_compare(result, target) <= 0 then fraction = candidate end
  end
  return fraction
end

local K512, K256, H512, H384, H256, H224 = {}, {}, {}, {}, {}, {}
for i, prime in ipairs(primes(80)) do
  K512[i] = root_fraction(prime, 3)
  if i <= 64 then K256[i] = K512[i] >> 32 end
  if i <= 8 then
    H512[i] = root_fraction(prime, 2)
    H256[i] = H512[i] >> 32
  elseif i <= 16 then
    H384[i - 8] = root_fraction(prime, 2)
    H224[i - 8] = H384[i - 8] & 0xffffffff
  end
end

------------------------------------------------------------------------------------------------
-- SHA-256: 32-bit words in 64-bit integers

local function compress256(state, block, at, w)
  w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15],
    w[16] = unpack(">I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4", block, at)
  for i = 17, 64 do
    local x, y = w[i - 15], w[i - 2]
    -- Both halves hold the word, so a shift to the right is a rotation.
    x = x | x << 32
    y = y | y << 32
    local s0 = (x >> 7 ~ x >> 18 ~ (x & 0xffffffff) >> 3) & 0xffffffff
    local s1 = (y >> 17 ~ y >> 19 ~ (y & 0xffffffff) >> 10) & 0xffffffff
    w[i] = w[i - 16] + s0 + w[i - 7] + s1 & 0xffffffff
  end
  local a, b, c, d, e, f, g, h =
    state[1], state[2], state[3], state[4], state[5], state[6], state[7], state[8]
  for i = 1, 64 do
    local ee, aa = e | e << 32, a | a << 32
    local t1 = h + ((ee >> 6 ~ ee >> 11 ~ ee >> 25) & 0xffffffff) + (e & f ~ ~e & g)
      + K256[i] + w[i]
    local t2 = ((aa >> 2 ~ aa >> 13 ~ aa >> 22) & 0xffffffff) + (a & b ~ a & c ~ b & c)
    h, g, f, e = g, f, e, d + t1 & 0xffffffff
    d, c, b, a = c, b, a, t1 + t2 & 0xffffffff
  end
  state[1], state[2] = state[1] + a & 0xffffffff, state[2] + b & 0xffffffff
  state[3], state[4] = state[3] + c & 0xffffffff, state[4] + d & 0xffffffff
  state[5], state[6] = state[5] + e & 0xffffffff, state[6] + f & 0xffffffff
  state[7], state[8] = state[7] + g & 0xffffffff, state[8] + h & 0xffffffff
end

------------------------------------------------------------------------------------------------
-- SHA-512: arithmetic modulo 2^64 is that of integers

local function rotate(x, n) return x >> n | x << 64 - n end

local function compress512(state, block, at, w)
  for i = 1, 16 do
    w[i] = unpack(">i8", block, at + i * 8 - 8)
  end
  for i = 17, 80 do
    local x, y = w[i - 15], w[i - 2]
    w[i] = w[i - 16] + (rotate(x, 1) ~ rotate(x, 8) ~ x >> 7) + w[i - 7]
      + (rotate(y, 19) ~ rotate(y, 61) ~ y >> 6)
  end
  local a, b, c, d, e, f, g, h = table.unpack(state, 1, 8)
  for i = 1, 80 do
    local t1 = h + (rotate(e, 14) ~ rotate(e, 18) ~ rotate(e, 41)) + (e & f ~ ~e & g) + K512[i]
      + w[i]
    local t2 = (rotate(a, 28) ~ rotate(a, 34) ~ rotate(a, 39)) + (a & b ~ a & c ~ b & c)
    h, g, f, e, d, c, b, a = g, f, e, d + t1, c, b, a, t1 + t2
  end
  local old = state
  state[1], state[2], state[3], state[4] = old[1] + a, old[2] + b, old[3] + c, old[4] + d
  state[5], state[6], state[7], state[8] = old[5] + e, old[6] + f, old[7] + g, old[8] + h
end

------------------------------------------------------------------------------------------------
-- Hashing in pieces

local Hash = {}
Hash.__index = Hash

local ALGORITHMS = {
  sha224 = { initial = H224, compress = compress256, block = 64, layout = ">I4", size = 28 },
  sha256 = { initial = H256, compress = compress256, block = 64, layout = ">I4", size = 32 },
  sha384 = { initial = H384, compress = compress512, block = 128, layout = ">i8", size = 48 },
  sha512 = { initial = H512, compress = compress512, block = 128, layout = ">i8", size = 64 },
}

local function new_hash(name)
  local algorithm = ALGORITHMS[name] or error("no algorithm '" .. tostring(name) .. "'")
  return setmetatable({ algorithm = algorithm, state = table.move(algorithm.initial, 1, 8, 1, {}),
    rest = "", length = 0, words = {} }, Hash)
end

function Hash:update(text)
  local algorithm = self.algorithm
  local block = algorithm.block
  self.length = self.length + #text
  if self.rest ~= "" then text = self.rest .. text end
  local at = 1
  while at + block - 1 <= #text do
    algorithm.compress(self.state, text, at, self.words)
    at = at + block
  end
  self.rest = sub(text, at)
  return self
end

function Hash:digest()
  local algorithm = self.algorithm
  local field = algorithm.block // 8
  local zeros = -(self.length + 1 + field) % algorithm.block
  local length = self.length
  self:update("\128" .. rep("\0", zeros + field - 8) .. pack(">I8", length * 8))
  local parts = {}
  for i = 1, 8 do parts[i] = pack(algorithm.layout, self.state[i]) end
  return sub(concat(parts), 1, algorithm.size)
end

local function hash(name, text)
  return new_hash(name):update(text):digest()
end

local function hex(text)
  return (text:gsub(".", function(c) return format("%02x", byte(c)) end))
end

local function unhex(text)
  return (text:gsub("%x%x", function(digits) return char(tonumber(digits, 16)) end))
end

------------------------------------------------------------------------------------------------
-- Keyed hashes and keys from passwords

local function xor_text(text, value)
  local bytes = { byte(text, 1, -1) }
  for i = 1, #bytes do bytes[i] = bytes[i] ~ value end
  return char(table.unpack(bytes))
end

local function hmac(name, key, message)
  local block = ALGORITHMS[name].block
  if #key > block then key = hash(name, key) end
  key = key .. rep("\0", block - #key)
  local inner = new_hash(name):update(xor_text(key, 0x36)):update(message):digest()
  return new_hash(name):update(xor_text(key, 0x5c)):update(inner):digest()
end

local function pbkdf2(name, password, salt, rounds, size)
  local out = {}
  for index = 1, (size + ALGORITHMS[name].size - 1) // ALGORITHMS[name].size do
    local u = hmac(name, password, salt .. pack(">I4", index))
    local sum = { byte(u, 1, -1) }
    for _ = 2, rounds do
      u = hmac(name, password, u)
      for i = 1, #u do sum[i] = sum[i] ~ byte(u, i) end
    end
    out[index] = char(table.unpack(sum))
  end
  return sub(concat(out), 1, size)
end

------------------------------------------------------------------------------------------------
-- Base64, base32

local Alphabet = {}
Alphabet.__index = Alphabet

local function new_alphabet(characters, padding)
  local self = setmetatable({ encode_map = {}, decode_map = {}, padding = padding }, Alphabet)
  for i = 0, #characters - 1 do
    local c = byte(characters, i + 1)
    self.encode_map[i], self.decode_map[c] = char(c), i
  end
  return self
end

local LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
local BASE64 = new_alphabet(LETTERS .. LETTERS:lower() .. "0123456789+/", "=")
local BASE64_URL = new_alphabet(LETTERS .. LETTERS:lower() .. "0123456789-_")
local BASE32 = new_alphabet(LETTERS .. "234567", "=")

function Alphabet:encode64(text)
  local map, out, count = self.encode_map, {}, 0
  for i = 1, #text - 2, 3 do
    local a, b, c = byte(text, i, i + 2)
    local bits = a << 16 | b << 8 | c
    count = count + 1
    out[count] = map[bits >> 18] .. map[bits >> 12 & 63] .. map[bits >> 6 & 63] .. map[bits & 63]
  end
  local left = #text % 3
  if left == 1 then
    local a = byte(text, -1)
    out[count + 1] = map[a >> 2] .. map[a << 4 & 63] .. rep(self.padding or "", 2)
  elseif left == 2 then
    local a, b = byte(text, -2, -1)
    local bits = a << 8 | b
    out[count + 1] = map[bits >> 10] .. map[bits >> 4 & 63] .. map[bits << 2 & 63]
      .. (self.padding or "")
  end
  return concat(out)
end

-- Encodes and decodes any width of digits with a bit buffer.
function Alphabet:encode(text, width)
  local map, out = self.encode_map, {}
  local bits, held = 0, 0
  for i = 1, #text do
    bits = (bits << 8 | byte(text, i)) & 0xffff
    held = held + 8
    while held >= width do
      held = held - width
      out[#out + 1] = map[bits >> held & (1 << width) - 1]
    end
  end
  if held > 0 then out[#out + 1] = map[bits << width - held & (1 << width) - 1] end
  local group = width == 5 and 8 or 4
  while self.padding and #out % group ~= 0 do out[#out + 1] = self.padding end
  return concat(out)
end

function Alphabet:decode(text, width)
  local map, out, count = self.decode_map, {}, 0
  local bits, held = 0, 0
  local padding = self.padding and byte(self.padding)
  for i = 1, #text do
    local c = byte(text, i)
    local digit = map[c]
    if digit then
      bits = (bits << width | digit) & 0xffff
      held = held + width
      if held >= 8 then
        held = held - 8
        count = count + 1
        out[count] = char(bits >> held & 255)
      end
    elseif c ~= padding and c ~= 10 then
      return nil, "bad character at " .. i
    end
  end
  return concat(out)
end

------------------------------------------------------------------------------------------------
-- Uses: signed tokens, a Merkle tree, a chain of blocks

local function sign_token(claims, key)
  local parts = {}
  for i, claim in ipairs(claims) do parts[i] = format("%s=%s", claim[1], claim[2]) end
  local body = BASE64_URL:encode64("alg=HS256") .. "." .. BASE64_URL:encode64(concat(parts, "&"))
  return body .. "." .. BASE64_URL:encode64(hmac("sha256", key, body))
end

local function verify_token(token, key)
  local body, signature = token:match("^(.+)%.([^.]+)$")
  if not body then return nil, "no signature" end
  if BASE64_URL:decode(signature, 6) ~= hmac("sha256", key, body) then
    return nil, "wrong signature"
  end
  local claims = {}
  local text = BASE64_URL:decode(body:match("%.(.+)$"), 6)
  for name, value in text:gmatch("([^=&]+)=([^&]*)") do claims[name] = value end
  return claims
end

local function merkle_root(leaves)
  local level = {}
  for i, leaf in ipairs(leaves) do level[i] = hash("sha256", "\0" .. leaf) end
  while #level > 1 do
    local parents = {}
    for i = 1, #level, 2 do
      parents[#parents + 1] = hash("sha256", "\1" .. level[i] .. (level[i + 1] or level[i]))
    end
    level = parents
  end
  return level[1]
end

-- Finds a number that makes the first bits of the hash zero.
local function mine(previous, data, zero_bits)
  local prefix = new_hash("sha256"):update(previous):update(data)
  local nonce = 0
  while true do
    local attempt = setmetatable({ algorithm = prefix.algorithm, rest = prefix.rest,
      length = prefix.length, words = prefix.words, state = table.move(prefix.state, 1, 8, 1, {}) },
      Hash)
    local digest = attempt:update(pack(">I8", nonce)):digest()
    if unpack(">I4", digest) >> 32 - zero_bits == 0 then return digest, nonce end
    nonce = nonce + 1
  end
end

------------------------------------------------------------------------------------------------
-- Known answers

local function expect(found, expected, what)
  if found ~= expected then error(format("%s: %s", what, found)) end
end

expect(hex(hash("sha256", "abc")),
  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "sha256")
expect(hex(hash("sha224", "abc")),
  "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7", "sha224")
expect(hex(hash("sha512", "abc")),
  "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
  .. "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f", "sha512")
expect(hex(hash("sha256", "")),
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "empty")
expect(hex(hmac("sha256", "key", "The quick brown fox jumps over the lazy dog")),
  "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8", "hmac")
expect(BASE64:encode64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==", "base64")
expect(BASE32:encode("foobar", 5), "MZXW6YTBOI======", "base32")

------------------------------------------------------------------------------------------------
-- The work

local seed = 1
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n + 1
end

local function message(size)
  local words = {}
  for i = 1, (size + 7) // 8 do words[i] = pack("<i8", random(1 << 30) * 0x9e3779b97f4a7c15) end
  return sub(concat(words), 1, size)
end

local checksum = 0
local function mix(text)
  for i = 1, #text - 3, 4 do checksum = (checksum * 31 + unpack(">I4", text, i)) % 1000000007 end
end

local valid, refused, encoded, nonces = 0, 0, 0, 0
local previous = rep("\0", 32)
for round = 1, ROUNDS do
  local data = message(BYTES)
  for _, name in ipairs({ "sha224", "sha256", "sha384", "sha512" }) do
    local whole = hash(name, data)
    local pieces, at = new_hash(name), 1
    while at <= #data do
      local size = random(700)
      pieces:update(sub(data, at, at + size - 1))
      at = at + size
    end
    assert(pieces:digest() == whole, "hashing in pieces differs")
    mix(whole)
  end

  local text = BASE64:encode64(data)
  assert(BASE64:encode(data, 6) == text and BASE64:decode(text, 6) == data, "base64")
  local lines = text:gsub(rep(".", 76), "%0\n")
  assert(BASE64:decode(lines, 6) == data, "base64 in lines")
  local short = sub(data, 1, BYTES // 4 + round)
  assert(BASE32:decode(BASE32:encode(short, 5), 5) == short, "base32")
  assert(BASE64_URL:decode(BASE64_URL:encode64(short), 6) == short, "base64 for addresses")
  assert(unhex(hex(short)) == short, "hex")
  encoded = encoded + #lines

  local key = pbkdf2("sha512", "password" .. round, "salt", 3, 48)
  mix(key)
  for i = 1, 6 do
    local token = sign_token({ { "user", "u" .. i }, { "round", tostring(round) } }, key)
    if i % 3 == 0 then token = token:gsub("^(.-)%.(.)", "%1.X", 1) end
    local claims = verify_token(token, key)
    if claims then
      valid = valid + tonumber(claims.round)
    else
      refused = refused + 1
    end
  end

  local leaves = {}
  for i = 1, 24 do leaves[i] = sub(data, i * 10, i * 10 + random(60)) end
  local root = merkle_root(leaves)
  local digest, nonce = mine(previous, root, 6)
  previous, nonces = digest, nonces + nonce
  mix(digest)
end

print(format("sha2_base64 rounds %d checksum %d encoded %d", ROUNDS, checksum, encoded))
print(format("valid %d refused %d nonces %d", valid, refused, nonces))
print(hex(previous))
print(BASE64:decode("YW5=*", 6))
print(hex(hash("sha384", "perilune")), format("%016x", H384[1]))
