-- A hook or debug.setlocal makes compiled code give its frame back to the interpreter, which goes
-- on just where that was: before a tail
-- call that is still to be made, and at the head of a generic loop (6.10).
-- expect: ok
--| 6
--| 6
--| 6
--| 7	6
--| 7	6
--| 7	6
--| 7	6

local t = setmetatable({}, { __index = function() debug.sethook(function() end, "l") return 5 end })
local function inc(x) return x + 1 end
local function f() local v = t.x; return inc(v) end
for i = 1, 3 do
  local r = f()
  debug.sethook()
  print(r)
end

local function poke() debug.setlocal(2, 1, 7) end
local function g(a)
  poke()
  local n = 0
  for _, v in pairs({ 1, 2, 3 }) do n = n + v end
  return a, n
end
for i = 1, 4 do print(g(1)) end
