-- A store of nil to an array of numbers removes an element once, and calls no `__newindex`.
-- expect: ok
--| 0	2	nil	1
--| 0	nil	3
--| 0	4

local calls = 0
local mt = { __newindex = function() calls = calls + 1 end }
local function set(t, i, v) t[i] = v end
for i = 1, 300 do
  set({ 1, 2, 3 }, 2, i)
  set({ 1.5, 2.5 }, 2, i + 0.5)
  set({ 1, "x", 3 }, 2, "y")
  set({ 1, 2, 3 }, 2, "y")
end

local t = setmetatable({ 1, 2, 3 }, mt)
set(t, 3, nil)
print(calls, #t, t[3], t[1])
t = setmetatable({ 1.5, 2.5, 3 }, mt)
set(t, 1, nil)
print(calls, t[1], t[3])

-- in a loop, with elements that exist and are replaced afterwards
local function replace(t, values)
  for i = 1, #values do t[i] = values[i] or nil end
  return t
end
for _ = 1, 200 do
  replace({ 1, 2, 3 }, { 4, 5, 6 })
  replace({ 1, 2, 3 }, { "a", 5, 6.5 })
end
t = replace(setmetatable({ 1, 2, 3, 4 }, mt), { 7, 8, 9, 4 })
set(t, 4, nil)
set(t, 3, nil)
print(calls, #t * 2)
