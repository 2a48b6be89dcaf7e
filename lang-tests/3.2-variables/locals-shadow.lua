-- A local hides outer variables of its name from the next statement on (3.2, 3.5).
-- expect: ok
--| 2
--| 20
--| 2
--| default	given
--| 100 200 2
--| shadowed: hidden

local x = 1
local x = x + 1
print(x)
do
  local x = x * 10
  print(x)
  x = 5
end
print(x)
local function f(x) local x = x or "default"; return x end
print(f(), f("given"))
for x = 1, 2 do local x = x * 100; io.write(x, " ") end
print(x)
local print = function(...) return io.write("shadowed: ", ..., "\n") end
print("hidden")
