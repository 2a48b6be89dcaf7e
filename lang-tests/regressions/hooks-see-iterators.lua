-- Iterators that are run without a call have one when hooks are to see it (6.10).
-- expect: ok
--| 6
--| 7
--| 5
--| 1 2 3 x y	nil
local function count(events, f)
  local n = 0
  debug.sethook(function(e) n = n + 1 end, events)
  f()
  debug.sethook()
  return n
end
local t = { 1, 2, 3, x = 1, y = 2 }
local empty = function() end
local base = count("r", empty)
print(count("r", function() for _ in next, t do end end) - base)
print(count("c", function() for _ in pairs(t) do end end) - count("c", empty))
print(count("r", function() for _ in ipairs(t) do end end) - base)

-- a hook that comes and goes in the middle of a loop
local seen = {}
for k, v in pairs(t) do
  seen[#seen + 1] = tostring(k)
  if #seen == 2 then debug.sethook(empty, "l") end
  if #seen == 4 then debug.sethook() end
  t[k] = nil
end
table.sort(seen)
print(table.concat(seen, " "), next(t))
