-- The metatables of strings and numbers decide how these are shown, in compiled code too (6.1).
-- expect: ok
--| plain plain	shown plain
--| 7 7	shown 7
local function both(a, b) local x = tostring(a) local y = tostring(b) return x .. " " .. y end
for _ = 1, 100 do both("plain", "plain") both(7, 7) end
local function compare(v, meta)
  local before = both(v, v)
  meta.__tostring = function(s) return "shown " .. s end
  local function one() local x = tostring(v) return x end
  local after
  for _ = 1, 100 do after = one() end
  meta.__tostring = nil
  print(before, after)
end
compare("plain", getmetatable(""))
local numbers = {}
debug.setmetatable(0, numbers)
compare(7, numbers)
debug.setmetatable(0, nil)
