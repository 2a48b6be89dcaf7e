-- Machine code that reads and stores arrays of booleans, and meets arrays of other kinds: before,
-- in the middle of, and after a loop.
-- expect: ok
--| 669	51	49	0
--| 100	0	0
--| 1000	1000	0
--| 100	100	0
--| -100	100
--| 2550.0	103
--| 0	0	0	100
--| 0	0	0	100
--| 50	0	50
--| 50	0	50
--| 0	50	50
--| 0	50	50
--| 14	86	0	14
--| 0	14	0	86
--| 0	100	0
--| 20 21 20 21 20 21 20 21 20 21 20 21 20 21 20 21 20 21 20 21
--| true	19
--| 3	3	true	x
--| 4	3
--| 30.0	10	4
--| 0	20
--| 20	0	10
--| 0	30	10
--| 669	669	669
--| 1000	1000	0
--| 100	100	0
--| 20	20
--| -100

local function sieve(flags, n)
  local count = 0
  for i = 1, n do flags[i] = true end
  for i = 2, n do
    if flags[i] then
      count = count + 1
      for k = i + i, n, i do flags[k] = false end
    end
  end
  return count
end

local function count(t)
  local trues, falses, others = 0, 0, 0
  for i = 1, #t do
    local v = t[i]
    if v == true then
      trues = trues + 1
    elseif v == false then
      falses = falses + 1
    else
      others = others + 1
    end
  end
  return trues, falses, others
end

local function fill(t, n, v)
  for i = 1, n do t[i] = v end
  return t
end

local function append(n, v, w)
  local t = {}
  for i = 1, n do t[#t + 1] = i % 7 == 0 and w or v end
  return t
end

local function append_flags(n)
  local t = {}
  for i = 1, n do
    t[#t + 1] = true
    t[#t + 1] = false
  end
  return t
end

-- The results of comparisons are stored.
local function compare(a, n)
  local t = {}
  for i = 1, n do t[i] = a[i] < 50 end
  for i = 1, n do t[i] = not t[i] end
  return t
end

local function invert(t)
  for i = 1, #t do t[i] = not t[i] end
  return t
end

-- Changes the kind at one element of a loop over booleans.
local function change(t, n, at, v)
  local seen = 0
  for i = 1, n do
    if i == at then t[i] = v end
    if t[i] then seen = seen + 1 end
    t[i] = false
  end
  return seen
end

local function exchange(t, i, j) t[i], t[j] = t[j], t[i] end

local function both_ends(t)
  local first, last
  for _ = 1, 10 do
    first, last = t[1], t[#t]
    exchange(t, 1, #t)
  end
  return first, last
end

local function sum_of_pairs(t)
  local s = 0
  for k, v in pairs(t) do if v then s = s + k end end
  for k, v in ipairs(t) do if not v then s = s - k end end
  return s
end

local function remove_last(t)
  local n = 0
  while #t > 0 do
    if t[#t] then n = n + 1 end
    t[#t] = nil
  end
  return n
end

local function float_keys(t, n)
  local s = 0
  for i = 1.0, n do
    t[i] = i % 2 == 0
    if t[i] then s = s + i end
  end
  return s
end

local function outside(t, n)
  local nils = 0
  for i = -2, n do
    if t[i] == nil then nils = nils + 1 end
  end
  return nils
end

local numbers = {}
for i = 1, 100 do numbers[i] = i end
for round = 1, 40 do
  local flags = {}
  assert(sieve(flags, 1000) == 168)
  assert(sieve(flags, 1000) == 168)
  assert(select("#", count(flags)) == 3)
  fill({}, 100, true)
  append(100, true, false)
  append_flags(50)
  compare(numbers, 100)
  invert(append_flags(20))
  change(append_flags(20), 40, 0, true)
  both_ends({ true, false, false })
  sum_of_pairs(append_flags(10))
  remove_last(append_flags(10))
  float_keys({}, 20)
  outside(append_flags(10), 25)
end
print(sieve({}, 5000), count(compare(numbers, 100)))
print(count(append(100, true, false)))
print(count(append_flags(1000)))
print(count(invert(append_flags(100))))
print(sum_of_pairs(append_flags(100)), remove_last(append_flags(100)))
print(float_keys({}, 100), outside(append_flags(100), 300))

-- Other kinds of arrays reach the same code.
print(count(fill({}, 100, 1)), count(fill({}, 100, 1.5)))
print(count(fill({}, 100, "x")), count(fill({}, 100, {})))
print(count(fill(fill({}, 100, true), 50, 3)))
print(count(fill(fill({}, 100, 3), 50, true)))
print(count(fill(fill({}, 100, 3.5), 50, false)))
print(count(fill(fill({}, 100, "x"), 50, false)))
print(count(append(100, 1, true)), count(append(100, true, 1)))
print(count(append(100, 1.5, false)), count(append(100, "x", true)))
print(count(invert(fill({}, 100, 3))))
local parts = {}
for _, v in ipairs({ 1, 2.5, "text", true, {} }) do
  for at = 1, 40, 13 do parts[#parts + 1] = change(append_flags(20), 40, at, v) end
end
print(table.concat(parts, " "))
print(pcall(function() return change(append_flags(20), 40, 5, nil) end))
print(both_ends({ 1, 2, 3 }), both_ends({ true, 2, 3 }), both_ends({ "x", 2, true }))
print(sum_of_pairs({ true, 1, false, 2.5 }), remove_last({ true, 1, false, 2.5 }))
print(float_keys({ 1, 2, 3 }, 10), outside({ 1, 2, 3 }, 10), outside({ [0] = true, false }, 3))
local guarded = setmetatable(append_flags(10), {
  __index = function(_, k) return k % 2 == 0 end,
  __newindex = function(t, k, v) rawset(t, k, v and "new" or "old") end,
})
print(outside(guarded, 30), rawlen(guarded))
print(count(fill(guarded, 30, true)))
print(count(fill(guarded, 40, false)))

-- Everything once more, after the code has been compiled again.
for _ = 1, 40 do
  sieve({}, 300)
  count(fill({}, 100, 1))
  count(append(100, true, 1))
  invert(append_flags(20))
  change(append_flags(20), 40, 7, "x")
  sum_of_pairs({ true, 1, false, 2.5 })
end
print(sieve({}, 5000), sieve(fill({}, 5000, 0), 5000), sieve(fill({}, 5000, "x"), 5000))
print(count(append_flags(1000)))
print(count(invert(append_flags(100))))
print(change(append_flags(20), 40, 0, true), change(append_flags(20), 40, 3, 0))
print(sum_of_pairs(append_flags(100)))
