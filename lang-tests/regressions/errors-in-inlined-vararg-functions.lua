-- expect: ok
--| abc	100	30700
--| 1320	60
--| 45950	failed300
-- A vararg function that is inlined raises an error in the library, which compiled code catches.
local function check(ok, ...)
  if ok == 0 then error("failed", 0) end
  return ok, ...
end
local function work(i)
  local a, b, c = check(i % 3, i, 2)
  return a + b + c
end
local function run(n)
  local a, b, c, count, sum = "a", "b", "c", 0, 0
  for i = 1, n do
    local ok, result = pcall(work, i)
    if ok then
      sum = sum + result
    elseif result == "failed" then
      count = count + 1
    else
      error(result)
    end
    if a ~= "a" or b ~= "b" or c ~= "c" or i > n then error "variables have changed" end
  end
  return a .. b .. c, count, sum
end
print(run(300))

-- Extra arguments of several functions, and none.
local function second(...)
  local x, y = ...
  return check(x, y, select("#", ...))
end
local function first(i, ...) return second(i % 5, ...) end
local function outer(i) return (first(i, "a", "b", "c")) + select("#", second(1)) end
local function again(n)
  local good, bad = 0, 0
  for i = 1, n do
    local ok, result = pcall(outer, i)
    if ok then good = good + result else bad = bad + 1 end
  end
  return good, bad
end
print(again(300))

-- A function that returns to compiled code after the error, and one that passes it on.
local function guarded(i)
  local before = { i }
  local ok, message = pcall(work, i)
  return before[1] + (ok and 1 or #message)
end
local function passes(i)
  local ok, message = pcall(function() return work(i), i end)
  if not ok then error(message .. i, 0) end
  return i
end
local total, last = 0, nil
for i = 1, 300 do
  total = total + guarded(i)
  local ok, message = pcall(passes, i)
  if not ok then last = message end
end
print(total, last)
