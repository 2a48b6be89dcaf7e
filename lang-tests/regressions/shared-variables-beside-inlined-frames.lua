-- A variable that a closure shares has the number of a register of a function that is inlined where
-- the variable does not exist. The optimizing compiler took that register for the variable.
-- expect: ok
--| ok
local key, other = {}, {}

local function lookup(o, k)
  assert(o and k, "both are needed")
  local inner = o.outs[k]
  local value = inner[other]
  if value then return value end
  return inner
end

local function each(list, f)
  for i = 1, #list do f(list[i]) end
end

local function count_after_four(list, k)
  local sum, count = 0, 0
  for i = 1, #list do
    do
      local a, b, c, d = 0, 1, 2, 3
      local n = 0
      each(list, function(o) n = n + 1 end)
      count = count + n
    end
    sum = sum + lookup(list[i], k)
  end
  return sum, count
end

local function count_after_five(list, k)
  local sum, count = 0, 0
  for i = 1, #list do
    do
      local a, b, c, d, e = 0, 1, 2, 3, 4
      local n = 0
      each(list, function(o) n = n + 1 end)
      count = count + n
    end
    sum = sum + lookup(list[i], k)
  end
  return sum, count
end

local objects = {}
for i = 1, 4 do objects[i] = { outs = { [key] = { [other] = i } } } end
for _ = 1, 40 do
  local sum, count = count_after_four(objects, key)
  assert(sum == 10 and count == 16)
end
for _ = 1, 40 do
  local sum, count = count_after_five(objects, key)
  assert(sum == 10 and count == 16)
end

-- The code that creates the closure does not run.
local function lacks(o, s, t)
  assert(s and t)
  local value = s[o]
  return value == nil
end

local function count_missing(o, s, flag, n)
  local missing, i = 0, 0
  while i < n do
    i = i + 1
    if i > 1 then
      if lacks(o, s, i) then missing = missing + 1 end
    end
    local p
    for j = 1, 2 do local arc = flag and j or n - j end
  end
  local none = {}
  for _, v in ipairs(none) do
    local function f() return _ end
  end
  return missing
end

local s = { [key] = { 1, 2, 3 } }
for _ = 1, 100 do assert(count_missing(key, s, false, 3) == 0) end
print("ok")
