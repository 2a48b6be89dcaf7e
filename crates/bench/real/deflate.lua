-- covers: DEFLATE both ways: hash chains over byte arrays, Huffman codes, bit streams
-- memory: yes
-- needs: 5.4
-- Compresses generated texts and binary data in the format of RFC 1951 with stored, fixed and
-- dynamic blocks, decompresses the result, and compares it with the original.

local scale = tonumber(arg and arg[1]) or 1
local BYTES = math.max(1500, 470000 * scale // 1)

local byte, char, concat, unpack = string.byte, string.char, table.concat, table.unpack

------------------------------------------------------------------------------------------------
-- Byte arrays

-- Returns the bytes of a string as an array from 1.
local function bytes_of(text)
  local t, n, i = {}, #text, 1
  while i + 15 <= n do
    t[i], t[i + 1], t[i + 2], t[i + 3], t[i + 4], t[i + 5], t[i + 6], t[i + 7],
      t[i + 8], t[i + 9], t[i + 10], t[i + 11], t[i + 12], t[i + 13], t[i + 14], t[i + 15] =
      byte(text, i, i + 15)
    i = i + 16
  end
  while i <= n do
    t[i] = byte(text, i)
    i = i + 1
  end
  return t
end

-- Returns the string of an array of bytes.
local function string_of(bytes, count)
  local parts, size = {}, 0
  for i = 1, count, 4096 do
    local last = i + 4095
    if last > count then last = count end
    size = size + 1
    parts[size] = char(unpack(bytes, i, last))
  end
  return concat(parts)
end

------------------------------------------------------------------------------------------------
-- Tables of the format

local END_OF_BLOCK = 256
local WINDOW, MIN_MATCH, MAX_MATCH = 32768, 3, 258

-- Length and distance symbols: the first value and the number of extra bits.
local LENGTH_BASE, LENGTH_EXTRA, DISTANCE_BASE, DISTANCE_EXTRA = {}, {}, {}, {}
local length_symbol = {}

do
  local length = 3
  for symbol = 0, 27 do
    local extra = symbol < 8 and 0 or (symbol >> 2) - 1
    LENGTH_BASE[symbol], LENGTH_EXTRA[symbol] = length, extra
    for value = length, math.min(257, length + (1 << extra) - 1) do
      length_symbol[value] = symbol
    end
    length = length + (1 << extra)
  end
  LENGTH_BASE[28], LENGTH_EXTRA[28], length_symbol[258] = 258, 0, 28
  local distance = 1
  for symbol = 0, 29 do
    local extra = symbol < 4 and 0 or (symbol >> 1) - 1
    DISTANCE_BASE[symbol], DISTANCE_EXTRA[symbol] = distance, extra
    distance = distance + (1 << extra)
  end
end

local function distance_symbol(distance)
  local low, high = 0, 29
  while low < high do
    local middle = (low + high + 1) // 2
    if DISTANCE_BASE[middle] <= distance then low = middle else high = middle - 1 end
  end
  return low
end

-- In which order the lengths of the codes of code lengths are stored.
local CODE_ORDER = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 }

------------------------------------------------------------------------------------------------
-- Bit streams, least significant bit first

local Writer = {}
Writer.__index = Writer

local function new_writer()
  return setmetatable({ bytes = {}, count = 0, hold = 0, held = 0 }, Writer)
end

function Writer:bits(value, width)
  local hold, held = self.hold | value << self.held, self.held + width
  if held >= 8 then
    local bytes, count = self.bytes, self.count
    repeat
      count = count + 1
      bytes[count] = hold & 255
      hold = hold >> 8
      held = held - 8
    until held < 8
    self.count = count
  end
  self.hold, self.held = hold, held
end

function Writer:align()
  if self.held > 0 then self:bits(0, 8 - self.held) end
end

function Writer:finish()
  self:align()
  return string_of(self.bytes, self.count)
end

local Reader = {}
Reader.__index = Reader

local function new_reader(text)
  return setmetatable({ bytes = bytes_of(text), at = 1, hold = 0, held = 0 }, Reader)
end

