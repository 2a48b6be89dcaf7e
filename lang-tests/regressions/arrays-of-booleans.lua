-- Arrays of booleans have tags only. Every operation on tables handles them, and they become arrays
-- of any values as soon as something else is stored.
-- expect: ok
--| t f t	f	t 1 f	1 t
--| t nil f	nil t	t f nil
--| 200	f f t f f t f f t	false	nil	nil	nil	false	true	nil	nil
--| true	false	true	200
--| f f t t f t
--| 70000	true	false	false	true	false
--| 100	false	nil	nil
--| 101	true
--| number	f t f t	true	true	20
--| f t f t f t f t f t f t f t f t f t f t
--| number	f t f t	true	true	20
--| f t f t f t f t f t f t f t f t f t f t
--| string	f t f t	true	true	20
--| f t f t f t f t f t f t f t f t f t f t
--| function	f t f t	true	true	20
--| f t f t f t f t f t f t f t f t f t f t
--| table	f t f t	true	true	20
--| f t f t f t f t f t f t f t f t f t f t
--| f t f t nil t f t f t f t f t f t f t f t	20
--| f t f t t t f t f t f t f t f t f t f t	20
--| f t f t f t f t f t f t f t f t f t f t end	21
--| f t f t f t f t	8
--| 1 t 3
--| 0.5 1.5 f
--| 64	true	false	false
--| t f f t	4
--| t f t f f t f t t	9
--| true	true	false	f t f t f t	6
--| f x t f t f t
--| x	f t f t f t
--| false	true	false	true	false
--| false	true	false	nil
--| 100
--| f t f t f t
--| f t f t f t
--| 9 f t f t 9
--| f 1 2 3
--| f t f t
--| false	invalid value (boolean) at index 1 in table for 'concat'
--| false	attempt to compare two boolean values
--| t t t t t t t t t t t t t t t t t t t t f f f f f f f f f f f f f f f f f f f f
--| t f t	2
--| 7	true	true
--| f 0 f	f t f t
--| 1275	50	25
--| 1275	25
--| t f t f t f	50
--| nil	0
--| 1	1
--| f nil f nil f nil f nil f nil
--| 1	2	nil
--| false	true	no 4	77	3
--| no 2	false	no 5	true	4	6=true 4=false
--| false	6=true 4=false 2=false
--| f t f t f t	30
--| f t nil t f t	30
--| 45150	0

local function show(t, n)
  local parts = {}
  for i = 1, n or #t do
    parts[i] = t[i] == true and "t" or t[i] == false and "f" or tostring(t[i])
  end
  return table.concat(parts, " ")
end

