-- Each execution of a local statement makes a new variable (3.5).
-- expect: ok
--| 21	22	21	21
--| 33	31
--| changed	2	3
--| 10	100	30

local a = {}
local x = 20
for i = 1, 10 do
  local y = 0
  a[i] = function() y = y + 1; return x + y end
end
print(a[1](), a[1](), a[2](), a[10]())
x = 30
print(a[1](), a[3]())
local getters, setters = {}, {}
for i = 1, 3 do
  getters[i] = function() return i end
  setters[i] = function(v) i = v end
end
setters[1]("changed")
print(getters[1](), getters[2](), getters[3]())
local w = {}
local n = 0
while n < 3 do
  n = n + 1
  local v = n
  if n == 2 then goto continue end
  w[#w + 1] = function() v = v * 10; return v end
  ::continue::
end
print(w[1](), w[1](), w[2]())
