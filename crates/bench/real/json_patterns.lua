-- covers: JSON with string patterns: find, match, gsub; documents of records, edits, queries
-- memory: yes
-- Encodes and decodes documents with a JSON module made of string patterns, validates them with a
-- schema, patches them with JSON pointers, and queries them with paths.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(21 * scale))
local RECORDS = math.max(8, math.floor(math.min(1, scale * 8) * 420))

local find, sub, match, gsub = string.find, string.sub, string.match, string.gsub
local format, concat, floor = string.format, table.concat, math.floor

------------------------------------------------------------------------------------------------
-- The module

local json = { null = setmetatable({}, { __tostring = function() return "null" end }) }

-- Marks tables that are arrays even when they are empty.
json.array_mark = {}
function json.array(list) return setmetatable(list, json.array_mark) end

local SHORT = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\b"] = "\\b", ["\f"] = "\\f",
  ['"'] = '\\"', ["\\"] = "\\\\" }

local function escape(c)
  return SHORT[c] or format("\\u%04x", c:byte())
end

local function quote(text)
  return '"' .. gsub(text, '[%c"\\]', escape) .. '"'
end

local function is_array(value)
  if getmetatable(value) == json.array_mark then return true end
  local count = 0
  for key in pairs(value) do
    if type(key) ~= "number" then return false end
    count = count + 1
  end
  return count > 0 and count == #value
end

local encoders = {}

local function encode(value, out, indent, depth)
  local encoder = encoders[type(value)]
  if not encoder then error("cannot encode a " .. type(value)) end
  encoder(value, out, indent, depth)
end

