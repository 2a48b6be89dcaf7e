-- A loop becomes hot in one call, and its code is entered in the middle of the loop in a later
-- call. Registers that live around the loop hold values of other types then: the code must not be
-- entered with them. Each function is called so seldom that only its loops are compiled.
-- expect: ok
--| 20000	20000
--| 5000.5	20000
--| 20001	20000
--| 20000.0	20000
--| -20000	20000
--| 20000	table
--| 20000	string
--| 20000	nil
--| 20000	function
--| attempt to index a number value (local 'object')
--| attempt to compare number with nil

-- numbers whose bits differ by type, and strings that arithmetic converts
local function sum(start, step, n)
  local s, rounds = start, 0
  while rounds < n do
    s = s + step
    rounds = rounds + 1
  end
  return s, rounds
end
print(sum(0, 1, 20000))
print(sum(0.5, 0.25, 20000))
print(sum("1", 1, 20000))
print(sum(0, "1.0", 20000.0))
print(sum(0, -1, 20000))

-- objects in place of objects of another type: their memory is laid out in another way
local function count(object, n)
  local found = 0
  for i = 1, n do
    if object == object and i > 0 then found = found + 1 end
  end
  return found, type(object)
end
print(count({}, 20000))
print(count("", 20000))
print(count(nil, 20000))
print(count(print, 20000))

local function field(object, n)
  local s = 0
  for i = 1, n do
    if i % 2 == 0 or i < 19000 then s = s + 1 else s = s + object.x end
  end
  return s
end
field({x = 1}, 20000)
print((select(2, pcall(field, 77, 20000)):gsub("^.-: ", "")))

local function below(limit, n)
  local i = 0
  repeat i = i + 1 until i > n and i < limit
  return i
end
below(1e9, 20000)
print((select(2, pcall(below, nil, 20000)):gsub("^.-: ", "")))
