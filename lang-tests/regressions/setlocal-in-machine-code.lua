-- Registers that a debugger writes to while their function has called something (manual 6.10,
-- debug.setlocal).
-- expect: ok
--| text	text	text
--| text	text	text
--| text	text	text	2
--| text	text	text	0
--| text	text	text
--| text	text	text
--| text	text	text
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5	2
--| 2.5	2.5	2.5	0
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5
--| false	false	false
--| false	false	false
--| false	false	false	2
--| false	false	false	0
--| false	false	false
--| false	false	false
--| false	false	false
--| 7	7	7
--| 7	7	7
--| 7	7	7	2
--| 7	7	7	0
--| 7	7	7
--| 7	7	7
--| 7	7	7
--| text	text	text
--| text	text	text
--| text	text	text	2
--| text	text	text	0
--| text	text	text
--| text	text	text
--| text	text	text
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5	2
--| 2.5	2.5	2.5	0
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5
--| false	false	false
--| false	false	false
--| false	false	false	2
--| false	false	false	0
--| false	false	false
--| false	false	false
--| false	false	false
--| 7	7	7
--| 7	7	7
--| 7	7	7	2
--| 7	7	7	0
--| 7	7	7
--| 7	7	7
--| 7	7	7
--| text	text	text
--| text	text	text
--| text	text	text	2
--| text	text	text	0
--| text	text	text
--| text	text	text
--| text	text	text
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5	2
--| 2.5	2.5	2.5	0
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5
--| 2.5	2.5	2.5
--| false	false	false
--| false	false	false
--| false	false	false	2
--| false	false	false	0
--| false	false	false
--| false	false	false
--| false	false	false
--| 7	7	7
--| 7	7	7
--| 7	7	7	2
--| 7	7	7	0
--| 7	7	7
--| 7	7	7
--| 7	7	7

local function find(level, wanted, value)
  local k = 1
  while true do
    local name = debug.getlocal(level + 1, k)
    if not name then return end
    if name == wanted then debug.setlocal(level + 1, k, value) end
    k = k + 1
  end
end

local function by_call(value)
  local w = 1
  local function set() find(2, "w", value) end
  set()
  local copy = w
  return copy, w
end

local function by_deep_call(value)
  local w = 1
  local function deep(n) if n == 0 then find(6, "w", value) else deep(n - 1) end return n end
  deep(4)
  local copy = w
  return copy, w
end

local function directly(value)
  local w, n = 1.5, 2
  debug.setlocal(1, 2, value)
  local copy = w
  return copy, w, n
end

local function by_metamethod(value)
  local w = 1
  local t = setmetatable({}, {__add = function() find(2, "w", value) return 0 end})
  local sum = t + 1
  local copy = w
  return copy, w, sum
end

local function in_a_loop(value)
  local w, last = 0, nil
  for i = 1, 20 do
    w = i
    if i == 15 then find(1, "w", value) end
    last = w
    if i == 15 then break end
  end
  return last, w
end

local function by_error(value)
  local w = 1
  pcall(function() find(3, "w", value) error("x") end)
  local copy = w
  return copy, w
end

local function in_a_coroutine(value)
  local w = 1

  local main = coroutine.running()
  coroutine.wrap(function()
    local k = 1
    while debug.getlocal(main, 1, k) do
      if debug.getlocal(main, 1, k) == "w" then debug.setlocal(main, 1, k, value) end
      k = k + 1
    end
  end)()
  local copy = w
  return copy, w
end

for round = 1, 3 do
  for _, value in ipairs { "text", 2.5, false, 7 } do
    print(value, by_call(value))
    print(value, by_deep_call(value))
    print(value, directly(value))
    print(value, by_metamethod(value))
    print(value, in_a_loop(value))
    print(value, by_error(value))
    print(value, in_a_coroutine(value))
  end
end
