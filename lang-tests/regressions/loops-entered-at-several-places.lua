-- expect: ok
--| 13	13	37
--| 25	25	73
--| 37	37	109
--| 49	49	145
--| 61	61	181
--| 5001	5002	1686
--| 51	2	23
--| 51	2	23
--| 51	2	23
--| 6	6	6
--| nil	nil	nil
--| nil	nil	nil
--| nil	nil	nil
--| 30	2	30
--| nil	nil	nil
--| nil	nil	nil
--| 48	6	48
--| 54	5	54
--| nil	nil	nil
--| 6	319
-- Loops made by goto, some of which have no first instruction that comes before all others.
local function endless(n)
  local count = 0
  ::a::
  do goto b end
  ::b::
  count = count + 1
  if count > n then return count end
  do goto c end
  ::c::
  for i = 1, 2 do
    if i == 2 then goto a end
  end
  goto a
end
local function crossed(n, odd)
  local count, steps = 0, 0
  if odd then goto second end
  ::first::
  count = count + 1
  steps = steps + 1
  if count > n then return count, steps end
  ::second::
  count = count + 2
  if count % 3 == 0 then goto first end
  steps = steps + 10
  if count <= n then goto second end
  goto first
end
for round = 1, 60 do
  local a, b, c = endless(round), crossed(round, false), crossed(round * 3, round % 2 == 1)
  if round % 12 == 0 then print(a, b, c) end
end
print(endless(5000), crossed(5000, true))

-- what a branch has shown before such a loop does not hold in it
local function f(x) return (x * 3 + 1) % 1009 end
local function entered(a, b, limit)
  local c, steps = a, 0
  if a % 6 == 2 then goto l0 end
  ::l0::
  steps = steps + 1
  if steps > limit then return a, b, c end
  if a % 2 > 2 then goto l4 end
  if a % 4 < 2 then goto l4 end
  for k = 1, 3 do
    if k % 5 ~= 3 then goto l1 end
    for i = 1, 4 do a = (a + i) % 1009 end
  end
  ::l1::
  steps = steps + 1
  if steps > limit then return a, b, c end
  for _ = 1, 3 do
    if a % 3 < 3 then goto l3 end
    c = (a - a) % 1009
  end
  ::l2::
  if steps > limit then return a, b, c end
  a = (a + 7) % 1009
  for k = 1, 3 do
    if k % 6 < 2 then goto l0 end
    c = (a + a) % 1009
  end
  ::l3::
  if steps > limit then end
  ::l4::
  steps = steps + 1
  if steps > limit then return a, b, c end
  if c % 3 > 1 then goto l2 end
  if b % 4 == 2 then goto l1 end
  for _ = 1, 3 do f(b) end
end
for _ = 1, 3 do print(entered(23, 2, 10)) end
for round = 1, 60 do
  local a, b, c = entered(round, round % 7, round % 13)
  if round % 6 == 0 then print(a, b, c) end
end

-- a loop that code is entered at, whose blocks lead to each other in another order
local acc = 0
local function mixed(a, b, limit)
  local c, steps = a, 0
  ::l0::
  steps = steps + 1
  if steps > limit then return end
  if b % 4 == 2 then goto l0 end
  for k = 1, 3 do
    if k then goto l3 end
    a = f(b)
  end
  ::l1::
  steps = steps + 1
  if steps > limit then return a, b, c end
  acc = (acc * 31 + c - a) % 1009
  c = (b + 1) % 1009
  ::l2::
  steps = steps + 1
  if steps > limit then return a, b, c end
  if b then goto l1 end
  if b % 5 == 2 then goto l4 end
  ::l3::
  steps = steps + 1
  if steps > limit then return end
  ::l4::
  steps = steps + 1
  if steps > limit then return end
  a = (c + c) % 1009
  if c then goto l2 end
  return c, b, a
end
for round = 1, 100 do mixed(round, round % 7, round % 13) end
print(mixed(3, 4, 20000), acc)
