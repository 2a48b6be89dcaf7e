-- covers: compression: byte access, string slices, hash chains, Huffman codes
-- Compresses text with an LZ77 of hash chains and with LZW, decompresses both,
-- and measures the entropy coding a Huffman tree would give.

local scale = tonumber(arg and arg[1]) or 1
local BYTES = math.max(200, math.floor(320000 * scale))
local MIN_MATCH, MAX_MATCH, MAX_CHAIN = 3, 64, 16

local function make_text(bytes)
  local seed, parts, size = 11, {}, 0
  local words = { "crater", "mare", "rille", "regolith", "basalt", "tide", "orbit", "perilune" }
  while size < bytes do
    seed = (seed * 16807) % 2147483647
    local word = words[seed % #words + 1]
    if seed % 5 == 0 then word = word .. seed % 1000 end
    parts[#parts + 1] = word
    size = size + #word + 1
  end
  return table.concat(parts, " "):sub(1, bytes)
end

local function match_length(text, a, b)
  local n, limit = 0, math.min(MAX_MATCH, #text - b + 1)
  while n < limit and text:byte(a + n) == text:byte(b + n) do n = n + 1 end
  return n
end

-- Tokens are single bytes (numbers) or { length, distance } pairs.
local function lz77(text)
  local tokens, newest, older = {}, {}, {}
  local at = 1
  local function remember(position)
    local key = text:sub(position, position + MIN_MATCH - 1)
    older[position] = newest[key]
    newest[key] = position
  end
  while at <= #text do
    local best, where = 0, 0
    local candidate, chain = newest[text:sub(at, at + MIN_MATCH - 1)], 0
    while candidate and chain < MAX_CHAIN do
      local length = match_length(text, candidate, at)
      if length > best then best, where = length, candidate end
      candidate, chain = older[candidate], chain + 1
    end
    if best >= MIN_MATCH then
      tokens[#tokens + 1] = { length = best, distance = at - where }
    else
      best = 1
      tokens[#tokens + 1] = text:byte(at)
    end
    for position = at, at + best - 1 do remember(position) end
    at = at + best
  end
  return tokens
end

local function unlz77(tokens)
  local bytes = {}
  for _, token in ipairs(tokens) do
    if type(token) == "number" then
      bytes[#bytes + 1] = string.char(token)
    else
      local from = #bytes - token.distance
      for i = 1, token.length do bytes[#bytes + 1] = bytes[from + i] end
    end
  end
  return table.concat(bytes)
end

local function lzw(text)
  local dictionary, size = {}, 256
  for i = 0, 255 do dictionary[string.char(i)] = i end
  local codes, word = {}, ""
  for c in text:gmatch(".") do
    local longer = word .. c
    if dictionary[longer] then
      word = longer
    else
      codes[#codes + 1] = dictionary[word]
      if size < 4096 then
        dictionary[longer] = size
        size = size + 1
      end
      word = c
    end
  end
  codes[#codes + 1] = dictionary[word]
  return codes
end

local function unlzw(codes)
  local dictionary, size = {}, 256
  for i = 0, 255 do dictionary[i] = string.char(i) end
  local word = dictionary[codes[1]]
  local out = { word }
  for i = 2, #codes do
    local entry = dictionary[codes[i]] or word .. word:sub(1, 1)
    out[#out + 1] = entry
    if size < 4096 then
      dictionary[size] = word .. entry:sub(1, 1)
      size = size + 1
    end
    word = entry
  end
  return table.concat(out)
end

local function huffman_bits(codes)
  local frequency, nodes = {}, {}
  for _, code in ipairs(codes) do frequency[code] = (frequency[code] or 0) + 1 end
  for _, count in pairs(frequency) do nodes[#nodes + 1] = count end
  table.sort(nodes, function(a, b) return a > b end)
  local bits = 0
  while #nodes > 1 do
    local sum = table.remove(nodes) + table.remove(nodes)
    bits = bits + sum
    local low, high = 1, #nodes + 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      if nodes[middle] > sum then low = middle + 1 else high = middle end
    end
    table.insert(nodes, low, sum)
  end
  return bits
end

local text = make_text(BYTES)
local tokens = lz77(text)
assert(unlz77(tokens) == text, "LZ77 lost bytes")
local codes = lzw(text)
assert(unlzw(codes) == text, "LZW lost bytes")
local copied = 0
for _, token in ipairs(tokens) do
  if type(token) == "table" then copied = copied + token.length end
end
print(string.format("compress %d tokens %d copied %d codes %d bits %d",
  #text, #tokens, copied, #codes, huffman_bits(codes)))
