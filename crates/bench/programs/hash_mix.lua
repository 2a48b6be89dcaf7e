-- covers: 64-bit integers, bit operators, integer division
-- needs: 5.4
-- Hash functions and generators that rely on wrapping 64-bit arithmetic: FNV-1a,
-- a multiply-xorshift mixer, xorshift64*, CRC-32 and a bit-reversal permutation.

local scale = tonumber(arg and arg[1]) or 1
local COUNT = math.max(16, math.floor(4000000 * scale))

local function fnv1a(text)
  local h = 0xcbf29ce484222325
  for i = 1, #text do
    h = (h ~ text:byte(i)) * 0x100000001b3
  end
  return h
end

local function mix(h)
  h = (h ~ (h >> 33)) * 0xff51afd7ed558ccd
  h = (h ~ (h >> 29)) * 0xc4ceb9fe1a85ec53
  return h ~ (h >> 32)
end

local function xorshift(state)
  return function()
    state = state ~ (state << 13)
    state = state ~ (state >> 7)
    state = state ~ (state << 17)
    return state * 0x2545f4914f6cdd1d
  end
end

local function crc_table()
  local t = {}
  for i = 0, 255 do
    local c = i
    for _ = 1, 8 do
      if c & 1 == 1 then c = 0xedb88320 ~ (c >> 1) else c = c >> 1 end
    end
    t[i] = c
  end
  return t
end

local CRC = crc_table()
local function crc32(text)
  local c = 0xffffffff
  for i = 1, #text do
    c = CRC[(c ~ text:byte(i)) & 0xff] ~ (c >> 8)
  end
  return c ~ 0xffffffff
end

local function popcount(x)
  local n = 0
  while x ~= 0 do
    x = x & (x - 1)
    n = n + 1
  end
  return n
end

local function reverse_bits(x, width)
  local r = 0
  for _ = 1, width do
    r = r << 1 | x & 1
    x = x >> 1
  end
  return r
end

local text = string.rep("perilune measures the tides of a small moon. ", 40)
local hash, check = 0, 0
for i = 1, COUNT // 9000 + 1 do
  hash = hash ~ fnv1a(text:sub(i))
  check = check ~ crc32(text:sub(i))
end

local next_random = xorshift(88172645463325252)
local buckets = {}
for i = 0, 63 do buckets[i] = 0 end
local bits = 0
for i = 1, COUNT do
  local r = mix(next_random() + i)
  buckets[r & 63] = buckets[r & 63] + 1
  if i % 8 == 0 then bits = bits + popcount(r) end
end

local permuted = 0
for i = 0, COUNT // 8 do
  permuted = permuted + reverse_bits(i & 0xffff, 16) // 3
end

local spread = 0
for i = 0, 63 do spread = spread + (buckets[i] - COUNT // 64) ^ 2 end
print(string.format("hash %016x crc %08x bits %d", hash, check, bits))
print(string.format("permuted %d spread %.1f", permuted, spread))
