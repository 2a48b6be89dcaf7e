-- A collection while a table is made clears the registers above; what is stored there next is
-- stored whole.
-- expect: ok
--| 0

local bad = 0
local function make(self)
  self.a = { true, true, true, true, true, true, true, true }
  self.b = { true, true, true, true, true, true, true, true, true, true, true, true }
  self.c = { 1, 2, 3, 4, 5, 6 }
  self.d = { 1, 2, 3, 4, 5, 6, 7, 8 }
  return #self.a + #self.b + #self.c + #self.d
end
local function filled(t, n)
  for i = 1, n do if not t[i] then return false end end
  return true
end
local o = {}
for i = 1, 5000 do
  if make(o) ~= 34 or not (filled(o.a, 8) and filled(o.b, 12) and filled(o.c, 6)
    and filled(o.d, 8)) then
    bad = bad + 1
  end
end
print(bad)
