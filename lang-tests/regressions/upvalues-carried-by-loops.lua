-- Variables that closures share, in loops that call these closures: their values are carried from
-- iteration to iteration, by several names, with changing types, and up to exits and errors.
-- expect: ok
--| 1275 50 25 650
--| 228 278 1278
--| 1255 27070
--| 48.5 float
--| 50 integer
--| 50 867
--| false at 30 465
--| 33 561
--| 1775 2700
--| 55,1210,2465,3820,5275,end
--| 75 125 8825
--| 1275
local List = {}
List.__index = List
function List.new(n)
  local items = {}
  for i = 1, n do items[i] = i end
  return setmetatable({ n = n, items = items }, List)
end
function List:each(f) for i = 1, self.n do f(self.items[i]) end end
function List:any(f)
  for i = 1, self.n do if f(self.items[i]) then return i end end
end
local list, short = List.new(50), List.new(4)

local function sum(l) local s = 0 l:each(function(x) s = s + x end) return s end
local function biggest(l) local m = 0 l:each(function(x) if x > m then m = x end end) return m end
local function parity(l)
  local odd, even = 0, 0
  l:each(function(x) if x % 2 == 0 then even = even + x else odd = odd + 1 end end)
  return odd, even
end
-- captured in descending order
local function swapped(l)
  local a, b, c = 1, 2, 3
  l:each(function(x) c = c + x; a = b; b = c % 1000 end)
  return a, b, c
end
-- two closures share a variable, and the function itself changes it as well
local function shared(l)
  local s, t = 0, 0
  local function bump(n) s = s + n return s end
  l:each(function(x) t = t + bump(x) s = s - 1 end)
  for i = 1, 5 do s = s + i; t = t + bump(i) end
  return s, t
end
-- becomes a float, a string and nil on the way
local function changes(l, at)
  local s = 0
  l:each(function(x)
    if x == at then s = s + 0.5 elseif x == at + 2 then s = tostring(s) else s = s + 1 end
  end)
  return s, math.type(s)
end
local function vanishes(l)
  local last
  local n = 0
  l:each(function(x)
    if x % 3 == 0 then last = nil else last = x end
    if last then n = n + last end
  end)
  return last, n
end
local function fails(l, at)
  local s = 0
  local ok, message = pcall(l.each, l, function(x)
    s = s + x
    if x == at then error("at " .. x, 0) end
  end)
  return ok, message, s
end
local function stops(l, at)
  local s = 0
  local i = l:any(function(x) s = s + x return x == at end)
  return i, s
end
local function nested(l)
  local s, deep = 0, 0
  l:each(function(x)
    local own = x
    short:each(function(y) own = own + y; deep = deep + own % 7 end)
    s = s + own
  end)
  return s, deep
end
-- each iteration has a variable of its own
local function fresh(l)
  local all = {}
  l:each(function(x)
    local v = x
    all[#all + 1] = function() v = v + 1 return v end
  end)
  local s = 0
  for round = 1, 2 do for _, f in ipairs(all) do s = s + f() end end
  return s
end
local function yields(l)
  local s = 0
  local co = coroutine.wrap(function()
    l:each(function(x) s = s + x if x % 10 == 0 then coroutine.yield(s) end end)
    return "end"
  end)
  local seen = {}
  repeat
    local v = co()
    seen[#seen + 1] = tostring(v)
    s = s + 1000
  until v == "end"
  return table.concat(seen, ",")
end
-- joins two upvalues in the middle of the loop
local function joined(l)
  local a, b = 0, 100
  local function one() a = a + 1 return a end
  local function two() b = b + 1 return b end
  local s = 0
  l:each(function(x)
    s = s + one() * 3 + two()
    if x == 25 then debug.upvaluejoin(two, 1, one, 1) end
  end)
  return a, b, s
end
local function collected(l)
  local t = { n = 0 }
  l:each(function(x) t = { n = t.n + x, before = x > 40 and t or nil } end)
  return t.n
end

local lines = {}
for round = 1, 120 do
  lines = {}
  local function show(...)
    local parts = table.pack(...)
    for n = 1, parts.n do parts[n] = tostring(parts[n]) end
    lines[#lines + 1] = table.concat(parts, " ")
  end
  show(sum(list), biggest(list), parity(list))
  show(swapped(list))
  show(shared(list))
  show(changes(list, 20))
  show(changes(list, 51))
  show(vanishes(list))
  show(fails(list, 30))
  show(stops(list, 33))
  show(nested(list), fresh(list))
  show(yields(list))
  show(joined(list))
  show(collected(list))
end
for _, line in ipairs(lines) do print(line) end
