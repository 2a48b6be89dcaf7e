-- expect: ok
--| 610
--| 6022	6
--| 1008	7
--| 10	-20
--| -14
--| 10	10
--| 221	222
--| 222	223
--| 10
--| 5	6	6
--| 5	5	5
--| 30
--| 165
--| 300
--| 103	203
--| 203	203	100
--| old new	new new
--| new	hooked
-- Variables that the program never assigns are loaded once, and a recursive local function knows
-- itself. Debug functions can change them all the same, at any time.

-- a recursive function whose variable is replaced while it runs
do
  local replaced
  local function fib(n)
    if n < 2 then
      if n == 0 and replaced then replaced() end
      return n
    end
    return fib(n - 1) + fib(n - 2)
  end
  for _ = 1, 30 do fib(10) end
  print(fib(15))
  local calls = 0
  replaced = function()
    replaced = nil
    local i = 1
    while debug.getupvalue(fib, i) ~= "fib" do i = i + 1 end
    debug.setupvalue(fib, i, function(n) calls = calls + 1 return 1000 + n end)
  end
  print(fib(8), calls)
  print(fib(8), calls)
end

-- the callee changes a variable of its caller
do
  local other = function(x) return x * 2 end
  local change = false
  local function step(x, f)
    local a = other(x)
    f()
    local b = other(x)
    return a + b
  end
  local function nothing() end
  for i = 1, 200 do assert(step(i, nothing) == 4 * i) end
  local function setter()
    for i = 1, 3 do
      if debug.getupvalue(step, i) == "other" then
        debug.setupvalue(step, i, function(x) return -x end)
      end
    end
  end
  print(step(10, setter), step(10, nothing))
  collectgarbage()
  print(step(7, nothing))
end

-- a constant variable is joined with one that is assigned
do
  local limit = 10
  local function get(f)
    local before = limit
    f()
    return before, limit
  end
  local moving = 20
  local function move() moving = moving + 1 return moving end
  for _ = 1, 200 do get(move) end
  print(get(move))
  local function index(f, name)
    local i = 1
    while debug.getupvalue(f, i) ~= name do i = i + 1 end
    return i
  end
  debug.upvaluejoin(get, index(get, "limit"), move, index(move, "moving"))
  print(get(move))
  print(get(move))
  print(limit)
end

-- a local variable that closures share is set by debug.setlocal
do
  local function set(name, v)
    local level = 2
    while debug.getinfo(level) do
      for i = 1, 20 do
        local n = debug.getlocal(level, i)
        if not n then break end
        if n == name then debug.setlocal(level, i, v) return level end
      end
      level = level + 1
    end
  end
  local function outer(hook)
    local shared = 5
    local function inner(f)
      local a = shared
      f()
      return a, shared
    end
    for _ = 1, 100 do inner(function() end) end
    local before, after = inner(hook)
    return before, after, shared
  end
  for _ = 1, 20 do outer(function() end) end
  print(outer(function() set("shared", 6) end))
  print(outer(function() end))
end

-- in loops, and in inlined functions
do
  local weights = { 1, 2, 3 }
  local function weight(i) return weights[i % 3 + 1] end
  local function sum(n, f)
    local s = 0
    for i = 1, n do
      s = s + weight(i)
      if i == n // 2 then f() end
      s = s + weights[1]
    end
    return s
  end
  for _ = 1, 30 do sum(20, function() end) end
  print(sum(10, function() end))
  print(sum(10, function()
    local i = 1
    while debug.getupvalue(weight, i) ~= "weights" do i = i + 1 end
    debug.setupvalue(weight, i, { 10, 20, 30 })
    collectgarbage()
  end))
  print(sum(10, function() end))
end

-- each closure of a recursive function is its own variable
do
  local function maker(k)
    local function count(n)
      if n <= 0 then return k end
      return 1 + count(n - 1)
    end
    return count
  end
  local a, b = maker(100), maker(200)
  for i = 1, 100 do assert(a(i % 7) == 100 + i % 7 and b(i % 5) == 200 + i % 5) end
  print(a(3), b(3))
  local i = 1
  while debug.getupvalue(a, i) ~= "count" do i = i + 1 end
  debug.setupvalue(a, i, b)
  print(a(3), b(3), a(0))
end

-- from a coroutine, and by a hook
do
  local name = "old"
  local function reader(co)
    local before = name
    coroutine.resume(co)
    return before .. " " .. name
  end
  local function fresh(v)
    return coroutine.create(function()
      if v then
        local i = 1
        while debug.getupvalue(reader, i) ~= "name" do i = i + 1 end
        debug.setupvalue(reader, i, v)
      end
    end)
  end
  for _ = 1, 200 do reader(fresh()) end
  print(reader(fresh("new")), reader(fresh()))
  local function spin(n)
    local t = {}
    for i = 1, n do t[#t + 1] = name end
    return t[1], t[n]
  end
  for _ = 1, 50 do spin(10) end
  local lines = 0
  debug.sethook(function()
    lines = lines + 1
    if lines == 40 then
      local i = 1
      while debug.getupvalue(spin, i) ~= "name" do i = i + 1 end
      debug.setupvalue(spin, i, "hooked")
    end
  end, "l")
  local first, last = spin(200)
  debug.sethook()
  print(first, last)
end
