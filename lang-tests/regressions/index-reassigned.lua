-- A metatable whose __index is given another table: later reads find the fields of that one (2.4).
-- expect: ok
--| 0

local a, b = { x = 1 }, { x = 2 }
local mt = { __index = a }
local o = setmetatable({}, mt)
local function get() return o.x end
local function set(v) mt.__index = v end
local wrong = 0
for i = 1, 2000 do
  set(a); if get() ~= 1 then wrong = wrong + 1 end
  set(b); if get() ~= 2 then wrong = wrong + 1 end
end
print(wrong)
