-- A table of an inlined function is allocated where that function has returned. The optimizing
-- compiler stored the header of its frame there, over a variable that a closure shares.
-- expect: ok
--| ok
local late

local function new(x) return { x = x } end

local function first(t)
  for i in ipairs(t) do
    local o = new(6)
    local v = i
    local r = function() return v end
    if late then return v end
  end
end

local function first_of_two(t)
  for i in ipairs(t) do
    local o, p = new(6), new(7)
    local v, w = i, i + 1
    local r = function() return v + w end
    if late then return v + w end
  end
end

local function kept(t)
  local o, v
  for i in ipairs(t) do
    o = new(i)
    v = i
    local r = function() return v end
    if late then break end
  end
  return o, v
end

for n = 1, 60 do
  late = n > 30
  local v = first { 3, 1 }
  local w = first_of_two { 3, 1 }
  local o, last = kept { 3, 1 }
  if late then
    assert(v == 1 and w == 3 and o.x == 1 and last == 1)
  else
    assert(v == nil and w == nil and o.x == 2 and last == 2)
  end
end
print("ok")
