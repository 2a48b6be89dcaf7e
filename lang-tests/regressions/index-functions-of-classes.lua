-- expect: ok
--| 250	root
--| 250	root
--| 30	31
--| nil
--| root absent	root absent
--| in a table
--| nil
--| false	index-functions-of-classes.lua:53: no absent in root
--| absent	absent	absent	3
--| false	index-functions-of-classes.lua:53: bad argument #1 to 'index' (string expected, got table)
--| here
--| 270
-- Functions for absent fields that are not found in the metatable of the object, but further along
-- the chain: they are passed the table that lacks the field, not the object.
local parts = { fa = function() return 1 end, fb = function() return 2 end }
local root = setmetatable({ name = "root" }, { __index = function(t, k)
  if k == "who" then return rawget(t, "name") end
  return parts[k]
end })
root.__index = root
local middle = setmetatable({ name = "middle" }, root)
middle.__index = middle
local function new(C) return setmetatable({ v = 1 }, C) end
local function use(o, n)
  local s, who = 0, nil
  for i = 1, n do
    s = s + o.fa() + o.fb() + o:fa() + o.v
    who = o.who
  end
  return s, who
end
for _ = 1, 20 do use(new(root), 30) use(new(middle), 30) end
print(use(new(root), 50))
print(use(new(middle), 50))

local function keys(o, all, n)
  local found = 0
  for i = 1, n do
    local k = all[i % #all + 1]
    if o[k] then found = found + 1 end
  end
  return found
end
local all = { "fa", "v", "nothing", "who", 1, 2.5, true }
for _ = 1, 40 do keys(new(middle), all, 30) end
print(keys(new(middle), all, 70), keys(new(root), all, 71))

-- the function is replaced, becomes a table, is removed, fails, and yields
local meta = getmetatable(root)
local function get(o, n)
  local last
  for i = 1, n do last = o.absent end
  return last
end
for _ = 1, 40 do get(new(middle), 30) end
print(get(new(middle), 30))
meta.__index = function(t, k) return t.name .. " " .. k end
print(get(new(middle), 30), get(new(root), 30))
meta.__index = { absent = "in a table" }
print(get(new(middle), 30))
meta.__index = nil
print(get(new(middle), 30))
meta.__index = function(t, k) error("no " .. k .. " in " .. t.name, 2) end
print(pcall(get, new(middle), 30))
meta.__index = function(t, k) return coroutine.yield(k) end
local co = coroutine.wrap(function() return get(new(middle), 3) end)
print(co(), co(1), co(2), co(3))
meta.__index = setmetatable({}, { __index = string.rep })
print(pcall(get, new(middle), 30))
middle.absent = "here"
print(get(new(middle), 30))

-- strings, whose metatable leads to a function by way of a table
local strings = getmetatable("")
local library = strings.__index
strings.__index = setmetatable({}, { __index = function(_, k) return library[k] or k end })
local function text(s, n)
  local c = 0
  for i = 1, n do c = c + #s.shout + s:len() end
  return c
end
for _ = 1, 40 do text("abc", 30) end
print(text("abcd", 30))
strings.__index = library