encoders["nil"] = function(_, out) out[#out + 1] = "null" end
function encoders.boolean(value, out) out[#out + 1] = tostring(value) end
function encoders.string(value, out) out[#out + 1] = quote(value) end

function encoders.number(value, out)
  if value ~= value or value == math.huge or value == -math.huge then
    error("cannot encode " .. tostring(value))
  end
  if value == floor(value) and value < 1e15 and value > -1e15 then
    out[#out + 1] = format("%d", value)
  else
    out[#out + 1] = format("%.14g", value)
  end
end

local function break_line(out, indent, depth)
  if indent then out[#out + 1] = "\n" .. indent:rep(depth) end
end

function encoders.table(value, out, indent, depth)
  if value == json.null then
    out[#out + 1] = "null"
  elseif is_array(value) then
    if #value == 0 then
      out[#out + 1] = "[]"
      return
    end
    out[#out + 1] = "["
    for i = 1, #value do
      if i > 1 then out[#out + 1] = "," end
      break_line(out, indent, depth + 1)
      encode(value[i], out, indent, depth + 1)
    end
    break_line(out, indent, depth)
    out[#out + 1] = "]"
  else
    local keys = {}
    for key in pairs(value) do
      if type(key) ~= "string" then error("a key of type " .. type(key)) end
      keys[#keys + 1] = key
    end
    if #keys == 0 then
      out[#out + 1] = "{}"
      return
    end
    table.sort(keys)
    out[#out + 1] = "{"
    for i, key in ipairs(keys) do
      if i > 1 then out[#out + 1] = "," end
      break_line(out, indent, depth + 1)
      out[#out + 1] = quote(key)
      out[#out + 1] = indent and ": " or ":"
      encode(value[key], out, indent, depth + 1)
    end
    break_line(out, indent, depth)
    out[#out + 1] = "}"
  end
end

function json.encode(value, indent)
  local out = {}
  encode(value, out, indent, 0)
  return concat(out)
end

local function fail(text, at, message)
  local line, column = 1, 1
  for i in sub(text, 1, at - 1):gmatch("()\n") do
    line = line + 1
    column = at - i
  end
  error(format("line %d column %d: %s", line, line == 1 and at or column, message), 0)
end

local UNSHORT = { n = "\n", r = "\r", t = "\t", b = "\b", f = "\f", ["/"] = "/", ['"'] = '"',
  ["\\"] = "\\" }

local function utf8_of(code)
  if code < 128 then return string.char(code) end
  if code < 2048 then return string.char(192 + floor(code / 64), 128 + code % 64) end
  if code < 65536 then
    return string.char(224 + floor(code / 4096), 128 + floor(code / 64) % 64, 128 + code % 64)
  end
  return string.char(240 + floor(code / 262144), 128 + floor(code / 4096) % 64,
    128 + floor(code / 64) % 64, 128 + code % 64)
end

local function unescape(body, text, at)
  -- Pairs of surrogates first, then single units and short escapes.
  body = gsub(body, "\\u([dD][89aAbB]%x%x)\\u([dD][c-fC-F]%x%x)", function(high, low)
    local code = (tonumber(high, 16) - 0xD800) * 1024 + tonumber(low, 16) - 0xDC00 + 0x10000
    return utf8_of(code)
  end)
  body = gsub(body, "\\u(%x%x%x%x)", function(digits) return utf8_of(tonumber(digits, 16)) end)
  return (gsub(body, "\\(.)", function(c)
    return UNSHORT[c] or fail(text, at, "bad escape '\\" .. c .. "'")
  end))
end

local decode_value

local function decode_string(text, at)
  local stop = at
  while true do
    stop = find(text, '["\\]', stop + 1)
    if not stop then fail(text, at, "unfinished string") end
    if sub(text, stop, stop) == '"' then break end
    stop = stop + 1
  end
  local body = sub(text, at + 1, stop - 1)
  if find(body, "\\", 1, true) then body = unescape(body, text, at) end
  return body, stop + 1
end

local function decode_array(text, at)
  local list, count = json.array({}), 0
  at = find(text, "%S", at + 1) or #text + 1
  if sub(text, at, at) == "]" then return list, at + 1 end
  while true do
    count = count + 1
    list[count], at = decode_value(text, at)
    local _, stop, c = find(text, "^%s*([,%]])%s*", at)
    if not stop then fail(text, at, "',' or ']' expected") end
    at = stop + 1
    if c == "]" then return list, at end
  end
end

local function decode_object(text, at)
  local object = {}
  at = find(text, "%S", at + 1) or #text + 1
  if sub(text, at, at) == "}" then return object, at + 1 end
  while true do
    if sub(text, at, at) ~= '"' then fail(text, at, "a key expected") end
    local key
    key, at = decode_string(text, at)
    local _, colon = find(text, "^%s*:%s*", at)
    if not colon then fail(text, at, "':' expected") end
    object[key], at = decode_value(text, colon + 1)
    local _, stop, c = find(text, "^%s*([,}])%s*", at)
    if not stop then fail(text, at, "',' or '}' expected") end
    at = stop + 1
    if c == "}" then return object, at end
  end
end

local WORDS = { ["true"] = true, ["false"] = false, null = json.null }

function decode_value(text, at)
  local c = sub(text, at, at)
  if c == '"' then return decode_string(text, at) end
  if c == "{" then return decode_object(text, at) end
  if c == "[" then return decode_array(text, at) end
  local number = match(text, "^-?%d+%.?%d*[eE]?[-+]?%d*", at)
  if number then
    local value = tonumber(number)
    if not value then fail(text, at, "bad number '" .. number .. "'") end
    return value, at + #number
  end
  local word = match(text, "^%a+", at)
  if word and WORDS[word] ~= nil then return WORDS[word], at + #word end
  fail(text, at, "a value expected")
end

function json.decode(text)
  local value, at = decode_value(text, find(text, "%S") or 1)
  at = find(text, "%S", at)
  if at then fail(text, at, "the end expected") end
  return value
end

-- Pointers: "/users/3/name", with ~0 for ~ and ~1 for /, and - for the end of an array.

local function pointer_keys(pointer)
  local keys = {}
  for key in pointer:gmatch("/([^/]*)") do
    keys[#keys + 1] = (key:gsub("~1", "/"):gsub("~0", "~"))
  end
  return keys
end

local function step(container, key)
  if getmetatable(container) == json.array_mark then
    if key == "-" then return #container + 1 end
    return tonumber(key) + 1
  end
  return key
end

local function locate(document, pointer)
  local keys, container = pointer_keys(pointer), document
  for i = 1, #keys - 1 do
    container = container[step(container, keys[i])]
    if type(container) ~= "table" then error("no value at " .. pointer, 0) end
  end
  return container, step(container, keys[#keys])
end

function json.get(document, pointer)
  local container, key = locate(document, pointer)
  return container[key]
end

local operations = {}

function operations.add(document, operation)
  local container, key = locate(document, operation.path)
  if type(key) == "number" then
    table.insert(container, key, operation.value)
  else
    container[key] = operation.value
  end
end

function operations.replace(document, operation)
  local container, key = locate(document, operation.path)
  if container[key] == nil then error("nothing to replace at " .. operation.path, 0) end
  container[key] = operation.value
end

function operations.remove(document, operation)
  local container, key = locate(document, operation.path)
  if container[key] == nil then error("nothing to remove at " .. operation.path, 0) end
  if type(key) == "number" then table.remove(container, key) else container[key] = nil end
end

function operations.test(document, operation)
  if json.encode(json.get(document, operation.path)) ~= json.encode(operation.value) then
    error("test failed at " .. operation.path, 0)
  end
end

function json.patch(document, list)
  local failed = 0
  for _, operation in ipairs(list) do
    if not pcall(operations[operation.op], document, operation) then failed = failed + 1 end
  end
  return failed
end

-- Schemas: { type = "object", properties = {...}, required = {...} } and the like.

local function kind_of(value)
  if value == json.null then return "null" end
  if type(value) ~= "table" then return type(value) end
  return is_array(value) and "array" or "object"
end

local function validate(schema, value, path, problems)
  local kind = kind_of(value)
  if schema.nullable and kind == "null" then return end
  if schema.type and schema.type ~= kind then
    problems[#problems + 1] = format("%s: %s expected, got %s", path, schema.type, kind)
    return
  end
  if schema.minimum and value < schema.minimum then
    problems[#problems + 1] = format("%s: less than %d", path, schema.minimum)
  end
  if schema.pattern and not find(value, schema.pattern) then
    problems[#problems + 1] = path .. ": does not match " .. schema.pattern
  end
  for _, name in ipairs(schema.required or {}) do
    if value[name] == nil then problems[#problems + 1] = path .. ": no " .. name end
  end
  for name, property in pairs(schema.properties or {}) do
    if value[name] ~= nil then validate(property, value[name], path .. "." .. name, problems) end
  end
  if schema.items then
    for i, item in ipairs(value) do
      validate(schema.items, item, path .. "[" .. i .. "]", problems)
    end
  end
end

-- Queries: ".users[*].address.city", ".users[?active].score".

local function query(document, path)
  local current = { document }
  for separator, name in path:gmatch("([.%[])([^.%[]+)") do
    local following = {}
    for _, value in ipairs(current) do
      if separator == "." then
        local found = type(value) == "table" and value[name]
        if found ~= nil and found then following[#following + 1] = found end
      elseif name == "*]" then
        for _, item in ipairs(value) do following[#following + 1] = item end
      else
        local field = name:match("^%?([%w_]+)%]$")
        for _, item in ipairs(value) do
          if item[field] and item[field] ~= json.null then following[#following + 1] = item end
        end
      end
    end
    current = following
  end
  return current
end

------------------------------------------------------------------------------------------------
-- Documents

local seed = 4242
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local NAMES = { "Ada", "Grace", "Edsger", "Barbara", "Alan", "Anders \"the\" Great", "Zo\195\171" }
local CITIES = { "Aachen", "Li\195\168ge", "Maastricht", "K\195\182ln", "Eupen\n(East)" }
local TAGS = { "alpha", "beta", "gamma/delta", "tab\there", "back\\slash", "bell\7" }

local function make_user(i)
  local tags = json.array({})
  for t = 1, random(5) - 1 do tags[t] = TAGS[random(#TAGS)] end
  return {
    id = i,
    name = NAMES[random(#NAMES)] .. " " .. i,
    email = format("user%d@example%d.org", i, random(9)),
    active = random(3) > 1,
    score = random(100000) / 64,
    balance = -random(5000),
    manager = random(4) == 1 and json.null or random(i),
    tags = tags,
    address = { city = CITIES[random(#CITIES)], street = "Rue " .. random(200),
      position = json.array({ random(180) - 90 + 0.125, random(360) - 180 + 0.5 }) },
    history = json.array({ { at = random(1000000), what = "login" },
      { at = random(1000000), what = random(2) == 1 and "logout" or "purchase" } }),
  }
end

local SCHEMA = {
  type = "object", required = { "users", "version" },
  properties = {
    version = { type = "number", minimum = 1 },
    users = { type = "array", items = {
      type = "object", required = { "id", "name", "email" },
      properties = {
        id = { type = "number", minimum = 1 },
        name = { type = "string", pattern = "^%u" },
        email = { type = "string", pattern = "^[%w.]+@[%w.]+%.%a+$" },
        balance = { type = "number", minimum = -4950 },
        manager = { type = "number", nullable = true },
        tags = { type = "array", items = { type = "string", pattern = "^[%w/\\%s]+$" } },
        address = { type = "object", required = { "city", "position" } },
      },
    } },
  },
}

local document = { version = 1, title = "users \226\130\172", users = json.array({}) }
for i = 1, RECORDS do document.users[i] = make_user(i) end

local BAD = { '{"a":1,}', '["\\q"]', "[1,2", '{"a" 1}', "nul", "[1] 2", '"abc', "{\n\"a\":\n-}" }

local bytes, problems, matches, failures = 0, 0, 0, 0
local checksum = 0
for round = 1, ROUNDS do
  local text = json.encode(document, round % 2 == 0 and "  " or nil)
  local copy = json.decode(text)
  assert(json.encode(copy) == json.encode(document), "the copy differs")
  bytes = bytes + #text
  for i = 1, #text, 97 do checksum = (checksum * 31 + text:byte(i)) % 1000000007 end

  local found = {}
  validate(SCHEMA, copy, "$", found)
  problems = problems + #found
  matches = matches + #query(copy, ".users[*].address.city") + #query(copy, ".users[?manager].id")
    + #query(copy, ".users[?active].history[*].at")

  local patch = {}
  for _ = 1, 60 do
    local path = "/users/" .. random(RECORDS) - 1
    patch[#patch + 1] = { op = "replace", path = path .. "/name", value = NAMES[random(#NAMES)] }
    patch[#patch + 1] = { op = "add", path = path .. "/tags/-", value = TAGS[random(#TAGS)] }
    patch[#patch + 1] = { op = "remove", path = path .. "/history/1" }
    patch[#patch + 1] = { op = "test", path = path .. "/active", value = true }
    patch[#patch + 1] = { op = "add", path = path .. "/a~1b", value = { round = round } }
  end
  failures = failures + json.patch(copy, patch)
  copy.version = copy.version + 1
  document = copy
end

print(format("json_patterns bytes %d checksum %d version %d", bytes, checksum, document.version))
print(format("problems %d matches %d failed patches %d", problems, matches, failures))
for _, text in ipairs(BAD) do print(select(2, pcall(json.decode, text))) end
print(json.decode('"\\ud83d\\ude00 \\u20ac \\u00e9 \\/"'),
  json.encode({ a = {}, b = json.array({}) }))
