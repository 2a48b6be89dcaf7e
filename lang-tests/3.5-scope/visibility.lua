-- The scope of a local begins after its declaration and ends with its block (3.5).
-- expect: ok
--| 10
--| 12
--| 11
--| 10
--| nil	5
--| nil	nil
--| nil
--| nil
--| 2
--| 2
--| nil

x = 10
do
  local x = x
  print(x)
  x = x + 1
  do
    local x = x + 1
    print(x)
  end
  print(x)
end
print(x)
local function f() return y end
local y = 5
print(f(), y)
for i = 1, 1 do local inner = i end
print(inner, i)
if true then local hidden = 1 end
print(hidden)
repeat local seen = 1 until seen == 1
print(seen)
local a, a = 1, 2
print(a)
local function g(p, p) return p end
print(g(1, 2))
local z = (function() return z end)()
print(z)
