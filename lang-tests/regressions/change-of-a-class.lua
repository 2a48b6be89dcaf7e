-- A change of a class is seen by every read that has found a field along its chain (2.4).
-- expect: ok
--| old	nil	new	nil
--| gained	base	base	mixin
--| 600

local base = {}
local class = setmetatable({ method = "old" }, { __index = base })
local object = setmetatable({}, { __index = class })
local function method(o) return o.method end
local function absent(o) return o.absent end
for _ = 1, 100 do method(object); absent(object) end
local before, none = method(object), absent(object)
class.method = nil
base.method = "new"
print(before, none, method(object), absent(object))

base.absent = "gained"
local gained = absent(object)
base.absent = nil
class.other = 1
base.method = "base"
local found = method(object)
local again = method(object)
getmetatable(object).__index = { method = "mixin" }
print(gained, found, again, method(object))

-- as many changes as reads
local n = 0
local slots = {}
local last = setmetatable({}, { __index = slots })
local function read(o) return o.k end
for i = 1, 600 do
  slots["k" .. i] = i
  slots.k = nil
  slots["k" .. i] = nil
  slots.k = i
  if read(last) == i then n = n + 1 end
end
print(n)
