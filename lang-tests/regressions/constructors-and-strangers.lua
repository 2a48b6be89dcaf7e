-- What hooks and finalizers add to a table under construction does not change which fields its
-- constructor stores.
-- expect: ok
--| a=1 b=2
--| b=2
--| a=1 b=2; b=2
local function mk(x, y)
  local t = {}
  t.a = x
  t.b = y
  return t
end
local first = debug.getinfo(mk, "S").linedefined
local phase
local function add(level)
  for n = 1, 5 do
    local name, v = debug.getlocal(level + 1, n)
    if name == "t" and type(v) == "table" then v.zzz = "Z" end
  end
end
local function hook(_, line)
  if debug.getinfo(2, "f").func ~= mk then return end
  if phase == 1 and line == first + 3 then error("stop", 0) end
  if phase == 2 and line == first + 3 then add(2) end
end
local function dump(t)
  local fields = {}
  for k, v in pairs(t) do fields[#fields + 1] = k .. "=" .. tostring(v) end
  table.sort(fields)
  return table.concat(fields, " ")
end
for _ = 1, 20 do
  phase = 1 debug.sethook(hook, "l") pcall(mk, 1, 2) debug.sethook()
  phase = 2 debug.sethook(hook, "l") mk(nil, 2) debug.sethook()
end
for _ = 1, 200 do mk(1, 2) end
print(dump(mk(1, 2)))
print(dump(mk(nil, 2)))

-- the same by a finalizer, which runs where the table was just made
local function make(x, y)
  local t = {}
  t.a = x
  t.b = y
  return t
end
local function stranger()
  for level = 2, 8 do
    local info = debug.getinfo(level, "f")
    if not info then return end
    if info.func == make then
      for n = 3, 6 do
        local _, v = debug.getlocal(level, n)
        if type(v) == "table" and next(v) == nil then v.zzz = "Z" return end
      end
    end
  end
end
collectgarbage("generational")
local mt = {__gc = stranger}
local sizes = {}
for i = 1, 300 do
  if i % 3 == 0 then setmetatable({}, mt) end
  if i % 20 == 0 then collectgarbage("step") end
  local t = make(i % 2 == 0 and 1 or nil, 2)
  t.zzz = nil
  sizes[dump(t)] = true
end
collectgarbage("incremental")
local kinds = {}
for kind in pairs(sizes) do kinds[#kinds + 1] = kind end
table.sort(kinds)
print(table.concat(kinds, "; "))
