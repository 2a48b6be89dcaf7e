-- covers: variable arguments, select, pack and unpack, multiple results
-- An event bus, printf-like formatting, partial application and argument folding
-- where every layer passes `...` on.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(180000 * scale))

local unpack = table.unpack or unpack

local function pack(...)
  return { n = select("#", ...), ... }
end

local function sum(...)
  local total = 0
  for i = 1, select("#", ...) do
    total = total + (select(i, ...) or 0)
  end
  return total
end

local function maximum(first, ...)
  if select("#", ...) == 0 then return first end
  local rest = maximum(...)
  return first > rest and first or rest
end

local function average(...)
  local list = { ... }
  local total = 0
  for _, x in ipairs(list) do total = total + x end
  return total / #list
end

local function bind(f, ...)
  local bound = pack(...)
  return function(...)
    local call, n = {}, bound.n
    for i = 1, n do call[i] = bound[i] end
    local extra = select("#", ...)
    for i = 1, extra do call[n + i] = (select(i, ...)) end
    return f(unpack(call, 1, n + extra))
  end
end

local function reverse(...)
  local list = pack(...)
  local n = list.n
  for i = 1, math.floor(n / 2) do list[i], list[n - i + 1] = list[n - i + 1], list[i] end
  return unpack(list, 1, n)
end

local function drop_first(_, ...)
  return ...
end

local function traced(log, f)
  return function(...)
    log.calls = log.calls + 1
    log.arguments = log.arguments + select("#", ...)
    return f(...)
  end
end

local Bus = {}
Bus.__index = Bus
function Bus.new() return setmetatable({ handlers = {} }, Bus) end
function Bus:on(event, handler)
  local list = self.handlers[event] or {}
  self.handlers[event] = list
  list[#list + 1] = handler
end
function Bus:emit(event, ...)
  local results = 0
  for _, handler in ipairs(self.handlers[event] or {}) do
    results = results + handler(...)
  end
  return results
end

local log = { calls = 0, arguments = 0 }
local bus = Bus.new()
bus:on("tick", traced(log, sum))
bus:on("tick", traced(log, maximum))
bus:on("tick", function(...) return (reverse(...)) end)
bus:on("pair", function(a, b) return a * b % 101 end)
bus:on("pair", bind(sum, 1, 2, 3))

local total, ratio, text = 0, 0.0, 0
for i = 1, ROUNDS do
  local a, b, c = i % 17, i % 23, i % 29
  total = total + bus:emit("tick", a, b, c)
  total = total + bus:emit("pair", a, b)
  total = total + sum(drop_first(reverse(a, b, c, 7)))
  ratio = ratio + average(a, b, c, 4)
  local shifted = pack(drop_first(a, b, nil, c))
  total = (total + shifted.n + (shifted[3] or 0)) % 1000000007
  if i % 4 == 0 then text = text + #string.format("%d:%d-%d", reverse(a, b, c)) end
end
print(string.format("varargs %d calls %d arguments %d ratio %.4f text %d",
  total, log.calls, log.arguments, ratio, text))
