-- The result of a call is kept across collections, calls, yields, errors and hooks, where nothing
-- but the frame has it (3.4.10, 2.5).
-- expect: ok
--| 1830	1830	60
--| seen	7	table	true
--| failed	9	boom
--| 55	10
local function make(n) return { n = n } end

-- two results live across allocations and each other's calls
local function pair(n)
  local a = make(n)
  local b = make(a.n)
  local c = { a, b, { n } }
  return c[1].n, b.n, #c[3]
end
local x, y, z = 0, 0, 0
for i = 1, 60 do
  local a, b, c = pair(i)
  x, y, z = x + a, y + b, z + c
end
print(x, y, z)

-- a debugger sees it as a variable while another call runs
local seen
local function look() local _, v = debug.getlocal(2, 2) seen = v return true end
local function watched(n)
  local t = make(n)
  local done = look()
  return t, done
end
for i = 1, 60 do watched(i) end
local t, done = watched(7)
print("seen", seen.n, type(t), done and rawequal(seen, t))

-- an error passes the frame
local kept
local function fail(v) kept = v if v.n == 9 then error("boom", 0) end return v end
local function fails(n)
  local v = make(n)
  return fail(v).n + v.n
end
local function run(n) local ok, e = pcall(fails, n) return ok, e end
for i = 10, 70 do run(i) end
local _, e = run(9)
print("failed", kept.n, e)

-- the callee yields, and the result comes later
local function wait(n) coroutine.yield(n) return make(n) end
local co = coroutine.wrap(function()
  local sum = 0
  for i = 1, 10 do
    local v = wait(i)
    local w = make(v.n)
    sum = sum + w.n
  end
  return sum
end)
local steps = 0
for _ = 1, 10 do co() steps = steps + 1 end
print(co(), steps)
