-- expect: ok
--| 1	3 3 integer	0 none	1 1
--| 1	5 2 integer	0 none	2 1
--| 1	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 1	0 none integer	5 9223372036854775803	0 none
--| 2	3 3 integer	0 none	1 1
--| 2	5 2 integer	0 none	2 1
--| 2	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 2	0 none integer	5 9223372036854775803	0 none
--| 3	3 3 integer	0 none	1 1
--| 3	5 2 integer	0 none	2 1
--| 3	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 3	0 none integer	5 9223372036854775803	0 none
--| 4	0 none integer	1 1	0 none
--| 4	3 0 integer	0 none	1 -2
--| 4	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 4	0 none integer	5 9223372036854775803	0 none
--| 5	0 none integer	2 0	0 none
--| 5	2 -1 integer	0 none	1 -2
--| 5	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 5	0 none integer	5 9223372036854775803	0 none
--| 6	0 none integer	5 -3	0 none
--| 6	0 none integer	2 -3	0 none
--| 6	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 6	0 none integer	5 9223372036854775803	0 none
--| 7	5 5 integer	0 none	5 13
--| 7	5 2 integer	0 none	5 10
--| 7	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 7	1 9223372036854775807 integer	0 none	1 9223372036854775807
--| 8	0 none integer	5 -3	0 none
--| 8	0 none integer	5 -6	0 none
--| 8	0 none integer	1 -9223372036854775808	0 none
--| 8	0 none integer	5 9223372036854775803	0 none
--| 9	5 5 integer	0 none	5 13
--| 9	5 2 integer	0 none	5 10
--| 9	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 9	0 none integer	5 9223372036854775803	0 none
--| 10	5 5 integer	0 none	5 13
--| 10	5 2 integer	0 none	5 10
--| 10	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 10	1 9223372036854775807 integer	0 none	1 9223372036854775807
--| 11	0 none integer	5 -3	0 none
--| 11	0 none integer	5 -6	0 none
--| 11	1 -9223372036854775808 integer	1 -9223372036854775808	1 -9223372036854775808
--| 11	0 none integer	5 9223372036854775803	0 none
--| 12	5 5 integer	0 none	5 13
--| 12	5 2 integer	0 none	5 10
--| 12	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 12	0 none integer	5 9223372036854775803	0 none
--| 13	0 none integer	5 -3	0 none
--| 13	0 none integer	5 -6	0 none
--| 13	0 none integer	1 -9223372036854775808	0 none
--| 13	0 none integer	5 9223372036854775803	0 none
--| 14	5 5 integer	0 none	5 13
--| 14	5 2 integer	0 none	5 10
--| 14	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 14	1 9223372036854775807 integer	1 9223372036854775807	1 9223372036854775807
--| 15	0 none integer	5 -3	0 none
--| 15	0 none integer	5 -6	0 none
--| 15	1 -9223372036854775808 integer	1 -9223372036854775808	1 -9223372036854775808
--| 15	0 none integer	5 9223372036854775803	0 none
--| 16	5 5 integer	0 none	5 13
--| 16	5 2 integer	0 none	5 10
--| 16	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 16	1 9223372036854775807 integer	0 none	1 9223372036854775807
--| 17	5 5 integer	0 none	5 13
--| 17	5 2 integer	0 none	5 10
--| 17	5 -9223372036854775804 integer	0 none	5 -9223372036854775796
--| 17	1 9223372036854775807 integer	0 none	1 9223372036854775807
--| 18	0 none integer	5 -3	0 none
--| 18	0 none integer	5 -6	0 none
--| 18	0 none integer	1 -9223372036854775808	0 none
--| 18	0 none integer	5 9223372036854775803	0 none
--| 19	0 none integer	-	0 none
--| 19	0 none integer	-	0 none
--| 19	0 none integer	-	0 none
--| 19	0 none integer	-	0 none
--| 7 6 5 4 3 2 1
--| 16	16.0	18.0	0
--| true	16
--| bad 'for' limit (number expected, got table)
--| bad 'for' limit (number expected, got nil)
-- A loop whose first value and step are integers is a loop over integers, whatever number its limit
-- is: a float is rounded, and clipped to the integers.

local function up(first, limit)
  local n, last = 0, "none"
  for i = first, limit do
    n, last = n + 1, i
    if n == 5 then break end
  end
  return n .. " " .. tostring(last) .. " " .. math.type(n)
end
local function down(first, limit)
  local n, last = 0, "none"
  for i = first, limit, -1 do
    n, last = n + 1, i
    if n == 5 then break end
  end
  return n .. " " .. tostring(last)
end
local function by_three(first, limit)
  local n, last = 0, "none"
  for i = first, limit, 3 do
    n, last = n + 1, i
    if n == 5 then break end
  end
  return n .. " " .. tostring(last)
end
local function half(t)
  for i = 1, #t / 2 do
    t[i], t[#t + 1 - i] = t[#t + 1 - i], t[i]
  end
  return t
end

local min, max, huge = math.mininteger, math.maxinteger, math.huge
local limits = {
  3, 3.0, 3.7, 0.5, -0.5, -3.2, huge, -huge, 2.0 ^ 53, 2.0 ^ 63, -(2.0 ^ 63), 2.0 ^ 63 - 1024,
  -(2.0 ^ 63) - 2048, max, min, max - 0.0, 1e308, -1e308, 0 / 0,
}
for round = 1, 40 do
  for n, limit in ipairs(limits) do
    for _, first in ipairs { 1, -2, min, max } do
      local a, b, c = up(first, limit), "-", by_three(first, limit)
      -- a limit that is no number makes PUC's loop run downwards without end
      if limit == limit then b = down(first, limit) end
      if round == 40 then print(n, a, b, c) end
    end
  end
  if round == 40 then print(table.concat(half { 1, 2, 3, 4, 5, 6, 7 }, " ")) end
  half { 1, 2, 3 }
end

-- The limit stays what it was.
local function sum(n)
  local s = 0
  for i = 1, n do s = s + n end
  return s
end
for i = 1, 60 do sum(i / 4) sum(i) end
print(sum(4), sum(4.0), sum(4.5), sum(0.5))
print(pcall(sum, "4"))
print((select(2, pcall(sum, {})):gsub("^.*:%d+: ", "")))
print((select(2, pcall(sum, nil)):gsub("^.*:%d+: ", "")))
