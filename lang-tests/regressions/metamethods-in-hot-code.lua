-- Metamethods of elements, lengths, concatenations and calls in hot code (2.4).
-- expect: ok
--| 1.5	2
--| 100	2
--| x=1
--| three
--| x=1
--| 103	4	5
--| T+x	x+T
--| T+T	1T+2
--| 4	false	1	2	1
--| false10nil
--| false
--| false	no fail
--| false	attempt to perform arithmetic on a nil value
--| false	attempt to call a number value (metamethod 'len')
--| false	attempt to index a number value (local 'x')
--| false	attempt to call a table value (metamethod 'concat')
--| false	attempt to index a nil value (local 'o')
--| 1600	4588	400	200	200	200	400	200
--| 5	1
--| -5	2
--| table	true
--| nil
--| false	attempt to call a table value (upvalue 'c')
--|
--| true	nil
--| true	nil
local function try(f, ...)
  local ok, e = pcall(f, ...)
  print(ok, (tostring(e):gsub("^.-:%d+: ", "")))
end

local function hot(f, ...)
  local r
  for _ = 1, 300 do r = f(...) end
  return r
end

-- metamethods of instructions with computed keys, of lengths, of concatenations, and of calls
local log = {}
local m = {}
m.__index = function(t, k) return k == "fail" and error("no " .. k, 2) or { k } end
m.__newindex = function(t, k, v) log[#log % 8 + 1] = tostring(k) .. "=" .. tostring(v) end
m.__len = function(t) return rawlen(t) + 100 end
m.__concat = function(a, b)
  return (type(a) == "table" and "T" or a) .. "+" .. (type(b) == "table" and "T" or b)
end
m.__call = function(self, a, b, ...) return self == nil, a, b, select("#", ...) end
local p = setmetatable({ 1, 2, 3 }, m)

print(hot(function(k) return p[k][1] end, 1.5), hot(function(k) return p[k] end, 2))
print(hot(function() return p[100][1] end), hot(function() return p[2] end))
print(hot(function(k, v) p[k] = v return log[#log] end, "x", 1))
print(hot(function(k, v) p[k] = v return p[k] end, 3, "three"))
print(hot(function() p[200] = nil p[201] = "k" return log[#log] end))
print(hot(function() return #p end), #"four", hot(function(x) return #x end, "five5"))
print(hot(function() return p .. "x" end), hot(function() return "x" .. p end))
print(hot(function() return p .. p end), hot(function() return 1 .. p .. 2 end))
print(hot(function() return select("#", p(1, 2)) end), p(1, 2, 3))
print(hot(function() local x, y, z = p(10) return tostring(x) .. y .. tostring(z) end))
print(hot(function() p(1) p() return (p(7)) end))
try(hot, function(k) return p[k] end, "fail")

-- errors, in and around metamethods
local bad = setmetatable({}, { __index = function(t, k) return k + nil end, __len = 5,
  __call = function(self, x) return x.y.z end, __concat = {} })
try(hot, function(k) return bad[k] end, 1)
try(hot, function() return #bad end)
try(hot, function() return bad(1) end)
try(hot, function() return bad .. "" end)
try(hot, function(o, k) return o[k] end, nil, 1)

-- metamethods that yield
local y = setmetatable({}, {
  __index = function(t, k) return coroutine.yield(k) end,
  __newindex = function(t, k, v) coroutine.yield(v) end,
  __len = function(t) return coroutine.yield("len") end,
  __concat = function(a, b) return coroutine.yield("concat") end,
  __call = function(t, a) local r = coroutine.yield(a) return r, r + 1 end,
  __lt = function(a, b) return coroutine.yield("lt") end,
})
local function body()
  local sum = 0
  for i = 1, 200 do
    sum = sum + y[i] + y[i + 0.5]
    y[i] = "store"
    sum = sum + #y + (y .. i) + (i .. y)
    local a, b = y(i)
    sum = sum + a + b
    if y < y then sum = sum + 1 end
  end
  return "end", sum
end
local seen = {}
local co = coroutine.wrap(body)
local n, r, sum = 0, co()
while r ~= "end" do
  local kind = math.type(r) or r
  seen[kind] = (seen[kind] or 0) + 1
  n = n + 1
  r, sum = co(n % 7)
end
print(n, sum, seen.integer, seen.float, seen.store, seen.len, seen.concat, seen.lt)

-- metamethods that change while code is hot
local c = setmetatable({}, { __index = function(t, k) return k end,
  __call = function() return 1 end })
local function get(k) return c[k] end
local function call() return c() end
print(hot(get, 5), hot(call))
getmetatable(c).__index = function(t, k) return -k end
getmetatable(c).__call = function() return 2 end
print(hot(get, 5), hot(call))
getmetatable(c).__index = { [5] = "table" }
getmetatable(c).__call = setmetatable({}, { __call = function(self, x) return x == c end })
print(hot(get, 5), hot(call))
getmetatable(c).__index = nil
print(hot(get, 5))
getmetatable(c).__call = nil
try(call)
c = print
try(call)
c = "text"
print(hot(get, "len") == string.len, hot(get, 1))
