-- covers: JSON without patterns: string.byte, sub and table.concat; events, numbers by hand
-- memory: yes
-- Reads documents byte by byte with a decoder that builds tables and with an event reader that
-- builds none, writes them with a streaming writer, and transforms one stream into another.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(14 * scale))
local FEATURES = math.max(6, math.floor(math.min(1, scale * 8) * 260))

local byte, sub, char = string.byte, string.sub, string.char
local format, concat, floor = string.format, table.concat, math.floor

local NULL = setmetatable({}, { __tostring = function() return "null" end })

------------------------------------------------------------------------------------------------
-- Classes of bytes

local SPACE, DIGIT, HEX, PLAIN = {}, {}, {}, {}
for _, c in ipairs({ 32, 9, 10, 13 }) do SPACE[c] = true end
for c = 48, 57 do DIGIT[c], HEX[c] = true, c - 48 end
for c = 0, 5 do HEX[65 + c], HEX[97 + c] = 10 + c, 10 + c end
for c = 32, 255 do PLAIN[c] = c ~= 34 and c ~= 92 end

local QUOTE, BACKSLASH, COMMA, COLON = 34, 92, 44, 58
local OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP = 91, 93, 123, 125
local MINUS, PLUS, POINT, ZERO = 45, 43, 46, 48

local UNESCAPED = { [34] = '"', [92] = "\\", [47] = "/", [98] = "\b", [102] = "\f", [110] = "\n",
  [114] = "\r", [116] = "\t" }
local ESCAPED = { [34] = '\\"', [92] = "\\\\", [8] = "\\b", [12] = "\\f", [10] = "\\n",
  [13] = "\\r", [9] = "\\t" }

local function utf8_char(code)
  if code < 0x80 then return char(code) end
  local low = 0x80 + code % 64
  code = floor(code / 64)
  if code < 32 then return char(0xC0 + code, low) end
  local middle = 0x80 + code % 64
  code = floor(code / 64)
  if code < 16 then return char(0xE0 + code, middle, low) end
  return char(0xF0 + floor(code / 64), 0x80 + code % 64, middle, low)
end

------------------------------------------------------------------------------------------------
-- The scanner, which both readers share

local Scanner = {}
Scanner.__index = Scanner

