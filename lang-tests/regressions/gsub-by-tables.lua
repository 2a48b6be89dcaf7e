-- string.gsub replaces many matches by values of a table in a row, without calling anything, if
-- the table has no metatable.
-- expect: ok
--| <a>12.5de	6
--| <a>12.5def	3
--| ab2.5ef	1
--| oneabthreecdef	7
--| abcdef	7
--| -a-b-c-d-e-f-	7
--| <a>bcdef	1
--| <a>bcdef	1
--| abcdef	0
--| abcdef	0
--| abcdef	6
--| 	0
--| empty	1
--| 63	252	126	true
--| 63	220	63
--| 63	189	63	63 63 63 63 
--| 63	379	190
--| 64	256	128	true
--| 64	224	64
--| 64	192	64	64 64 64 64 
--| 64	385	193
--| 65	260	130	true
--| 65	227	65
--| 65	195	65	65 65 65 65 
--| 65	391	196
--| 127	508	254	true
--| 127	444	127
--| 127	508	127	127 127 127 
--| 127	763	382
--| 128	512	256	true
--| 128	448	128
--| 128	512	128	128 128 128 
--| 128	769	385
--| 129	516	258	true
--| 129	451	129
--| 129	516	129	129 129 129 
--| 129	775	388
--| 1000	4000	2000	true
--| 1000	3500	1000
--| 1000	5000	1000	1000 1000 10
--| 1000	6001	3001
--| A[b]cA[b]cA[b]c	9
--| 244	70
--| <a>12.5	3
--| xbc	3
--| false	invalid replacement value (a boolean)
--| false	invalid replacement value (a table)
--| false	invalid replacement value (a function)
--| false	invalid replacement value (a thread)
--| false	unfinished capture
--| false	malformed pattern (ends with '%')
--| false	unfinished capture
--| false	bad argument #4 to 'string.gsub' (number expected, got string)
--| long long!	2
--| str 9.007199254741e+15 3 -0.0	4
--| 2391	v1 v2 v3 v4 v5 v6 v7	 v497 v498 v499 v500

local function show(...) print(...) end

local map = { a = "<a>", b = 1, c = 2.5, d = false, f = "", [1] = "one", [3] = "three" }
local text = "abcdef"
show(text:gsub(".", map))
show(text:gsub("%w", map, 3))
show(text:gsub("(c)(d)", map))
show(text:gsub("()", map))
show(text:gsub("x*", map))
show(text:gsub("x*", { [""] = "-" }))
show(text:gsub("^.", map))
show(text:gsub("^(.)", map, 5))
show(text:gsub(".", map, 0))
show(text:gsub(".", map, -1))
show(text:gsub(".", {}))
show((""):gsub(".", map))
show((""):gsub("", { [""] = "empty" }))

-- Batches of 64 matches.
for _, n in ipairs({ 63, 64, 65, 127, 128, 129, 1000 }) do
  local s = ("ab "):rep(n)
  local r, count = s:gsub("%a", { a = "1", b = "22" })
  print(n, #r, count, r == ("122 "):rep(n))
  r, count = s:gsub("%a", { a = "1", b = "22" }, n)
  print(n, #r, count)
  r, count = s:gsub("(%a)(%a)", { a = n })
  print(n, #r, count, r:sub(1, 12))
  r, count = s:gsub("x*", { [""] = "." })
  print(n, #r, count)
end

-- Metatables, and values that cannot replace anything.
local missed = 0
local computed = setmetatable({ a = "A" }, { __index = function(t, k)
  missed = missed + 1
  if missed == 70 then setmetatable(t, nil) end
  return k ~= "c" and "[" .. k .. "]"
end })
show(("abc"):rep(3):gsub(".", computed))
print(#(("abc"):rep(60):gsub(".", computed)), missed)
show(("abc"):gsub(".", setmetatable({}, { __index = map })))
show(("abc"):gsub(".", setmetatable({ a = "x" }, {})))
for _, value in ipairs({ true, {}, print, coroutine.create(print) }) do
  local ok, message = pcall(string.gsub, ("x"):rep(100) .. "y", "%a", { x = "z", y = value })
  print(ok, message)
end
print(pcall(string.gsub, "abc", "(", map))
print(pcall(string.gsub, "abc", "%", map))
print(pcall(string.gsub, "abc", "(.", map))
print(pcall(string.gsub, "abc", ".", map, "x"))

-- Long captures, numbers as text, and strings that only the table keeps.
local long = ("k"):rep(100)
show((long .. " " .. long .. "!"):gsub("%a+", { [long] = "long" }))
show(("1 2 3 10"):gsub("%d+", { [1] = "int", ["1"] = "str", ["2"] = 2 ^ 53, ["10"] = -0.0 }))
local words, all = {}, {}
for i = 1, 500 do
  words["w" .. i] = "v" .. i
  all[i] = "w" .. i
end
local replaced = table.concat(all, " "):gsub("%w+", words)
print(#replaced, replaced:sub(1, 20), replaced:sub(-20))
