-- covers: all results of a call in an inner loop, of which code that is entered there has two
-- copies: the callee is a function in one of them, and an object with more results in the other
-- expect: ok
--| 3010
local function count(...) return select("#", ...) end
local function same(x) return x end
local function twice(_, x) return x, x end
local function test(f, n, m)
  local s, h = 0, f
  for round = 1, 2 do
    for i = 1, round == 1 and n or m do s = s + count(h(i)) end
    h = setmetatable({}, { __call = twice })
  end
  return s
end
test(same, 1, 0)
print(test(same, 3000, 5))
