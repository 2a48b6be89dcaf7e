-- Generators built from wrap, recursive ones included (2.6).
-- expect: ok
--| bca
--| cba
--| cab
--| acb
--| bac
--| abc
--| 1 2 3 4 5 
--| 2 3 5 7 11 13 17 19 23 29 31 37

local function permutations(a, n)
  n = n or #a
  if n <= 1 then coroutine.yield(a) else
    for i = 1, n do
      a[n], a[i] = a[i], a[n]
      permutations(a, n - 1)
      a[n], a[i] = a[i], a[n]
    end
  end
end
for p in coroutine.wrap(function() permutations({ "a", "b", "c" }) end) do
  print(table.concat(p))
end
local function tree(t) if t then tree(t[1]); coroutine.yield(t[2]); tree(t[3]) end end
local t = { { nil, 1, { nil, 2 } }, 3, { { nil, 4 }, 5 } }
for v in coroutine.wrap(function() tree(t) end) do io.write(v, " ") end
print()
local function filter(p, g)
  return coroutine.wrap(function() for v in g do if p(v) then coroutine.yield(v) end end end)
end
local function count(n)
  return coroutine.wrap(function() for i = 2, n do coroutine.yield(i) end end)
end
local g, primes = count(40), {}
while true do
  local n = g()
  if not n then break end
  primes[#primes + 1] = n
  g = filter(function(v) return v % n ~= 0 end, g)
end
print(table.concat(primes, " "))