local function new_scanner(text)
  return setmetatable({ text = text, at = 1, size = #text }, Scanner)
end

function Scanner:fail(message)
  local line, column = 1, 1
  for i = 1, math.min(self.at - 1, self.size) do
    if byte(self.text, i) == 10 then
      line, column = line + 1, 1
    else
      column = column + 1
    end
  end
  error(setmetatable({ line = line, column = column, message = message }, {
    __tostring = function(e) return e.line .. ":" .. e.column .. ": " .. e.message end,
  }))
end

-- Skips blanks and returns the next byte, or nil at the end.
function Scanner:peek()
  local text, at = self.text, self.at
  local c = byte(text, at)
  while SPACE[c] do
    at = at + 1
    c = byte(text, at)
  end
  self.at = at
  return c
end

function Scanner:expect(wanted, name)
  if self:peek() ~= wanted then self:fail(name .. " expected") end
  self.at = self.at + 1
end

function Scanner:hex4(at)
  local value = 0
  for i = at, at + 3 do
    local digit = HEX[byte(self.text, i)]
    if not digit then self:fail("four hexadecimal digits expected") end
    value = value * 16 + digit
  end
  return value
end

function Scanner:escape(at)
  local c = byte(self.text, at)
  if c ~= 117 then
    local short = UNESCAPED[c]
    if not short then self:fail("bad escape") end
    return short, at + 1
  end
  local code = self:hex4(at + 1)
  at = at + 5
  if code >= 0xD800 and code < 0xDC00 and byte(self.text, at) == BACKSLASH
    and byte(self.text, at + 1) == 117 then
    local low = self:hex4(at + 2)
    if low >= 0xDC00 and low < 0xE000 then
      return utf8_char(0x10000 + (code - 0xD800) * 1024 + low - 0xDC00), at + 6
    end
  end
  return utf8_char(code), at
end

-- Reads the string whose quote is at the current place.
function Scanner:string()
  local text, from = self.text, self.at + 1
  local at, parts, count = from, nil, 0
  while true do
    local c = byte(text, at)
    while PLAIN[c] do
      at = at + 1
      c = byte(text, at)
    end
    if c == QUOTE then
      self.at = at + 1
      local rest = sub(text, from, at - 1)
      if not parts then return rest end
      parts[count + 1] = rest
      return concat(parts)
    elseif c == BACKSLASH then
      parts = parts or {}
      parts[count + 1] = sub(text, from, at - 1)
      parts[count + 2], at = self:escape(at + 1)
      count = count + 2
      from = at
    else
      self.at = at
      self:fail(c and "control character in a string" or "unfinished string")
    end
  end
end

local POWER = {}
for i = 0, 22 do POWER[i] = tonumber("1e" .. i) end

-- Reads a number. Short ones are computed from their digits, the others are left to tonumber.
function Scanner:number()
  local text, from = self.text, self.at
  local at = from
  local c = byte(text, at)
  local negative = c == MINUS
  if negative then
    at = at + 1
    c = byte(text, at)
  end
  if not DIGIT[c] then self:fail("a digit expected") end
  local value, digits, decimals = 0, 0, 0
  local leading_zero = c == ZERO
  while DIGIT[c] do
    value = value * 10 + (c - 48)
    digits = digits + 1
    at = at + 1
    c = byte(text, at)
  end
  if leading_zero and digits > 1 then self:fail("a number begins with 0") end
  local is_float = false
  if c == POINT then
    is_float = true
    at = at + 1
    c = byte(text, at)
    if not DIGIT[c] then self:fail("a digit expected") end
    while DIGIT[c] do
      value = value * 10 + (c - 48)
      decimals = decimals + 1
      at = at + 1
      c = byte(text, at)
    end
  end
  if c == 101 or c == 69 then
    is_float = true
    digits = 100
    at = at + 1
    c = byte(text, at)
    if c == MINUS or c == PLUS then
      at = at + 1
      c = byte(text, at)
    end
    if not DIGIT[c] then self:fail("a digit expected") end
    while DIGIT[c] do
      at = at + 1
      c = byte(text, at)
    end
  end
  self.at = at
  if digits + decimals > 15 then return tonumber(sub(text, from, at - 1)) end
  if is_float then value = value / POWER[decimals] end
  return negative and -value or value
end

function Scanner:word()
  local text, at = self.text, self.at
  if sub(text, at, at + 3) == "true" then
    self.at = at + 4
    return true
  elseif sub(text, at, at + 4) == "false" then
    self.at = at + 5
    return false
  elseif sub(text, at, at + 3) == "null" then
    self.at = at + 4
    return NULL
  end
  self:fail("a value expected")
end

------------------------------------------------------------------------------------------------
-- The decoder that builds tables

local read_value

local function read_list(scanner)
  scanner.at = scanner.at + 1
  local list, count = {}, 0
  if scanner:peek() == CLOSE_LIST then
    scanner.at = scanner.at + 1
    return list
  end
  while true do
    count = count + 1
    list[count] = read_value(scanner)
    local c = scanner:peek()
    scanner.at = scanner.at + 1
    if c == CLOSE_LIST then return list end
    if c ~= COMMA then
      scanner.at = scanner.at - 1
      scanner:fail("',' or ']' expected")
    end
  end
end

local function read_map(scanner)
  scanner.at = scanner.at + 1
  local map = {}
  if scanner:peek() == CLOSE_MAP then
    scanner.at = scanner.at + 1
    return map
  end
  while true do
    if scanner:peek() ~= QUOTE then scanner:fail("a key expected") end
    local key = scanner:string()
    scanner:expect(COLON, "':'")
    map[key] = read_value(scanner)
    local c = scanner:peek()
    scanner.at = scanner.at + 1
    if c == CLOSE_MAP then return map end
    if c ~= COMMA then
      scanner.at = scanner.at - 1
      scanner:fail("',' or '}' expected")
    end
  end
end

function read_value(scanner)
  local c = scanner:peek()
  if c == QUOTE then return scanner:string() end
  if c == OPEN_MAP then return read_map(scanner) end
  if c == OPEN_LIST then return read_list(scanner) end
  if c == MINUS or DIGIT[c] then return scanner:number() end
  return scanner:word()
end

local function decode(text)
  local scanner = new_scanner(text)
  local value = read_value(scanner)
  if scanner:peek() then scanner:fail("the end expected") end
  return value
end

------------------------------------------------------------------------------------------------
-- The event reader: calls a handler and builds nothing

local function read_events(text, handler)
  local scanner = new_scanner(text)
  local stack, depth = {}, 0
  local state = "value"
  while true do
    local c = scanner:peek()
    if state == "value" then
      state = "after"
      if c == OPEN_MAP then
        handler:open_map()
        depth = depth + 1
        stack[depth] = "map"
        scanner.at = scanner.at + 1
        state = "first_key"
      elseif c == OPEN_LIST then
        handler:open_list()
        depth = depth + 1
        stack[depth] = "list"
        scanner.at = scanner.at + 1
        if scanner:peek() == CLOSE_LIST then
          scanner.at = scanner.at + 1
          depth = depth - 1
          handler:close_list()
        else
          state = "value"
        end
      elseif c == QUOTE then
        handler:value(scanner:string())
      elseif c == MINUS or DIGIT[c] then
        handler:value(scanner:number())
      else
        handler:value(scanner:word())
      end
    elseif state == "first_key" and c == CLOSE_MAP then
      scanner.at = scanner.at + 1
      depth = depth - 1
      handler:close_map()
      state = "after"
    elseif state == "first_key" or state == "key" then
      if c ~= QUOTE then scanner:fail("a key expected") end
      handler:key(scanner:string())
      scanner:expect(COLON, "':'")
      state = "value"
    elseif depth == 0 then
      if c then scanner:fail("the end expected") end
      return
    else
      scanner.at = scanner.at + 1
      local inside = stack[depth]
      if c == COMMA then
        state = inside == "map" and "key" or "value"
      elseif c == CLOSE_MAP and inside == "map" then
        depth = depth - 1
        handler:close_map()
      elseif c == CLOSE_LIST and inside == "list" then
        depth = depth - 1
        handler:close_list()
      else
        scanner.at = scanner.at - 1
        scanner:fail("',' or the end of a " .. inside .. " expected")
      end
    end
  end
end

------------------------------------------------------------------------------------------------
-- The writer, itself a handler of events

local Writer = {}
Writer.__index = Writer

local function new_writer()
  return setmetatable({ out = {}, size = 0, comma = false }, Writer)
end

function Writer:put(text)
  local size = self.size + 1
  self.out[size] = text
  self.size = size
end

function Writer:separate()
  if self.comma then self:put(",") end
  self.comma = true
end

function Writer:open_list()
  self:separate()
  self:put("[")
  self.comma = false
end

function Writer:close_list()
  self:put("]")
  self.comma = true
end

function Writer:open_map()
  self:separate()
  self:put("{")
  self.comma = false
end

function Writer:close_map()
  self:put("}")
  self.comma = true
end

function Writer:key(name)
  self:separate()
  self:quote(name)
  self:put(":")
  self.comma = false
end

function Writer:quote(text)
  self:put('"')
  local from = 1
  for at = 1, #text do
    local c = byte(text, at)
    if not PLAIN[c] then
      if at > from then self:put(sub(text, from, at - 1)) end
      self:put(ESCAPED[c] or format("\\u%04x", c))
      from = at + 1
    end
  end
  if from == 1 then self:put(text) elseif from <= #text then self:put(sub(text, from)) end
  self:put('"')
end

function Writer:value(value)
  self:separate()
  local kind = type(value)
  if kind == "string" then
    self:quote(value)
  elseif kind == "number" then
    if value == floor(value) and value > -1e15 and value < 1e15 then
      self:put(format("%d", value))
    else
      self:put(format("%.14g", value))
    end
  else
    self:put(tostring(value))
  end
end

function Writer:text() return concat(self.out, "", 1, self.size) end

local function write(writer, value)
  if type(value) ~= "table" or value == NULL then
    writer:value(value)
  elseif value[1] ~= nil or next(value) == nil then
    writer:open_list()
    for i = 1, #value do write(writer, value[i]) end
    writer:close_list()
  else
    writer:open_map()
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = key end
    table.sort(keys)
    for i = 1, #keys do
      writer:key(keys[i])
      write(writer, value[keys[i]])
    end
    writer:close_map()
  end
end

local function encode(value)
  local writer = new_writer()
  write(writer, value)
  return writer:text()
end

------------------------------------------------------------------------------------------------
-- Handlers that look at a stream

-- Counts events and adds up numbers by the key that they belong to.
local Statistics = {}
Statistics.__index = Statistics

local function new_statistics()
  return setmetatable({ keys = 0, values = 0, depth = 0, deepest = 0, strings = 0, sums = {},
    current = "" }, Statistics)
end

function Statistics:enter()
  self.depth = self.depth + 1
  if self.depth > self.deepest then self.deepest = self.depth end
end

function Statistics:leave() self.depth = self.depth - 1 end
Statistics.open_map, Statistics.open_list = Statistics.enter, Statistics.enter
Statistics.close_map, Statistics.close_list = Statistics.leave, Statistics.leave

function Statistics:key(name)
  self.keys = self.keys + 1
  self.current = name
end

function Statistics:value(value)
  self.values = self.values + 1
  if type(value) == "number" then
    self.sums[self.current] = (self.sums[self.current] or 0) + value
  elseif type(value) == "string" then
    self.strings = self.strings + #value
  end
end

-- Passes events on, but renames some keys and leaves out the values of others.
local Filter = {}
Filter.__index = Filter

local function new_filter(target, renamed, dropped)
  return setmetatable({ target = target, renamed = renamed, dropped = dropped, skipping = false,
    depth = 0 }, Filter)
end

function Filter:key(name)
  if self.skipping then return end
  if self.dropped[name] then
    self.skipping, self.depth = true, 0
  else
    self.target:key(self.renamed[name] or name)
  end
end

function Filter:value(value)
  if not self.skipping then
    self.target:value(value)
  elseif self.depth == 0 then
    self.skipping = false
  end
end

for _, kind in ipairs({ "map", "list" }) do
  local open, close = "open_" .. kind, "close_" .. kind
  Filter[open] = function(self)
    if self.skipping then
      self.depth = self.depth + 1
    else
      self.target[open](self.target)
    end
  end
  Filter[close] = function(self)
    if not self.skipping then
      self.target[close](self.target)
    else
      self.depth = self.depth - 1
      if self.depth == 0 then self.skipping = false end
    end
  end
end

------------------------------------------------------------------------------------------------
-- Documents: a map with features

local seed = 99
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local KINDS = { "road", "river", "border \"A\"", "path\\way", "f\195\170te", "line\nbreak" }

local function make_feature(i)
  local line = {}
  local x, y = random(3600) / 16 - 100, random(1600) / 16 - 50
  for p = 1, 4 + random(18) do
    x, y = x + random(64) / 512 - 0.0625, y + random(64) / 512 - 0.0625
    line[p] = { x, y }
  end
  return {
    type = "Feature",
    id = i,
    geometry = { type = "LineString", coordinates = line },
    properties = {
      name = KINDS[random(#KINDS)] .. " " .. i,
      lanes = random(6),
      toll = random(5) == 1,
      ref = random(3) == 1 and NULL or "E" .. random(400),
      length = random(1000000) / 8,
      note = random(9) == 1 and ("\1 tab\t " .. ("x"):rep(random(60))) or "none",
    },
  }
end

local function make_map(count)
  local features = {}
  for i = 1, count do features[i] = make_feature(i) end
  return { type = "FeatureCollection", features = features, version = 1, exponent = 6.02e23 }
end

local document = make_map(FEATURES)
local bytes, checksum, filtered = 0, 0, 0
local statistics = new_statistics()
for round = 1, ROUNDS do
  local text = encode(document)
  bytes = bytes + #text
  local copy = decode(text)
  assert(encode(copy) == text, "the copy differs")
  read_events(text, statistics)
  local writer = new_writer()
  read_events(text, new_filter(writer, { lanes = "tracks", ref = "number" },
    { geometry = round % 2 == 0, note = true }))
  local smaller = writer:text()
  filtered = filtered + #smaller
  for i = 1, #smaller, 61 do checksum = (checksum * 31 + byte(smaller, i)) % 1000000007 end
  copy.version = copy.version + 1
  copy.features[random(FEATURES)] = make_feature(round)
  document = copy
end

print(format("json_bytes bytes %d filtered %d checksum %d version %d", bytes, filtered, checksum,
  document.version))
print(format("keys %d values %d deepest %d strings %d lanes %d length %.3f", statistics.keys,
  statistics.values, statistics.deepest, statistics.strings, statistics.sums.lanes,
  statistics.sums.length))

local BAD = { "[1,]", "[01]", '{"a":1 "b":2}', '"\\x"', '"\1"', "[1.]", "[1e]", "tru", "[[1]", "",
  '{"a":\n  [1,\n   ?]}', '"\\u12g4"' }
for _, text in ipairs(BAD) do
  local ok, problem = pcall(decode, text)
  print(ok, tostring(problem))
  assert(not pcall(read_events, text, new_statistics()), "the event reader accepts it")
end
print(decode('"\\ud83d\\ude00\\u20ac\\u00e9"'), #decode("[1,2.5,-3e2,1234567890123456]"))
