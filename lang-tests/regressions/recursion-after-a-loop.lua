-- expect: ok
--| 21	1000	1	1
--| 21	1000	1	1
--| 21	1000	1	1
--| 21	1000	1	1
--| 21	1000	1	1
--| 410000	27500
--| 3	7
--| 3	7
--| 3	7
--| 3	7
--| 3	7
-- A function whose code was entered at a loop calls itself afterwards: at its beginning, not at the
-- loop.

local function fill(n)
  local t = {}
  for i = 1, 1000 do t[i] = n end
  if n > 20 then return n end
  return fill(n + 1), t
end
for _ = 1, 5 do
  local last, t = fill(1)
  print(last, #t, t[1], t[1000])
end

local function count(n)
  local s = 0
  local i = 0
  while i < 500 do
    i = i + 1
    s = s + n
  end
  if n == 0 then return s end
  local below = count(n - 1)
  return s + below
end
print(count(40), count(10))

local function nested(n, f)
  for i = 1, 300 do
    for j = 1, 3 do n = n + j - 2 end
    if i == 300 and f then
      local m = nested(n + 1)
      n = n + m
    end
  end
  return n
end
for _ = 1, 5 do print(nested(1, true), nested(7)) end
