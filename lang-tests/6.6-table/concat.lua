-- table.concat (6.6).
-- expect: ok
--| 123	1, 2, 3	true	a	1|2.5|s
--| 2,3	2	true	five-six
--| a1b	true	1100
--| false	invalid value (table) at index 2 in table for 'concat'
--| false	invalid value (nil) at index 2 in table for 'concat'
--| false	invalid value (boolean) at index 1 in table for 'concat'
--| false	bad argument #1 to 'table.concat' (table expected, got no value)
--| false	bad argument #2 to 'table.concat' (string expected, got table)
--| false	invalid value (nil) at index 2 in table for 'concat'
--| false	bad argument #1 to 'table.concat' (table expected, got number)
--| v1 v2 v3
--| last
--| 399

print(table.concat({ 1, 2, 3 }), table.concat({ 1, 2, 3 }, ", "), table.concat({}, "x") == "",
  table.concat({ "a" }, "x"), table.concat({ 1, 2.5, "s" }, "|"))
print(table.concat({ 1, 2, 3 }, ",", 2), table.concat({ 1, 2, 3 }, ",", 2, 2),
  table.concat({ 1, 2, 3 }, ",", 3, 2) == "", table.concat({ [5] = "five", [6] = "six" }, "-", 5,
  6))
print(table.concat({ "a", "b" }, 1), table.concat({ "a\0", "b" }, "\0") == "a\0\0b",
  #table.concat({ ("x"):rep(500), ("y"):rep(500) }, ("z"):rep(100)))
print(pcall(table.concat, { 1, {}, 3 })); print(pcall(table.concat, { 1, nil, 3 }, "", 1, 3))
print(pcall(table.concat, { true })); print(pcall(table.concat)); print(pcall(table.concat, {}, {}))
print(pcall(table.concat, { 1 }, ",", 1, 2)); print(pcall(table.concat, 5))
print(table.concat(setmetatable({}, {
  __index = function(_, i) return "v" .. i end,
  __len = function() return 3 end,
}), " "))
print(table.concat({ [math.maxinteger] = "last" }, ",", math.maxinteger, math.maxinteger))
local parts = {}
for i = 1, 200 do parts[i] = i % 7 end
print(#table.concat(parts, ";"))
