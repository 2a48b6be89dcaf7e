-- expect: ok
--| 454869	161795
--| 3844	1572
--| 3897	1452
--| 3745	1452
-- What is known where a loop is entered at one place need not be known where it is entered at
-- another: variables that are never assigned, and methods of strings.

local function twice(n) return 2 * n end
local name = "abc"

local function run(n, text)
  local s, m = 0, 0
  if n % 3 == 2 then goto second end
  s = s + twice(n) + text:byte(1) + #name
  ::first::
  n = n - 1
  s = s + twice(n) + #name
  if n % 5 == 3 then goto second end
  m = m + text:byte(1 + n % 3)
  if n > 0 then goto first end
  do return s, m end
  ::second::
  n = n - 1
  s = s + twice(s % 7) + text:byte(2) + #name
  if n % 7 == 2 and n > 0 then goto first end
  if n > 0 then goto second end
  return s, m
end

local s, m = 0, 0
for i = 1, 300 do
  local a, b = run(i % 40, name)
  s, m = s + a, m + b
end
print(s, m)
print(run(40, "xyz"))
print(run(41, "xyz"))
print(run(39, "xyz"))
