-- Makes the calls of a batch and writes down what they give. Runs on both sides.
local byte, char, sub, rep, concat = string.byte, string.char, string.sub, string.rep, table.concat
local spack, sunpack, tpack, tunpack = string.pack, string.unpack, table.pack, table.unpack
local pcall, select, type, tostring, tonumber, mathtype = pcall, select, type, tostring, tonumber,
  math.type
local find, match, gmatch, gsub, format = string.find, string.match, string.gmatch, string.gsub,
  string.format
local pack, packsize, unpack = string.pack, string.packsize, string.unpack

-- What a value shows, with its type.
local function show(v)
  local t = type(v)
  if t == "string" then
    -- Addresses differ.
    if find(v, ": 0x", 1, true) then v = gsub(v, ": 0x%x+", ": address") end
    return "s" .. v
  end
  if t == "number" then
    if mathtype(v) == "integer" then return "i" .. v end
    return "d" .. spack("<d", v)
  end
  if t == "nil" or t == "boolean" then return tostring(v) end
  return t
end

local function show_all(...)
  local n = select("#", ...)
  if n == 2 then
    local a, b = ...
    return show(a) .. "\n" .. show(b)
  end
  local all = tpack(...)
  for i = 1, n do all[i] = show(all[i]) end
  return concat(all, "\n")
end

local function captures(...)
  return "<" .. concat({ ... }, "|") .. ">"
end

local objects = {
  {},
  { a = "b", b = 1, ab = false, ["1"] = 2.5, [1] = "one", [2] = 2, c = "" },
  captures,
  function(a) return a ~= "a" and "%" .. tostring(a) end,
  setmetatable({}, { __index = function(_, k) return type(k) .. "!" end }),
  setmetatable({}, { __tostring = function() return "named" end, __name = "Named" }),
  setmetatable({}, { __tostring = function() return "zero\0zero" end }),
  setmetatable({}, { __tostring = function() return 1 end, __name = "My type" }),
  setmetatable({}, { __tostring = function() error("boom", 0) end }),
  function() return {} end,
  function() error("in replacement", 0) end,
  coroutine.wrap(function(...) while true do coroutine.yield(...) end end),
}

-- Objects that are made for each call: lists of all kinds, and functions that compare.
local fresh = {
  function() return {} end,
  function() return { 3, 1, 2 } end,
  function() return { "b", "a", "", "c", "B", "ab" } end,
  function() return { 1.5, -1, 2^53, 0, math.mininteger, 7, 7.0, -0.5 } end,
  function() return { 1, nil, 3 } end,
  function() return { 1, "1", 2 } end,
  function() return { {}, {} } end,
  function() return { n = 1, "x", true, false } end,
  function()
    return setmetatable({}, {
      __index = function(_, k) return k end,
      __len = function() return 4 end,
    })
  end,
  function()
    return setmetatable({ 1, 2, 3 }, { __newindex = function(t, k, v)
      rawset(t, k, v and "new")
    end })
  end,
  function()
    return setmetatable({ 5, 4 }, { __len = function() return "3" end, __name = "List" })
  end,
  function()
    return setmetatable({}, { __metatable = "protected", __len = function()
      error("no length", 0)
    end })
  end,
  function() return function(a, b) return a < b end end,
  function() return function(a, b) return a > b end end,
  function() return function() return true end end,
  function() return function(a, b) return type(a) < type(b) end end,
  function() return function(a, b) error("in order", 0) end end,
}

local operations = {
  -- A double in all ways to write it, and back.
  function(x, conversion)
    local exact = format("%.17g", x)
    local hex = format("%a", x)
    return tostring(x), format("%.14g", x), exact, hex, tonumber(exact), tonumber(hex),
      pcall(format, conversion, x)
  end,
  function(text, base)
    if base then return tonumber(text, base) end
    local n = tonumber(text)
    if n then return n, tostring(n), pcall(function() return text + 0 end) end
    return n
  end,
  function(...) return find(...) end,
  function(...) return match(...) end,
  function(...)
    local all, n = {}, 0
    for a, b, c in gmatch(...) do
      n = n + 1
      all[n] = show_all(a, b, c)
      if n > 60 then break end
    end
    return n, concat(all, "\n")
  end,
  function(...) return gsub(...) end,
  function(...) return format(...) end,
  function(...) return pack(...) end,
  function(...) return packsize(...) end,
  function(...) return unpack(...) end,
  function(f, ...)
    local data = pack(f, ...)
    return data, pcall(packsize, f), unpack(f, data)
  end,
  function(s, ...) return s:find(...), s:gsub(...) end,
  function(...) return pcall(match, ...), pcall(gsub, ...) end,
}

