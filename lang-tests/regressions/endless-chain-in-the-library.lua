-- A chain of `__index` or `__newindex` that does not end, met by a library function: the message
-- has no position, as of any error of the language there.
-- expect: ok
--| false	'__index' chain too long; possible loop
--| false	'__index' chain too long; possible loop
--| false	'__index' chain too long; possible loop
--| false	'__newindex' chain too long; possible loop
--| false	endless-chain-in-the-library.lua:24: '__index' chain too long; possible loop
--| false	endless-chain-in-the-library.lua:25: '__newindex' chain too long; possible loop
--| true	7
--| 7	true	8
local mt = getmetatable("")
local index = mt.__index
mt.__index = ""
print(pcall(table.unpack, "x", 1, 1))
print(pcall(function() table.unpack("x", 1, 1) end))
mt.__index = index

local t = setmetatable({}, {})
getmetatable(t).__index = t
getmetatable(t).__newindex = t
print(pcall(function() table.concat(t, ",", 1, 1) end))
print(pcall(function() table.move({1}, 1, 1, 1, t) end))
print(pcall(function() return t.x end))
print(pcall(function() t.x = 1 end))

-- long chains that end
local last = {7}
local first = last
for i = 1, 1990 do first = setmetatable({}, {__index = first, __newindex = first}) end
print(pcall(table.unpack, first, 1, 1))
print(first[1], select(2, pcall(table.move, {8}, 1, 1, 2, first)) == first, last[2])
