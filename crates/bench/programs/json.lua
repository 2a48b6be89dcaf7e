-- covers: JSON decoding and encoding, string scanning, nested tables
-- memory: yes
-- Encodes a generated document to JSON with sorted keys, decodes it with a
-- recursive-descent parser, edits it, and compares both.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(26 * scale))
local ITEMS = 400

local null = setmetatable({}, { __tostring = function() return "null" end })

local ESCAPES = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}
local UNESCAPES = {
  ['"'] = '"', ["\\"] = "\\", ["/"] = "/", n = "\n", r = "\r", t = "\t", b = "\b", f = "\f",
}

local function quote(text)
  return '"' .. text:gsub('[%c"\\]', function(c)
    return ESCAPES[c] or string.format("\\u%04x", c:byte())
  end) .. '"'
end

local function encode_value(value, out)
  local kind = type(value)
  if value == null then
    out[#out + 1] = "null"
  elseif kind == "string" then
    out[#out + 1] = quote(value)
  elseif kind == "number" then
    out[#out + 1] = string.format(value % 1 == 0 and "%d" or "%.4f", value)
  elseif kind == "boolean" then
    out[#out + 1] = tostring(value)
  elseif #value > 0 then
    for i = 1, #value do
      out[#out + 1] = i == 1 and "[" or ","
      encode_value(value[i], out)
    end
    out[#out + 1] = "]"
  else
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = key end
    table.sort(keys)
    out[#out + 1] = "{"
    for i, key in ipairs(keys) do
      if i > 1 then out[#out + 1] = "," end
      out[#out + 1] = quote(key)
      out[#out + 1] = ":"
      encode_value(value[key], out)
    end
    out[#out + 1] = "}"
  end
end

local function encode(value)
  local out = {}
  encode_value(value, out)
  return table.concat(out)
end

local function skip(text, at)
  return text:find("[^ \n\r\t]", at) or #text + 1
end

local function parse_string(text, at)
  local parts, from = {}, at + 1
  while true do
    local stop = assert(text:find('["\\]', from), "unfinished string")
    parts[#parts + 1] = text:sub(from, stop - 1)
    if text:sub(stop, stop) == '"' then return table.concat(parts), stop + 1 end
    local escape = text:sub(stop + 1, stop + 1)
    if escape == "u" then
      parts[#parts + 1] = string.char(tonumber(text:sub(stop + 2, stop + 5), 16) % 256)
      from = stop + 6
    else
      parts[#parts + 1] = assert(UNESCAPES[escape], "bad escape")
      from = stop + 2
    end
  end
end

local parse
local function parse_array(text, at)
  local list = {}
  at = skip(text, at + 1)
  while text:sub(at, at) ~= "]" do
    list[#list + 1], at = parse(text, at)
    at = skip(text, at)
    if text:sub(at, at) == "," then at = skip(text, at + 1) end
  end
  return list, at + 1
end

local function parse_object(text, at)
  local object, key = {}, nil
  at = skip(text, at + 1)
  while text:sub(at, at) ~= "}" do
    key, at = parse_string(text, at)
    at = skip(text, at)
    assert(text:sub(at, at) == ":", "expected a colon")
    object[key], at = parse(text, at + 1)
    at = skip(text, at)
    if text:sub(at, at) == "," then at = skip(text, at + 1) end
  end
  return object, at + 1
end

function parse(text, at)
  at = skip(text, at)
  local c = text:sub(at, at)
  if c == "{" then return parse_object(text, at) end
  if c == "[" then return parse_array(text, at) end
  if c == '"' then return parse_string(text, at) end
  if text:sub(at, at + 3) == "true" then return true, at + 4 end
  if text:sub(at, at + 4) == "false" then return false, at + 5 end
  if text:sub(at, at + 3) == "null" then return null, at + 4 end
  local number = assert(text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at), "unexpected character")
  return tonumber(number), at + #number
end

local function make_document(items)
  local list = {}
  for i = 1, items do
    list[i] = {
      id = i,
      name = "item \"" .. i .. "\"\tline\n",
      price = i * 1.25 + 0.0625,
      active = i % 3 == 0,
      parent = i % 5 == 0 and null or i - 1,
      tags = { "a" .. i % 7, "b" .. i % 11, "control\1" },
      position = { x = i % 40, y = i * 3 % 50, deep = { { { i } } } },
    }
  end
  return { version = 3, items = list }
end

local document = make_document(ITEMS)
local length, checksum = 0, 0
for round = 1, ROUNDS do
  local text = encode(document)
  local copy = parse(text, 1)
  assert(encode(copy) == text, "the copy differs")
  copy.items[round].name = copy.items[round].name .. round
  copy.version = copy.version + 1
  length = length + #text
  checksum = (checksum * 7 + #encode(copy) + copy.items[ITEMS].position.deep[1][1][1]) % 1000003
  document = copy
end
print(string.format("json length %d checksum %d version %d", length, checksum, document.version))
