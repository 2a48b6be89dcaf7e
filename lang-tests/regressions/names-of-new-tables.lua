-- The ways in which a program can obtain a table that it has just created: no fact about the fields
-- of the table may be kept for one of its names when a field is assigned through another one.
-- expect: ok
--| ok	109 ways
local PRELUDE = [[

local function id(v) return v end
local function pick(n, ...) return (select(n, ...)) end
local function last(...) return (select(-1, ...)) end
local function pass(...) return ... end
local function first(a) return a end
local up
local function put(v) up = v end
local function get() return up end
local holder, list = {}, {}
local M = {
  __add = function(a) return a end, __concat = function(a) return a end,
  __unm = function(a) return a end, __call = function(a) return a end,
  __len = function(a) return a end, __idiv = function(a, b) return b end,
}
local S = {__index = function(t, k) if k == 'self' then return t end end}
local C = {__index = {self = function(t) return t end}}
local W = {__newindex = function(t, k, v) if k == 'w' then up = t else rawset(t, k, v) end end}
local function resumed() local v while true do v = coroutine.yield(v) end end
local co = coroutine.wrap(resumed) co()
local other = {x = 7}
local function new(x, y) local t = {x = x} t.y = y return t end
local function extended(i) local t = {} t.x = 0 t.y = i return t end
local function f(n)
  local s = 0
  for i = 1, n do
]]
local END = [[

  end
  return s
end
return f(7) .. ' ' .. f(40) .. ' ' .. f(40)]]
-- Each gives the table `o` the further name `p`.
local WAYS = {
  "local p = o", "local p = id(o)", "local p = id(id(o))", "local p = pick(1, o, nil)",
  "local p = pick(i - i + 1, o, nil)", "local p = pick(n // n, o, 1, 2)",
  "local p = pick(n // n + 1, other, o)", "local p = last(1, o)", "local p = pick(-1, 1, o)",
  "local p = pick(-(n // n), 1, o)", "local p = (select(i - i + 1, o, other))",
  "local p = select(2, 1, o)", "local _, p = pass(1, o)", "local p = pass(o, 1)",
  "local p = ({o})[1]", "local p = ({pass(o, 1)})[1]", "local p = ({f = o}).f",
  "local p = table.unpack({o})", "local p = (table.unpack({o, o}, 2, 2))",
  "local p = table.pack(o)[1]", "local _, p = pcall(id, o)",
  "local _, p = pcall(function() return o end)", "local _, p = xpcall(id, print, o)",
  "local _, p = pcall(error, o)", "local _, p = pcall(function() error(o) end)", "local p = co(o)",
  "local p = coroutine.wrap(id)(o)",
  "local p = coroutine.wrap(function(v) coroutine.yield(v) end)(o)", "up = o local p = up",
  "put(o) local p = up", "put(o) local p = get()", "up = o local p = get()", "G = o local p = G",
  "G = o local p = _ENV.G", "holder.f = o local p = holder.f", "list[1] = o local p = list[1]",
  "list[i % 3 + 1] = o local p = list[i % 3 + 1]",
  "holder['k' .. i % 3] = o local p = holder['k' .. i % 3]",
  "holder[o] = o local p = holder[o] holder[o] = nil", "local p = next({[o] = 1})",
  "local p for k in pairs({[o] = 1}) do p = k end", "local p for _, v in pairs({o}) do p = v end",
  "local p for _, v in ipairs({o}) do p = v end",
  "local p local function it(s, c) if not c then return o end end for v in it do p = v end",
  "local p for v in pass, nil, nil do break end for v in id, o do p = v break end",
  "local p = setmetatable(o, M)", "local p = setmetatable(o, nil)", "local p = assert(o)",
  "local p = assert(o, 'm')", "local p = rawget({f = o}, 'f')",
  "local p = getmetatable(setmetatable({}, o))", "local p = o and o", "local p = nil or o",
  "local p = i > 0 and o or other", "local p = other if i > 0 then p = o end",
  "local p = i % 2 == 0 and o or id(o)", "local p if i % 2 == 0 then p = o else p = id(o) end",
  "local p = setmetatable(o, M) + 1", "local p = setmetatable(o, M) .. 1",
  "local p = -setmetatable(o, M)", "local p = setmetatable(o, M)()",
  "local p = #setmetatable(o, M)", "local p = 1 // setmetatable(o, M)",
  "local p = setmetatable(o, S).self", "local p = setmetatable(o, S)['se' .. 'lf']",
  "local p = setmetatable(o, C):self()", "setmetatable(o, W).w = 1 local p = up",
  "local p = setmetatable({}, {__index = {f = o}}).f",
  "local p = setmetatable({}, {__index = function() return o end}).f",
  "local p = (function(...) return ... end)(o)",
  "local p = (function(...) local v = ... return v end)(o)",
  "local p = (function(...) return (select(i - i + 1, ...)) end)(o, 1)",
  "local p = (function(...) local t = {...} return t[1] end)(o)",
  "local p = (function(...) return select('#', ...) == 1 and ... end)(o)",
  "local p = (function(...) for j = 1, select('#', ...) do local v = select(j, " ..
    "...) if v == o then return v end end end)(1, o)", "local p = (function() return o end)()",
  "local p = (function() return first(o) end)()",
  "table.insert(list, o) local p = table.remove(list)",
  "table.insert(list, 1, o) local p = table.remove(list, 1)",
  "local t = {o} table.move(t, 1, 1, 2) local p = t[2]",
  "local p table.sort({o, o}, function(a, b) p = a return false end)",
  "local p ('x'):gsub('x', function() p = o end)", "local p = load('return ...')(o)",
  "local t = {} t.a, t.b = 1, o local p = t.b", "local q, p = other, o q, p = p, q p = q",
  "local p = o do local o = other p = id(p) end", "local p = o repeat local q = p p = q until true",
  "local p = o for j = 1, 2 do local q = p p = id(q) end",
  "local p = other for j = 1, 2 do p = j == 2 and o or p end",
  "local t = {{{o}}} local p = t[1][1][1]", "local t = {a = {b = o}} local p = t.a.b",
  "local p do local c <const> = o p = c end",
  "local p goto l ::m:: goto e ::l:: p = o goto m ::e::",
  "local c = function() return o end local p = c()", "local p local c = function() p = o end c()",
  "local p local c = function(v) p = v end c(o)", "local p = rawequal(o, o) and o",
  "local p = math.type(i) == 'integer' and o", "local p = tostring and o",
  "local p = debug.setmetatable(o, nil)", "local _, p = next({o})",
  "local p = select(2, next({o}))", "local p = (ipairs({o})({o}, 0)) and o",
  "local p = rawset(o, 'x', 0)", "local p = rawset({}, 1, o)[1]", "local _, p = ipairs(o)",
  "local _, p = pairs(o)", "local p = select(2, pairs(o))",
  "local _, p = coroutine.resume(coroutine.create(id), o)",
}
-- Each uses both names.
local USES = {
  [[ local a = p.x o.x = i s = s + p.x p.x = i * 2 s = s + o.x o.z = i s = s + p.z
    o.x = nil if p.x == nil then s = s + 1 end p.y = nil s = s + (o.y or 5) ]],
  [[ local a = o.x + p.x p.x = i s = s + o.x * 3 o.y = i .. '' s = s + #p.y
    o[1] = i s = s + p[1] p[1] = nil s = s + (o[1] or 2) ]],
  [[ local a = p.x if i % 7 == 0 then o.x = 1.5 end s = s + p.x + a
    setmetatable(o, {__index = {k = 2}}) s = s + p.k rawset(p, 'k', 4) s = s + o.k ]],
  [[ local a = p.x for j = 1, 3 do o.x = p.x + j end s = s + p.x + o.x + a ]],
}
local CREATED = {"{x = 0, y = i}", "new(0, i)", "extended(i)"}
local wanted = {}
for n, way in ipairs(WAYS) do
  for use = n == 1 and 1 or n % 2 + 1, #USES, n == 1 and 1 or 2 do
    local code = USES[use]
    local created = CREATED[(n + use) % #CREATED + 1]
    local source = PRELUDE .. "local o = " .. created .. "\n" .. way .. code .. END
    local result = assert(load(source, "=" .. way))()
    wanted[use] = wanted[use] or result
    if result ~= wanted[use] then print(way, created, code, result, wanted[use]) end
  end
end
print("ok", #WAYS .. " ways")
