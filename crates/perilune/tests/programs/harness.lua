-- Runs one generated program and returns all that it showed.
-- Usage: harness(source, configuration), or sliced(f, configuration, turns) for a function that is
-- run in slices. Programs get these functions as `...`:
--   B()  counts a call, L() a turn of a loop: both raise "budget" when there were too many
--   R()  renews the budget; the end of a slice of a program that is run in slices
--   P()  shows values, tables by content and in sorted order
--   K(v) cuts long strings, N(v) limits a number that says how often to do something
--   S(v) false for a table that is not a sequence (one with its own length: only in S(v, true))
--   O(v) false for a table that has no order, I(v) false for one of several keys
--   A(v) the value, or the name of its type where its text would be an address
--   H(kind, n) makes a userdata of the host
local type, tostring, tonumber, pcall = type, tostring, tonumber, pcall
local select, next, load = select, next, load
local getmetatable, rawget, error, print = debug.getmetatable, rawget, error, print
local concat, sort, pack, unpack = table.concat, table.sort, table.pack, table.unpack
local gsub, sub, format, byte = string.gsub, string.sub, string.format, string.byte
local mtype = math.type
-- What PUC has for compatibility with Lua 5.2, if it was built for that.
for _, name in ipairs{"atan2", "cosh", "frexp", "ldexp", "log10", "pow", "sinh", "tanh"} do
  math[name] = nil
end
local out, lines, calls, turns = {}, 0, 0, 0
local H = host or function() return {} end
host = nil

local function escape(c) return format("\\%d", byte(c)) end
local function show(v, depth)
  local t = type(v)
  if t == "string" then
    v = gsub(gsub(v, "(%a: )0x%x+", "%1address"), "-nan", "nan")
    -- which stack endless recursion by metamethods fills first
    v = gsub(v, "C stack overflow", "stack overflow")
    if #v > 500 then v = sub(v, 1, 500) .. "...<" .. #v .. ">" end
    return '"' .. gsub(v, "[^ -~]", escape) .. '"'
  elseif t == "number" then
    -- an operation on two NaNs may give either
    if v ~= v then return "nan" end
    local text = tostring(v)
    if mtype(v) == "float" and tonumber(text) ~= v then
      text = text .. "=" .. format("%.17g", v)
    end
    return text
  elseif t == "table" then
    if depth > 2 then return "table" end
    local parts, n = {}, 0
    for k, w in next, v do
      n = n + 1
      parts[n] = show(k, depth + 1) .. "=" .. show(w, depth + 1)
    end
    sort(parts)
    if n > 220 then
      for i = 221, n do parts[i] = nil end
      parts[221] = n
    end
    return (getmetatable(v) and "*{" or "{") .. concat(parts, ",") .. "}"
  elseif t == "nil" or t == "boolean" then
    return tostring(v)
  end
  return t
end
local function P(...)
  lines = lines + 1
  if lines > 300 then return end
  local parts = {}
  for i = 1, select("#", ...) do
    if i > 40 then parts[i] = "more" break end
    parts[i] = show((select(i, ...)), 0)
  end
  out[#out + 1] = concat(parts, " ")
end
local function B()
  calls = calls + 1
  if calls > 50 then error("budget", 0) end
end
local function L()
  turns = turns + 1
  if turns > 250 then error("budget", 0) end
end
local slices, length, main = 0
local wrap, yield = coroutine.wrap, coroutine.yield
local running, yieldable = coroutine.running, coroutine.isyieldable
local function R()
  calls, turns, slices = 0, 0, slices + 1
  if main and slices % length == 0 and running() == main and yieldable() then yield() end
end
local function K(v)
  if type(v) == "string" and #v > 60 then return sub(v, 1, 50) .. #v end
  return v
end
local function N(v)
  local n = v
  if type(v) == "string" then n = tonumber(v) end
  if type(n) == "number" and (n > 8 or n < -8) then return n > 8 and 8 or -8 end
  return v
end
local function S(v, raw)
  if type(v) ~= "table" then return true end
  local m = not raw and getmetatable(v)
  if m and rawget(m, "__len") ~= nil then return true end
  local n, max = 0, 0
  for k in next, v do
    if mtype(k) == "integer" and k > 0 then
      n = n + 1
      if k > max then max = k end
    end
  end
  return n == max
end
local function O(v)
  if type(v) ~= "table" then return true end
  if getmetatable(v) or not S(v) then return false end
  local kind = type(v[1])
  for i = 1, #v do
    local w = v[i]
    if type(w) ~= kind or w ~= w or kind ~= "number" and kind ~= "string" then return false end
  end
  return true
end
local function I(v)
  if type(v) ~= "table" then return true end
  local n = 0
  for _ in next, v do n = n + 1 end
  return n < 2
end
local function A(v)
  local t = type(v)
  if t == "table" or t == "userdata" then
    local m = getmetatable(v)
    if m and rawget(m, "__tostring") ~= nil then return v end
  elseif t ~= "function" and t ~= "thread" then
    return v
  end
  return t
end
-- What differs between the states of one engine: metatables of strings, numbers, nil and functions,
-- functions of the library, and globals. Programs use CLASS, SETTING and G1.
local function configure(n)
  SETTING = n
  if n == 0 then
    CLASS = {__index = {x = 1, m = function(e, a) return a, 1 end}}
  elseif n == 1 then
    debug.getmetatable("").__index = function(s, k) return string[k] or k end
    debug.setmetatable(0, {__index = {x = 7, m = function(v, a) return v + 1, a end},
      __call = type})
    CLASS = {
      __index = function(e, k) return k end,
      __newindex = function(e, k, v) rawset(e, k, v) end,
      __lt = function() return true end,
    }
    math.floor = function(v) return "floor", v end
    G1 = 1
  elseif n == 2 then
    local own = {sub = function(s, a) return "SUB", a end, x = 3}
    debug.getmetatable("").__index = setmetatable(own, {__index = string})
    debug.getmetatable("").__add = function(a, b) return "sum" end
    debug.setmetatable(nil, {__index = function(_, k) return nil end})
    debug.setmetatable(0, {__index = function(v, k) return v end})
    CLASS = {
      __index = setmetatable({x = 2.5}, {__index = {y = "deep", m = math.abs}}),
      __add = function(a, b) return 4 end,
      __close = function() end,
    }
    _G.select = function(n, ...) return n, ... end
    G1 = "two"
  else
    debug.setmetatable("", nil)
    debug.setmetatable(print, {__index = function(f, k) return k end})
    debug.setmetatable(true, {__index = {x = 0.5}})
    CLASS = {}
    _G.type = function(v) return "any" end
    setmetatable(_G, {__index = function(_, k) return k end})
  end
end
-- Runs the function of a program.
local function run(f)
  local r = pack(pcall(f, B, L, R, P, K, N, S, O, I, A, H))
  lines = 0
  if r[1] then
    P("returns", unpack(r, 2, r.n < 40 and r.n or 40))
  else
    P("raises", r[2])
  end
  return concat(out, "\n")
end
-- Runs the program of this text in the configuration.
local function harness(source, configuration)
  configure(configuration)
  local f, message = load(source, "=gen")
  if not f then
    P("does not compile", message)
    return concat(out, "\n")
  end
  return run(f)
end
-- A function that runs a slice of the program at each call; it returns what was shown at the end,
-- and nil before.
local function sliced(f, configuration, turns)
  configure(configuration)
  return wrap(function()
    length, main = turns, running()
    return run(f)
  end)
end