-- Constructors, growth and keys of other kinds.
print(show({ true, false, true }), show({ false }), show({ true, 1, false }), show({ 1, true }))
print(show({ true, nil, false }, 3), show({ nil, true }, 2), show({ true, false, nil }, 3))
local t = {}
for i = 1, 200 do t[i] = i % 3 == 0 end
print(#t, show(t, 9), t[200], t[201], t[0], t[-1], t[2.0], t[3.0], t[2.5], t["3"])
t[0], t[-1], t[2.5] = true, false, true
print(t[0], t[-1], t[2.5], #t)
t[4.0] = true
print(show(t, 6))
for i = 201, 70000 do t[#t + 1] = i % 2 == 0 end
print(#t, t[70000], t[69999], t[35001], t[3], t[1])

-- Elements at the end are removed, and come back.
for i = 70000, 101, -1 do t[i] = nil end
print(#t, t[100], t[101], t[102])
t[101] = true
print(#t, t[101])
t[101] = nil

-- An element in the middle is removed; another kind of value is stored.
local function filled(n)
  local t = {}
  for i = 1, n do t[i] = i % 2 == 0 end
  return t
end
for _, v in ipairs({ 7, 1.5, "text", print, {} }) do
  local t = filled(20)
  t[5] = v
  print(type(t[5]), show(t, 4), t[6], t[20], #t)
  t[5] = false
  print(show(t))
end
local holes = filled(20)
holes[5] = nil
print(show(holes, 20), #holes)
holes[5] = true
print(show(holes), #holes)
local other = filled(20)
other[21] = "end"
print(show(other), #other)
local ahead = filled(6)
ahead[8], ahead[7] = true, false
print(show(ahead), #ahead)

-- Numbers and booleans, in both orders.
local numbers = { 1, 2, 3 }
numbers[2] = true
print(show(numbers))
local floats = { 0.5, 1.5 }
floats[3] = false
print(show(floats))

-- Keys that join the array from the hash part.
local late = {}
for i = 64, 1, -1 do late[i] = i % 5 == 0 end
print(#late, late[5], late[6], late[64])
local joined = { true }
joined[3], joined[4] = false, true
joined[2] = false
print(show(joined), #joined)

-- The library.
t = filled(6)
table.insert(t, true)
table.insert(t, 1, true)
table.insert(t, 4, false)
print(show(t), #t)
print(table.remove(t), table.remove(t, 1), table.remove(t, 3), show(t), #t)
table.insert(t, 2, "x")
print(show(t))
print(table.remove(t, 2), show(t))
print(table.unpack(filled(5)))
print(table.unpack(filled(5), 3, 6))
print(select("#", table.unpack(filled(100))))
print(show(table.move(filled(6), 1, 4, 3)))
print(show(table.move(filled(6), 3, 6, 1)))
print(show(table.move(filled(4), 1, 4, 2, { 9, 9, 9, 9, 9, 9 })))
print(show(table.move({ 1, 2, 3 }, 1, 3, 2, filled(4))))
print(show(table.move(filled(4), 1, 4, 1, {})))
print(pcall(table.concat, filled(3)))
print(pcall(table.sort, filled(3)))
t = filled(40)
table.sort(t, function(a, b) return a and not b end)
print(show(t))
print(show(table.pack(true, false, true)), table.pack(false, true).n)
print(rawlen(filled(7)), rawget(filled(7), 2), rawequal(filled(2)[2], true))
print(show(rawset(filled(3), 2, 0)), show(rawset(filled(3), 4, true)))

-- Traversals, also those that change the elements.
local keys, count, trues = 0, 0, 0
for k, v in pairs(filled(50)) do
  keys, count = keys + k, count + 1
  if v then trues = trues + 1 end
end
print(keys, count, trues)
count, trues = 0, 0
for i, v in ipairs(filled(50)) do
  count = count + i
  if v then trues = trues + 1 end
end
print(count, trues)
t = filled(50)
for k, v in pairs(t) do t[k] = not v end
print(show(t, 6), #t)
for k in pairs(t) do t[k] = nil end
print(next(t), #t)
t[1] = true
print(next(t), #t)
t = filled(10)
for k, v in next, t do if v then t[k] = nil end end
print(show(t, 10))
print(next(filled(3)), next(filled(3), 1), next(filled(3), 3))

-- Metatables.
local log = {}
local proxy = setmetatable(filled(3), {
  __index = function(_, k) return "no " .. k end,
  __newindex = function(t, k, v)
    log[#log + 1] = k .. "=" .. tostring(v)
    rawset(t, k, v)
  end,
  __len = function() return 77 end,
})
print(proxy[1], proxy[2], proxy[4], #proxy, rawlen(proxy))
proxy[1], proxy[4], proxy[6] = true, false, true
proxy[2] = nil
print(proxy[2], proxy[4], proxy[5], proxy[6], rawlen(proxy), table.concat(log, " "))
proxy[2] = false
print(proxy[2], table.concat(log, " "))
local weak = setmetatable(filled(30), { __mode = "kv" })
collectgarbage()
print(show(weak, 6), #weak)
weak[3] = {}
collectgarbage()
print(show(weak, 6), #weak)

-- Collections of arrays that become arrays of any values.
local many = {}
for i = 1, 300 do many[i] = filled(i) end
collectgarbage()
for i = 1, 300 do many[i][i] = { i } end
collectgarbage()
local sum, wrong = 0, 0
for i = 1, 300 do
  sum = sum + many[i][i][1]
  for k = 1, i - 1 do
    if many[i][k] ~= (k % 2 == 0) then wrong = wrong + 1 end
  end
end
print(sum, wrong)
