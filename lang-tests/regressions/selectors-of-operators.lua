-- The first argument of `select` may come from operators that jump past the load of a constant.
-- expect: ok
--| 100 200 300 200	|	2	a	|	100	3
--| true	true	true

local function either(c, ...) return (select(c and 1 or 2, ...)) end
local function inlined(c)
  local function pick(...) return (select(c and 1 or 2, ...)) end
  return pick("a", "b")
end
local function default(n, ...) return (select(n or 2, ...)) end
local function count(c, ...) return select(c and '#' or 1, ...) end
local function nested(a, b, ...) return (select(a and (b and 1 or 2) or 3, ...)) end

local counts = {}
local function note(key) counts[key] = (counts[key] or 0) + 1 end
for i = 1, 300 do
  note(either(i % 3 == 0, "x", "y"))
  note(nested(i % 3 == 0, i % 2 == 0, "one", "two", "three"))
  note(default(i % 3 == 0 and 1 or nil, "p", "q") .. (i > 100 and "" or ""))
  note(inlined(i > 0))
end
print(counts.x .. " " .. counts.y .. " " .. counts.a .. " " .. counts.three,
  "|", count(true, 5, 6), count(false, "a"), "|", counts.p, #{ count(false, 1, 2, 3) })

local function fails(c, ...)
  return pcall(function(...) return select(c and '#' or c ~= nil and 'x' or '#', ...) end, ...)
end
local good = true
for _ = 1, 100 do
  local one, two, three = fails(true, 1), fails(false, 1), fails(nil, 1)
  good = good and one and not two and three
end
print(good, counts.one == 50, counts.two == 50)