function Reader:bits(width)
  local hold, held = self.hold, self.held
  while held < width do
    local next_byte = self.bytes[self.at]
    if not next_byte then error("the stream ends too early") end
    hold = hold | next_byte << held
    held = held + 8
    self.at = self.at + 1
  end
  self.hold, self.held = hold >> width, held - width
  return hold & ((1 << width) - 1)
end

function Reader:align()
  local drop = self.held & 7
  self.hold, self.held = self.hold >> drop, self.held - drop
end

------------------------------------------------------------------------------------------------
-- Huffman codes

-- Returns the lengths of the codes of symbols with these frequencies, at most `limit` bits:
-- where the tree is deeper, the frequencies are flattened and it is built again.
local function code_lengths(frequencies, symbols, limit)
  local lengths = {}
  for symbol = 0, symbols - 1 do lengths[symbol] = 0 end
  local leaves = {}
  for symbol = 0, symbols - 1 do
    if frequencies[symbol] > 0 then
      leaves[#leaves + 1] = { weight = frequencies[symbol], symbol = symbol }
    end
  end
  if #leaves == 0 then return lengths end
  if #leaves == 1 then
    lengths[leaves[1].symbol] = 1
    return lengths
  end
  while true do
    table.sort(leaves, function(a, b)
      if a.weight ~= b.weight then return a.weight < b.weight end
      return a.symbol < b.symbol
    end)
    -- Two queues: leaves, and inner nodes, which are made in order of weight.
    local nodes, next_leaf, next_node = {}, 1, 1
    local function lightest()
      local leaf, node = leaves[next_leaf], nodes[next_node]
      if leaf and (not node or leaf.weight <= node.weight) then
        next_leaf = next_leaf + 1
        return leaf
      end
      next_node = next_node + 1
      return node
    end
    for _ = 1, #leaves - 1 do
      local left, right = lightest(), lightest()
      nodes[#nodes + 1] = { weight = left.weight + right.weight, left = left, right = right }
    end
    local deepest = 0
    local function walk(node, depth)
      if node.symbol then
        lengths[node.symbol] = depth
        if depth > deepest then deepest = depth end
      else
        walk(node.left, depth + 1)
        walk(node.right, depth + 1)
      end
    end
    walk(nodes[#nodes], 0)
    if deepest <= limit then return lengths end
    for _, leaf in ipairs(leaves) do leaf.weight = (leaf.weight >> 2) + 1 end
  end
end

-- Returns the canonical codes for code lengths; the bits are reversed for the stream.
local function canonical_codes(lengths, symbols)
  local counts, next_code, codes = {}, {}, {}
  for bits = 0, 15 do counts[bits] = 0 end
  for symbol = 0, symbols - 1 do counts[lengths[symbol]] = counts[lengths[symbol]] + 1 end
  counts[0] = 0
  local code = 0
  for bits = 1, 15 do
    code = (code + counts[bits - 1]) << 1
    next_code[bits] = code
  end
  for symbol = 0, symbols - 1 do
    local bits = lengths[symbol]
    if bits > 0 then
      local value, reversed = next_code[bits], 0
      next_code[bits] = value + 1
      for _ = 1, bits do
        reversed = reversed << 1 | value & 1
        value = value >> 1
      end
      codes[symbol] = reversed
    end
  end
  return codes
end

local FAST_BITS = 9

-- Returns a decoder: a table of all short codes, and for long ones counts and symbols by length.
local function new_decoder(lengths, symbols)
  local counts, offsets, sorted, fast = {}, {}, {}, {}
  for bits = 0, 15 do counts[bits] = 0 end
  for symbol = 0, symbols - 1 do counts[lengths[symbol]] = counts[lengths[symbol]] + 1 end
  counts[0] = 0
  offsets[1] = 0
  for bits = 1, 14 do offsets[bits + 1] = offsets[bits] + counts[bits] end
  for symbol = 0, symbols - 1 do
    local bits = lengths[symbol]
    if bits > 0 then
      sorted[offsets[bits]] = symbol
      offsets[bits] = offsets[bits] + 1
    end
  end
  local codes = canonical_codes(lengths, symbols)
  for i = 0, (1 << FAST_BITS) - 1 do fast[i] = 0 end
  for symbol = 0, symbols - 1 do
    local bits = lengths[symbol]
    if bits > 0 and bits <= FAST_BITS then
      for entry = codes[symbol], (1 << FAST_BITS) - 1, 1 << bits do
        fast[entry] = symbol << 4 | bits
      end
    end
  end
  return { counts = counts, symbols = sorted, fast = fast }
end

function Reader:symbol(decoder)
  local hold, held = self.hold, self.held
  while held < 15 do
    -- Near the end of the stream the missing bits are zeros.
    hold = hold | (self.bytes[self.at] or 0) << held
    held = held + 8
    self.at = self.at + 1
  end
  local entry = decoder.fast[hold & 511]
  if entry ~= 0 then
    local bits = entry & 15
    self.hold, self.held = hold >> bits, held - bits
    return entry >> 4
  end
  local code, first, index = 0, 0, 0
  for bits = 1, 15 do
    code = code | hold & 1
    hold = hold >> 1
    local count = decoder.counts[bits]
    if code - count < first then
      self.hold, self.held = hold, held - bits
      return decoder.symbols[index + code - first]
    end
    index = index + count
    first = (first + count) << 1
    code = code << 1
  end
  error("a code that is not in the table")
end

------------------------------------------------------------------------------------------------
-- Finding repetitions

local function hash_at(bytes, at)
  return (bytes[at] << 10 ~ bytes[at + 1] << 5 ~ bytes[at + 2]) & 32767
end

-- Returns the length of the longest match for `at` among the earlier places of its chain, and how
-- far back it begins.
local function longest_match(bytes, at, candidate, previous, limit, tries)
  local best, where = MIN_MATCH - 1, 0
  local lowest = at - WINDOW
  while candidate and candidate > lowest and tries > 0 do
    if bytes[candidate + best] == bytes[at + best] and bytes[candidate] == bytes[at] then
      local length = 0
      while length < limit and bytes[candidate + length] == bytes[at + length] do
        length = length + 1
      end
      if length > best then
        best, where = length, at - candidate
        if length == limit then break end
      end
    end
    candidate = previous[candidate]
    tries = tries - 1
  end
  return best, where
end

-- Returns the tokens of the bytes: a literal is its value, a match length << 16 | distance.
local function find_tokens(bytes, first, last, heads, previous, tries)
  local tokens, count = {}, 0
  local at = first
  local pending, pending_length, pending_distance = nil, 0, 0
  while at <= last do
    local length, distance = 0, 0
    local limit = math.min(MAX_MATCH, last - at + 1)
    if limit >= MIN_MATCH then
      local hash = hash_at(bytes, at)
      local candidate = heads[hash]
      if candidate and pending_length < 32 then
        length, distance = longest_match(bytes, at, candidate, previous, limit, tries)
        if length < MIN_MATCH then length = 0 end
      end
      previous[at] = candidate
      heads[hash] = at
    end
    -- Lazy matching: a match waits for one step, in case the next place has a longer one.
    if pending and pending_length >= length and pending_length > 0 then
      count = count + 1
      tokens[count] = pending_length << 16 | pending_distance
      local stop = at + pending_length - 2
      for position = at + 1, math.min(stop, last - 2) do
        local hash = hash_at(bytes, position)
        previous[position] = heads[hash]
        heads[hash] = position
      end
      at = stop + 1
      pending, pending_length = nil, 0
    else
      if pending then
        count = count + 1
        tokens[count] = pending
      end
      pending, pending_length, pending_distance = bytes[at], length, distance
      at = at + 1
    end
  end
  if pending then
    count = count + 1
    tokens[count] = pending_length > 0 and pending_length << 16 | pending_distance or pending
  end
  return tokens, count
end

------------------------------------------------------------------------------------------------
-- Writing blocks

local function count_symbols(tokens, count)
  local literals, distances = {}, {}
  for symbol = 0, 285 do literals[symbol] = 0 end
  for symbol = 0, 29 do distances[symbol] = 0 end
  for i = 1, count do
    local token = tokens[i]
    if token < 256 then
      literals[token] = literals[token] + 1
    else
      local symbol = 257 + length_symbol[token >> 16]
      literals[symbol] = literals[symbol] + 1
      local distance = distance_symbol(token & 65535)
      distances[distance] = distances[distance] + 1
    end
  end
  literals[END_OF_BLOCK] = 1
  return literals, distances
end

-- Returns the code lengths as runs: a symbol of the code of lengths, then its extra bits.
local function run_lengths(lengths, count)
  local runs, i = {}, 0
  local function put(symbol, extra, width)
    runs[#runs + 1] = { symbol = symbol, extra = extra, width = width }
  end
  while i < count do
    local value, run = lengths[i], 1
    while i + run < count and lengths[i + run] == value do run = run + 1 end
    i = i + run
    if value == 0 then
      while run >= 11 do
        local now = math.min(run, 138)
        put(18, now - 11, 7)
        run = run - now
      end
      if run >= 3 then
        put(17, run - 3, 3)
        run = 0
      end
    elseif run >= 4 then
      put(value, 0, 0)
      run = run - 1
      while run >= 3 do
        local now = math.min(run, 6)
        put(16, now - 3, 2)
        run = run - now
      end
    end
    for _ = 1, run do put(value, 0, 0) end
  end
  return runs
end

local function fixed_lengths()
  local literals, distances = {}, {}
  for symbol = 0, 287 do
    literals[symbol] = symbol < 144 and 8 or symbol < 256 and 9 or symbol < 280 and 7 or 8
  end
  for symbol = 0, 29 do distances[symbol] = 5 end
  return literals, distances
end

-- Returns how many bits the symbols take with these code lengths.
local function cost(frequencies, lengths, symbols)
  local bits = 0
  for symbol = 0, symbols - 1 do bits = bits + frequencies[symbol] * lengths[symbol] end
  return bits
end

local function write_tokens(writer, tokens, count, literal_lengths, distance_lengths, literals)
  local literal_codes = canonical_codes(literal_lengths, literals)
  local distance_codes = canonical_codes(distance_lengths, 30)
  for i = 1, count do
    local token = tokens[i]
    if token < 256 then
      writer:bits(literal_codes[token], literal_lengths[token])
    else
      local length, distance = token >> 16, token & 65535
      local symbol = length_symbol[length]
      writer:bits(literal_codes[257 + symbol], literal_lengths[257 + symbol])
      if LENGTH_EXTRA[symbol] > 0 then
        writer:bits(length - LENGTH_BASE[symbol], LENGTH_EXTRA[symbol])
      end
      symbol = distance_symbol(distance)
      writer:bits(distance_codes[symbol], distance_lengths[symbol])
      if DISTANCE_EXTRA[symbol] > 0 then
        writer:bits(distance - DISTANCE_BASE[symbol], DISTANCE_EXTRA[symbol])
      end
    end
  end
  writer:bits(literal_codes[END_OF_BLOCK], literal_lengths[END_OF_BLOCK])
end

local function write_stored(writer, bytes, first, last, final)
  writer:bits(final and 1 or 0, 1)
  writer:bits(0, 2)
  writer:align()
  local size = last - first + 1
  writer:bits(size, 16)
  writer:bits(~size & 65535, 16)
  for i = first, last do writer:bits(bytes[i], 8) end
end

local blocks = { stored = 0, fixed = 0, dynamic = 0 }

local function write_block(writer, tokens, count, bytes, first, last, final)
  local literal_counts, distance_counts = count_symbols(tokens, count)
  local literals = code_lengths(literal_counts, 286, 15)
  local distances = code_lengths(distance_counts, 30, 15)
  local literal_count, distance_count = 286, 30
  while literal_count > 257 and literals[literal_count - 1] == 0 do
    literal_count = literal_count - 1
  end
  while distance_count > 1 and distances[distance_count - 1] == 0 do
    distance_count = distance_count - 1
  end
  local all = {}
  for symbol = 0, literal_count - 1 do all[symbol] = literals[symbol] end
  for symbol = 0, distance_count - 1 do all[literal_count + symbol] = distances[symbol] end
  local runs = run_lengths(all, literal_count + distance_count)
  local run_counts = {}
  for symbol = 0, 18 do run_counts[symbol] = 0 end
  for _, run in ipairs(runs) do run_counts[run.symbol] = run_counts[run.symbol] + 1 end
  local run_code_lengths = code_lengths(run_counts, 19, 7)

  local fixed_literals, fixed_distances = fixed_lengths()
  literal_counts[286], literal_counts[287] = 0, 0
  local dynamic_bits = cost(literal_counts, literals, 286) + cost(distance_counts, distances, 30)
    + cost(run_counts, run_code_lengths, 19) + 14 + 19 * 3
  for _, run in ipairs(runs) do dynamic_bits = dynamic_bits + run.width end
  local extra_bits = 0
  for symbol = 0, 28 do
    extra_bits = extra_bits + literal_counts[257 + symbol] * LENGTH_EXTRA[symbol]
  end
  for symbol = 0, 29 do
    extra_bits = extra_bits + distance_counts[symbol] * DISTANCE_EXTRA[symbol]
  end
  local fixed_bits = cost(literal_counts, fixed_literals, 288)
    + cost(distance_counts, fixed_distances, 30)
  if math.min(dynamic_bits, fixed_bits) + extra_bits > (last - first + 5) * 8 then
    blocks.stored = blocks.stored + 1
    return write_stored(writer, bytes, first, last, final)
  end
  writer:bits(final and 1 or 0, 1)
  if fixed_bits <= dynamic_bits then
    blocks.fixed = blocks.fixed + 1
    writer:bits(1, 2)
    return write_tokens(writer, tokens, count, fixed_literals, fixed_distances, 288)
  end
  blocks.dynamic = blocks.dynamic + 1
  writer:bits(2, 2)
  writer:bits(literal_count - 257, 5)
  writer:bits(distance_count - 1, 5)
  local stored = 19
  while stored > 4 and run_code_lengths[CODE_ORDER[stored]] == 0 do stored = stored - 1 end
  writer:bits(stored - 4, 4)
  for i = 1, stored do writer:bits(run_code_lengths[CODE_ORDER[i]], 3) end
  local run_codes = canonical_codes(run_code_lengths, 19)
  for _, run in ipairs(runs) do
    writer:bits(run_codes[run.symbol], run_code_lengths[run.symbol])
    if run.width > 0 then writer:bits(run.extra, run.width) end
  end
  write_tokens(writer, tokens, count, literals, distances, 286)
end

local BLOCK = 30000

local function deflate(text, tries)
  local bytes, writer = bytes_of(text), new_writer()
  local heads, previous = {}, {}
  local first = 1
  repeat
    local last = math.min(#bytes, first + BLOCK - 1)
    local tokens, count = find_tokens(bytes, first, last, heads, previous, tries)
    write_block(writer, tokens, count, bytes, first, last, last == #bytes)
    first = last + 1
  until first > #bytes
  return writer:finish()
end

------------------------------------------------------------------------------------------------
-- Reading blocks

local function read_stored(reader, out, count)
  reader:align()
  local size, complement = reader:bits(16), reader:bits(16)
  if size ~= ~complement & 65535 then error("a damaged block") end
  for i = 1, size do out[count + i] = reader:bits(8) end
  return count + size
end

local function read_lengths(reader)
  local literal_count, distance_count = reader:bits(5) + 257, reader:bits(5) + 1
  local stored, run_lengths_of = reader:bits(4) + 4, {}
  for symbol = 0, 18 do run_lengths_of[symbol] = 0 end
  for i = 1, stored do run_lengths_of[CODE_ORDER[i]] = reader:bits(3) end
  local decoder = new_decoder(run_lengths_of, 19)
  local all, count = {}, 0
  while count < literal_count + distance_count do
    local symbol = reader:symbol(decoder)
    local value, times = symbol, 1
    if symbol == 16 then
      value, times = all[count - 1], 3 + reader:bits(2)
    elseif symbol == 17 then
      value, times = 0, 3 + reader:bits(3)
    elseif symbol == 18 then
      value, times = 0, 11 + reader:bits(7)
    end
    for _ = 1, times do
      all[count] = value
      count = count + 1
    end
  end
  local distances = {}
  for symbol = 0, distance_count - 1 do distances[symbol] = all[literal_count + symbol] end
  return new_decoder(all, literal_count), new_decoder(distances, distance_count)
end

local function read_tokens(reader, out, count, literals, distances)
  while true do
    local symbol = reader:symbol(literals)
    if symbol < END_OF_BLOCK then
      count = count + 1
      out[count] = symbol
    elseif symbol == END_OF_BLOCK then
      return count
    else
      symbol = symbol - 257
      local length = LENGTH_BASE[symbol]
      if LENGTH_EXTRA[symbol] > 0 then length = length + reader:bits(LENGTH_EXTRA[symbol]) end
      symbol = reader:symbol(distances)
      local distance = DISTANCE_BASE[symbol]
      if DISTANCE_EXTRA[symbol] > 0 then
        distance = distance + reader:bits(DISTANCE_EXTRA[symbol])
      end
      if distance > count then error("a distance before the beginning") end
      for i = count + 1, count + length do out[i] = out[i - distance] end
      count = count + length
    end
  end
end

local function inflate(text)
  local reader, out, count = new_reader(text), {}, 0
  local fixed_literals, fixed_distances
  repeat
    local final, kind = reader:bits(1), reader:bits(2)
    if kind == 0 then
      count = read_stored(reader, out, count)
    elseif kind == 1 then
      if not fixed_literals then
        local literals, distances = fixed_lengths()
        fixed_literals, fixed_distances = new_decoder(literals, 288), new_decoder(distances, 30)
      end
      count = read_tokens(reader, out, count, fixed_literals, fixed_distances)
    elseif kind == 2 then
      count = read_tokens(reader, out, count, read_lengths(reader))
    else
      error("a block of no kind")
    end
  until final == 1
  return string_of(out, count)
end

------------------------------------------------------------------------------------------------
-- Inputs

local seed = 77
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n + 1
end

local function make_log(size)
  local lines, total = {}, 0
  local parts = { "scheduler", "network", "storage", "monitor", "gateway" }
  while total < size do
    local line = string.format("2026-%02d-%02d %02d:%02d:%02d %s[%d]: request %x took %d ms",
      random(12), random(28), random(24) - 1, random(60) - 1, random(60) - 1,
      parts[random(#parts)], random(900), random(1 << 24), random(400))
    lines[#lines + 1] = line
    total = total + #line + 1
  end
  return concat(lines, "\n"):sub(1, size)
end

local function make_prose(size)
  local words = {}
  local syllables = { "lu", "na", "pe", "ri", "ma", "re", "so", "tra", "gon", "el", "is" }
  for i = 1, 600 do
    local word = {}
    for j = 1, random(4) do word[j] = syllables[random(#syllables)] end
    words[i] = concat(word)
  end
  local parts, total = {}, 0
  while total < size do
    -- Frequent words are the first ones.
    local word = words[random(random(random(#words)))]
    if random(12) == 1 then word = word .. "." end
    parts[#parts + 1] = word
    total = total + #word + 1
  end
  return concat(parts, " "):sub(1, size)
end

local function make_noise(size)
  local bytes = {}
  for i = 1, size do bytes[i] = random(256) - 1 end
  return string_of(bytes, size)
end

local function make_image(size)
  local bytes, width = {}, 160
  for i = 1, size do
    local x, y = i % width, i // width
    bytes[i] = (x * y // 64 + (random(20) == 1 and random(9) or 0)) & 255
  end
  return string_of(bytes, size)
end

local function adler(text)
  local a, b = 1, 0
  for i = 1, #text do
    a = (a + byte(text, i)) % 65521
    b = (b + a) % 65521
  end
  return b << 16 | a
end

local inputs = {
  { "log", make_log(BYTES), 24 },
  { "prose", make_prose(BYTES), 16 },
  { "noise", make_noise(BYTES // 6), 8 },
  { "image", make_image(BYTES // 2), 32 },
  { "zeros", ("\0"):rep(BYTES // 2), 8 },
  { "short", "perilune, perilune", 8 },
  { "empty", "", 8 },
}
for _, input in ipairs(inputs) do
  local name, text, tries = input[1], input[2], input[3]
  local packed = deflate(text, tries)
  assert(inflate(packed) == text, "the data changed")
  print(string.format("deflate %s %d to %d adler %d", name, #text, #packed, adler(packed)))
end
print(string.format("blocks stored %d fixed %d dynamic %d", blocks.stored, blocks.fixed,
  blocks.dynamic))
print(pcall(inflate, "\7") == false, pcall(inflate, "\0\1\2\3\4") == false)
