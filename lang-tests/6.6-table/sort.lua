-- table.sort with the default order and with a comparator (6.6).
-- expect: ok
--| 1 2 3		1	1 2	5 5 5	-2 0 1 1.5 10000000000.0
--|  Cherry apple apple2 banana	3 2 1
--| fox the brown quick
--| true	200
--| true
--| 0:20 1:3 2:6 3:9 4:12 5:15 6:18 7:1 8:4 9:7 10:10 11:13 12:16 13:19 14:2 15:5 16:8 17:11 18:14 19:17 
--| false	attempt to compare string with number
--| false	attempt to compare two table values
--| false	cmp
--| false	bad argument #2 to 'table.sort' (function expected, got number)
--| false	bad argument #1 to 'table.sort' (table expected, got no value)
--| true
--|

local function sorted(t, f) table.sort(t, f); return table.concat(t, " ") end
print(sorted({ 3, 1, 2 }), sorted({}), sorted({ 1 }), sorted({ 2, 1 }), sorted({ 5, 5, 5 }),
  sorted({ 1.5, 1, -2, 1e10, 0 }))
print(sorted({ "banana", "apple", "Cherry", "", "apple2" }),
  sorted({ 3, 1, 2 }, function(a, b) return a > b end))
local words = { "the", "quick", "brown", "fox" }
print(sorted(words, function(a, b) if #a ~= #b then return #a < #b end return a < b end))
local t, seed = {}, 42
for i = 1, 200 do seed = (seed * 1103515245 + 12345) % 2147483648; t[i] = seed % 1000 end
table.sort(t)
local ok = true
for i = 2, #t do if t[i - 1] > t[i] then ok = false end end
print(ok, #t)
table.sort(t, function(a, b) return a > b end)
for i = 2, #t do if t[i - 1] < t[i] then ok = false end end
print(ok)
local records = {}
for i = 1, 20 do records[i] = { key = (i * 7) % 20, id = i } end
table.sort(records, function(a, b) return a.key < b.key end)
for i, r in ipairs(records) do io.write(r.key, ":", r.id, " ") end print()
print(pcall(table.sort, { 1, "x" })); print(pcall(table.sort, { {}, {} }))
print(pcall(table.sort, { 3, 2, 1 }, function() error("cmp", 0) end))
print(pcall(table.sort, { 1, 2 }, 5)); print(pcall(table.sort))
print(pcall(table.sort, { 1, nil, 3 }, nil) ~= nil)
print(sorted(setmetatable({}, {
  __index = function(_, i) return ({ 3, 1, 2 })[i] end,
  __len = function() return 0 end,
})))
