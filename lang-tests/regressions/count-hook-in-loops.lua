-- How often a count hook is called: the instructions of a generic loop are counted as PUC counts
-- them, and those of the hook itself as well.
-- expect: ok
--| 1	18	18
--| 2	17	17
--| 3	6	6
--| 4	5	5
for _, c in ipairs{1, 2, 3, 4} do
local n = 0
debug.sethook(function(e) n = n + 1 debug.getinfo(2, "l") end, "", c)
for k, v in next, {1, 2, 3} do local z = k end
debug.sethook()
local m = 0
debug.sethook(function(e) m = m + 1 local a, b = debug.getlocal(2, 1) end, "", c)
for k, v in next, {1, 2, 3} do local z = k end
debug.sethook()
print(c, n, m)
end
