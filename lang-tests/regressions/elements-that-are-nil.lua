-- Loads of elements that are there or not, in all parts of tables and with metatables.
-- expect: ok
--| 342	597826
--| 347	108297
--| 345	484397
--| 94
local function get(t, i) return t[i] end
local function first(t) return t[1] end
local function sum(t, n)
  local s, none = 0, 0
  for i = 1, n do
    local v = t[i]
    if v then s = s + (tonumber(v) or 1) else none = none + 1 end
  end
  return s, none
end
local ints, floats, any = {1, 2, 3}, {0.5, 1.5}, {1, "2", false, nil, 5.5, {}}
local hash = {[0] = "zero", [-1] = "minus", [1 << 40] = "far", [100] = 100}
local meta = setmetatable({1, nil, 3}, {__index = function(_, k) return k * 2 end})
local chain = setmetatable({}, {__index = ints})
local plain = setmetatable({1, nil, 3}, {})
local all = {ints, floats, any, hash, meta, chain, plain, {}}
for round = 1, 60 do
  local line = {}
  for n, t in ipairs(all) do
    for _, i in ipairs{1, 2, 4, 7, 0, -1, 1 << 40, 100, math.mininteger} do
      local v = get(t, i)
      line[#line + 1] = type(v) == "table" and "{}" or tostring(v)
    end
    line[#line + 1] = tostring(first(t)) .. "/" .. n
    if n ~= 6 or round % 7 == 0 then line[#line + 1] = table.concat({sum(t, round % 9)}, "+") end
  end
  if round % 20 == 0 then
    local text, hash = table.concat(line, " "), 0
    for i = 1, #text do hash = (hash * 31 + text:byte(i)) % 1000003 end
    print(#text, hash)
  end
  any[3] = round % 2 == 0 and 7 or nil
  if round == 30 then ints[2] = "two" floats[4] = 4.5 end
  if round == 40 then ints[3] = nil hash[1] = 1 end
end
-- a store in the same round, and an element that disappears while the loop runs
local list, seen = {}, 0
for i = 1, 400 do
  list[i % 5 + 1] = i % 3 == 0 and i or nil
  if list[i % 7 + 1] then seen = seen + 1 end
end
print(seen)
