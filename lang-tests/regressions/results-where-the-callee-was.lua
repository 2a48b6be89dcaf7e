-- covers: all results of a recursive call in a loop, of which only the early returns are inlined,
-- in registers that held functions before the call
-- expect: ok
--| 3000
--| 12000
--| 3900
local function count(...) return select("#", ...), ... end
local function f(n, self, k)
  if n < 1 then return n end
  -- so long that it is not inlined as a whole
  local s, x, y, z = 0, 1, 2, 3
  for i = 1, k do
    x = x * 3 + 1 y = y ~ x z = z + (x & 3)
    x = x * 3 + 2 y = y ~ x z = z + (x & 4)
    x = x * 3 + 3 y = y ~ x z = z + (x & 5)
    x = x * 3 + 4 y = y ~ x z = z + (x & 6)
    x = x * 3 + 5 y = y ~ x z = z + (x & 7)
    x = x * 3 + 6 y = y ~ x z = z + (x & 8)
    x = x * 3 + 7 y = y ~ x z = z + (x & 9)
    x = x * 3 + 8 y = y ~ x z = z + (x & 10)
    x = x * 3 + 9 y = y ~ x z = z + (x & 11)
    x = x * 3 + 10 y = y ~ x z = z + (x & 12)
    x = x * 3 + 11 y = y ~ x z = z + (x & 13)
    x = x * 3 + 12 y = y ~ x z = z + (x & 14)
    x = x * 3 + 13 y = y ~ x z = z + (x & 15)
    x = x * 3 + 14 y = y ~ x z = z + (x & 16)
    local c, v = count(self(n - 1, self, 3))
    s = s + c + v
  end
  return s
end
print(f(1, f, 3000))
print(f(2, f, 3000))
print(f(3, f, 300))
