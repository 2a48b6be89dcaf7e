-- expect: ok
--| 13	13	37
--| 25	25	73
--| 37	37	109
--| 49	49	145
--| 61	61	181
--| 5001	5002	1686
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