local function read(data, at)
  local tag = sub(data, at, at)
  at = at + 1
  if tag == "s" then return sunpack("<s4", data, at) end
  if tag == "i" then return sunpack("<i8", data, at) end
  if tag == "d" then return sunpack("<d", data, at) end
  if tag == "o" then
    local number = byte(data, at)
    local object = objects[number]
    if object == nil then object = fresh[number - #objects]() end
    return object, at + 1
  end
  if tag == "n" then return nil, at end
  return tag == "t", at
end

-- A list with what it holds.
local function show_list(t)
  local all = {}
  for i = -3, 14 do all[#all + 1] = show(rawget(t, i)) end
  return concat(all, ",")
end

-- The functions that calls by name may mean: the library's, and operators.
local named = {
  add = function(a, b) return a + b, a - b, a * b, a < b end,
  compare = function(a, b) return a < b, a <= b, a == b, a > b end,
  bits = function(a, b) return a & b, a ~ b, a << b, a >> b, ~a end,
  concat = function(a, b) return a .. b, #(a .. b) end,
  index = function(a, b) return a[b], a[b].x end,
  ["math.random"] = function(...) math.randomseed(42) return math.random(...) end,
  ["math.randomseed"] = function(...)
    if select("#", ...) == 0 then return end
    math.randomseed(...)
    return math.random(0), math.random(100)
  end,
  ["utf8.codes"] = function(...)
    local all = {}
    for p, c in utf8.codes(...) do all[#all + 1] = p .. ":" .. c end
    return concat(all, " ")
  end,
  ipairs = function(t)
    local n = 0 for i, v in ipairs(t) do n = n + 1 if n > 50 then break end end return n
  end,
}
for _, library in ipairs({ "_G", "math", "string", "utf8", "table", "os" }) do
  for name, f in pairs(_G[library]) do
    local full = library == "_G" and name or library .. "." .. name
    if type(f) == "function" and not named[full] then named[full] = f end
  end
end
operations[#operations + 1] = function(name, ...)
  local first = ...
  local results = tpack(pcall(named[name], ...))
  for i = 1, results.n do
    if type(results[i]) == "table" and getmetatable(results[i]) ~= "protected" then
      local t = results[i]
      results[i] = show_list(t)
      for _, field in ipairs({ "year", "month", "day", "hour", "min", "sec", "wday", "yday",
        "isdst", "n" }) do
        results[i] = results[i] .. " " .. tostring(rawget(t, field))
      end
    end
  end
  return type(first) == "table" and show_list(first), tunpack(results, 1, results.n)
end

-- Returns the results of the calls of a batch, each after its length. The objects' state is the
-- same at the start of each.
function batch(data)
  local at, n, results = 1, 0, {}
  while at <= #data do
    local operation, count = byte(data, at, at + 1)
    at = at + 2
    local a, b, c, d, e
    if count >= 1 then a, at = read(data, at) end
    if count >= 2 then b, at = read(data, at) end
    if count >= 3 then c, at = read(data, at) end
    if count >= 4 then d, at = read(data, at) end
    n = n + 1
    local result
    if count <= 2 then
      result = count == 2 and show_all(pcall(operations[operation], a, b))
        or count == 1 and show_all(pcall(operations[operation], a))
        or show_all(pcall(operations[operation]))
    else
      local arguments = { a, b, c, d }
      for i = 5, count do arguments[i], at = read(data, at) end
      result = show_all(pcall(operations[operation], tunpack(arguments, 1, count)))
    end
    results[n] = spack("<s4", result)
  end
  return concat(results)
end
