-- Methods of strings in hot loops, which keep what they have looked up: other receivers, results
-- beyond the end, methods that are replaced, and another metatable.
-- expect: ok
--| 921	1037	12
--| 14	3	62
--| oneone,twotwo,threethree,,a longer string, of more than forty bytes, for surea longer string, of more than forty bytes, for sure
--| 6000	294
--| true	294
--| 105	62
--| 804	-216	-804	-294
--| 804	294
--| 10	62	2
--| 28	false
--| 394	62
--| 100	false
--| 394	62	2
local function bytes(s)
  local sum = 0
  for i = 1, #s do sum = sum + s:byte(i) end
  return sum
end
local function beyond(s, n)
  local sum, missing = 0, 0
  for i = -1, n do
    local b = s:byte(i)
    if b then sum = sum + b else missing = missing + 1 end
  end
  return sum, missing
end
local function equal(a, b)
  local same = 0
  for i = 1, #a do
    for j = 1, #b do if a:byte(i) == b:byte(j) then same = same + 1 end end
  end
  return same
end
local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local last, c = row[0], a:sub(i, i)
    row[0] = i
    for j = 1, #b do
      local cost = last + (c == b:sub(j, j) and 0 or 1)
      last = row[j]
      row[j] = math.min(cost, row[j] + 1, row[j - 1] + 1)
    end
  end
  return row[#b]
end
local function lengths(list)
  local sum = 0
  for i = 1, #list do sum = sum + list[i]:len() end
  return sum
end
local function upper(list)
  local out = {}
  for i = 1, #list do out[i] = list[i]:upper():lower():rep(2) end
  return table.concat(out, ",")
end
local words = { "one", "two", "three", "", "a longer string, of more than forty bytes, for sure" }
for round = 1, 60 do
  bytes("some text") beyond("some text", 20) equal("banana", "bandana")
  distance("kitten", "sitting") lengths(words) upper(words)
end
print(bytes("some text"), beyond("some text", 20))
print(equal("banana", "bandana"), distance("kitten", "sitting"), lengths(words))
print(upper(words))

-- a receiver of another type
local object = { byte = function(_, i) return i * 1000 end }
setmetatable(object, { __len = function() return 3 end })
print(bytes(object), bytes("abc"))
print(select(2, pcall(bytes, 12)) ~= nil, bytes("abc"))
local mixed = { "abc", { len = function() return 100 end }, "de" }
print(lengths(mixed), lengths(words))

-- the method is replaced while the loop runs
local original = string.byte
local function replacing(s, at)
  local sum = 0
  for i = 1, #s do
    sum = sum + s:byte(i)
    if i == at then string.byte = function(text, n) return -original(text, n) end end
  end
  return sum
end
for _ = 1, 60 do replacing("abcdefgh", 0) end
print(replacing("abcdefgh", 0), replacing("abcdefgh", 3), replacing("abcdefgh", 0), bytes("abc"))
string.byte = original
print(replacing("abcdefgh", 0), bytes("abc"))

-- the method disappears, and comes back by a function
local meta = getmetatable("")
local index = meta.__index
local function position(_, i) return i end
meta.__index = function(_, name) return name == "byte" and position or index[name] end
print(bytes("abcd"), lengths(words), equal("aa", "ab"))
meta.__index = { byte = function() return 7 end }
print(bytes("abcd"), (pcall(lengths, words)))
meta.__index = index
print(bytes("abcd"), lengths(words))
local other = { __index = { byte = function(_, i) return 10 * i end } }
debug.setmetatable("", other)
print(bytes("abcd"), (pcall(lengths, words)))
debug.setmetatable("", meta)
print(bytes("abcd"), lengths(words), distance("flaw", "lawn"))
