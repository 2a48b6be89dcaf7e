-- covers: table.sort with comparators, sorting algorithms in Lua
-- Sorts records by several keys with table.sort, and integers with merge sort,
-- quick sort, heap sort and insertion sort written in Lua.

local scale = tonumber(arg and arg[1]) or 1
local COUNT = math.max(20, math.floor(45000 * scale))

local seed = 9001
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n
end

local CITIES = { "oslo", "lima", "quito", "accra", "hanoi", "perth", "cairo" }

local function make_people(count)
  local people = {}
  for i = 1, count do
    local age, city = random(90), CITIES[random(#CITIES) + 1]
    people[i] = { id = i, age = age, city = city, score = random(10000) / 8 }
  end
  return people
end

local function by_city_then_age(a, b)
  if a.city ~= b.city then return a.city < b.city end
  if a.age ~= b.age then return a.age > b.age end
  return a.id < b.id
end

local function by(key)
  return function(a, b)
    if a[key] == b[key] then return a.id < b.id end
    return a[key] < b[key]
  end
end

local function merge_sort(list, less)
  local n, source, target = #list, list, {}
  local width = 1
  while width < n do
    for low = 1, n, 2 * width do
      local middle, high = math.min(low + width, n + 1), math.min(low + 2 * width, n + 1)
      local i, j = low, middle
      for k = low, high - 1 do
        if i < middle and (j >= high or not less(source[j], source[i])) then
          target[k] = source[i]
          i = i + 1
        else
          target[k] = source[j]
          j = j + 1
        end
      end
    end
    source, target = target, source
    width = 2 * width
  end
  return source
end

local function insertion_sort(list, low, high)
  for i = low + 1, high do
    local x, j = list[i], i - 1
    while j >= low and list[j] > x do
      list[j + 1] = list[j]
      j = j - 1
    end
    list[j + 1] = x
  end
end

local function quick_sort(list, low, high)
  while high - low > 12 do
    local pivot = list[math.floor((low + high) / 2)]
    local i, j = low, high
    while i <= j do
      while list[i] < pivot do i = i + 1 end
      while list[j] > pivot do j = j - 1 end
      if i <= j then
        list[i], list[j] = list[j], list[i]
        i, j = i + 1, j - 1
      end
    end
    quick_sort(list, low, j)
    low = i
  end
  insertion_sort(list, low, high)
end

local function heap_sort(list)
  local n = #list
  local function sift(root, last)
    while 2 * root <= last do
      local child = 2 * root
      if child < last and list[child] < list[child + 1] then child = child + 1 end
      if list[root] >= list[child] then return end
      list[root], list[child] = list[child], list[root]
      root = child
    end
  end
  for root = math.floor(n / 2), 1, -1 do sift(root, n) end
  for last = n, 2, -1 do
    list[1], list[last] = list[last], list[1]
    sift(1, last - 1)
  end
end

local function checksum(list, value_of)
  local sum = 0
  for i = 1, #list do sum = (sum * 31 + value_of(list[i])) % 1000003 end
  return sum
end
local function id_of(person) return person.id end
local function self_of(x) return x end

local people = make_people(COUNT)
table.sort(people, by_city_then_age)
print(string.format("city %d", checksum(people, id_of)))
table.sort(people, by("score"))
print(string.format("score %d", checksum(people, id_of)))
print(string.format("merged %d", checksum(merge_sort(people, by("age")), id_of)))

local numbers = {}
for i = 1, 3 * COUNT do numbers[i] = random(1000000) end
local copy = {}
for i, x in ipairs(numbers) do copy[i] = x end
quick_sort(numbers, 1, #numbers)
heap_sort(copy)
for i = 1, #numbers do assert(numbers[i] == copy[i], "the sorts disagree") end
table.sort(numbers, function(a, b) return a > b end)
print(string.format("numbers %d", checksum(numbers, self_of)))
