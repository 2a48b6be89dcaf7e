-- A hook that a called function sets runs at the caller's next instruction, however it was called.
-- expect: ok
--| 65	20 35 33 34 34 19
--| 65	20 35 33 34 34 19
--| 65	20 35 33 34 34 19
--| 65	20 41 39 40 23 19
--| 65	20 41 39 40 23 19
--| 65	20 41 39 40 23 19
--| 65	20 47 45 46 24 19
--| 65	20 47 45 46 24 19
--| 65	20 47 45 46 24 19
--| 75	20 54 51 52 53 26
--| 75	20 54 51 52 53 26
--| 75	20 54 51 52 53 26
--| 75	20 61 58 59 60 27
--| 75	20 61 58 59 60 27
--| 75	20 61 58 59 60 27
--| 65	20 67 65 66 27 19
--| 65	20 67 65 66 27 19
--| 65	20 67 65 66 27 19
--| 65	20 73 71 72 28 19
--| 65	20 73 71 72 28 19
--| 65	20 73 71 72 28 19
--| 75	20 80 77 78 79 28
--| 75	20 80 77 78 79 28
--| 75	20 80 77 78 79 28
--| 54	20 85 84 84 19 20
--| 54	20 85 84 84 19 20
--| 54	20 85 84 84 19 20
--| 55	20 92 90 91 19 20
--| 55	20 92 90 91 19 20
--| 55	20 92 90 91 19 20
local lines, count
local function hook(_, line)
  count = count + 1
  if count <= 6 then lines[count] = line - 20 end
end
local function set(i)
  if i == 50 then debug.sethook(hook, "l") end
end
local function start() lines, count = {}, 0 end
local function stop() debug.sethook() print(count, table.concat(lines, " ")) end
local mt = {__index = function(_, i) set(i) return i end,
  __add = function(_, i) set(i) return i end,
  __eq = function(a)
    set(a.i) return true
  end, __call = function(_, i) set(i) end, __lt = function(a) set(a.i) return true end,
  __concat = function(_, i) set(i) return "" end, __len = function(a) set(a.i) return 1 end}
local o, other = setmetatable({}, mt), setmetatable({}, mt)
local s = 0

local function by_pcall()
  for i = 1, 60 do
    pcall(function() set(i) s = s + i end)
    s = s + 1
  end
end
local function by_index()
  for i = 1, 60 do
    s = s + o[i]
    s = s + 1
  end
end
local function by_add()
  for i = 1, 60 do
    s = s + (o + i)
    s = s + 1
  end
end
local function by_eq()
  for i = 1, 60 do
    o.i = i
    if o == other then s = s + 1 end
    s = s + 1
  end
end
local function by_lt()
  for i = 1, 60 do
    o.i = i
    if o < other then s = s + 1 end
    s = s + 1
  end
end
local function by_call()
  for i = 1, 60 do
    o(i)
    s = s + 1
  end
end
local function by_concat()
  for i = 1, 60 do
    local t = o .. i
    s = s + 1
  end
end
local function by_len()
  for i = 1, 60 do
    o.i = i
    local t = #o
    s = s + 1
  end
end
local function by_iterator()
  for i in function(_, i) i = (i or 0) + 1 set(i) if i < 60 then return i end end do
    s = s + 1
  end
end
local function by_coroutine()
  local co = coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i) end end)
  for i = 1, 60 do
    set(co())
    s = s + 1
  end
end
for _, f in ipairs{by_pcall, by_index, by_add, by_eq, by_lt, by_call, by_concat, by_len,
  by_iterator, by_coroutine} do
  for _ = 1, 3 do start() f() stop() end
end
