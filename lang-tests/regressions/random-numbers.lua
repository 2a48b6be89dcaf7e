-- covers: math.random where machine code calls it without a frame: each call takes as many numbers
-- from the sequence as in PUC, also one that fails
-- expect: ok
--| 42	0
--| 438 7 0.144475 20 947 622 877 6 0.738357 8 710 491 614 10 0.678724 26 112 745 76 3 0.642752 15 805 801
--| 308 4 0.497045 55 540 230 677 9 0.797430 48 411 230 911 10 0.767823 -4 526 197 432 2 0.484858 43 102 276
--| 657 6 0.513219 35 429 942 123 3 0.549128 2 514 610 723 10 0.300697 1 829 574 139 9 0.400953 10 915 715
--| true	3
--| true	6
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	bad argument #1 to 'math.random' (number has no integer representation)
--| false	bad argument #1 to 'math.random' (number expected, got string)
--| false	wrong number of arguments
--| true	3
--| true	3
--| true	6
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	bad argument #1 to 'math.random' (number has no integer representation)
--| false	bad argument #1 to 'math.random' (number expected, got string)
--| false	wrong number of arguments
--| true	3
--| 913941
--| 69 49 64 79 64 41 34 48 17 100 28 42 62 31 93 85 76 44 25 77

local function numbers(n)
  local list = {}
  for i = 1, n do
    list[#list + 1] = math.random(0) % 1000
    list[#list + 1] = math.random(10)
    list[#list + 1] = ("%.6f"):format(math.random())
    list[#list + 1] = math.random(-5, i)
    list[#list + 1] = math.random(1 << 40) % 1000
    list[#list + 1] = math.random(math.mininteger, math.maxinteger) % 1000
  end
  return table.concat(list, " ", #list - 23)
end
print(math.randomseed(42))
for _ = 1, 3 do print(numbers(60)) end

-- arguments that machine code leaves to the function
local function odd(n, ...)
  local ok, what
  for _ = 1, n do ok, what = pcall(math.random, ...) end
  print(ok, what)
end
for _ = 1, 2 do
  odd(50, 5.0)
  odd(50, "7")
  odd(50, 2, 1)
  odd(50, -1)
  odd(50, 0.5)
  odd(50, "x")
  odd(50, 1, 2, 3)
  odd(50, 3, 3)
end
local function mixed(i)
  local ok, what = pcall(math.random, i % 5, i % 7)
  return ok and what or 0
end
local sum = 0
for i = 1, 2000 do sum = (sum * 31 + mixed(i)) % 1000003 end
print(sum)

-- a seed of its own for each coroutine would give other numbers
math.randomseed(7, 8)
local co = coroutine.wrap(function()
  while true do coroutine.yield(math.random(100)) end
end)
local all = {}
for i = 1, 20 do all[i] = i % 2 == 0 and co() or math.random(100) end
print(table.concat(all, " "))
