-- The length operator (3.4.7).
-- expect: ok
--| 0	3	3	1000
--| 0	3	0	3	2
--| 0
--| 2	b
--| 3	2	0	0
--| 0	1	3
--| -3	false	4	2c	8.0	3
--| 4
--| 4	50
--| length.lua:37: attempt to get length of a nil value
--| length.lua:38: attempt to get length of a number value
--| length.lua:39: attempt to get length of a boolean value
--| length.lua:40: attempt to get length of a function value (global 'print')
--| length.lua:41: attempt to get length of a nil value (field 'x')
--| length.lua:42: attempt to get length of a nil value (global 'undefined')
print(#"", #"abc", #"a\0b", #("x"):rep(1000))
print(#{}, #{ 1, 2, 3 }, #{ n = 1 }, #{ 1, 2, x = 5, 3 }, #{ [1] = 1, [2] = 2 })
local t = {}
for i = 1, 100 do t[i] = i; if #t ~= i then print("wrong", i, #t) end end
for i = 100, 1, -1 do t[i] = nil; if #t ~= i - 1 then print("wrong", i, #t) end end
print(#t)
t[#t + 1] = "a"; t[#t + 1] = "b"
print(#t, t[#t])
print(#{ (function() return 1, 2, 3 end)() }, #{ (function() return 1, 2, 3 end)(), 10 }, #{ nil },
  #{ nil, nil })
local function count(...) return #{ ... } end
print(count(), count(1), count(1, 2, 3))
print(-#"abc", not #"", #"abc" + 1, #"ab" .. "c", 2 ^ #"abc", #("a" .. "bc"))
t = { 10, 20, 30 }
t[4] = 40; t.x = 1; t[6] = nil
print(#t)
table.insert(t, 50); table.remove(t, 1)
print(#t, t[#t])
local function try(f) print(select(2, pcall(f))) end
try(function() return #nil end)
try(function() return #1 end)
try(function() return #true end)
try(function() return #print end)
try(function() local t = {}; return #t.x end)
try(function() return #undefined end)
