-- Elements of arrays of any kind, some of which are not there.
local function missing(t, i) return t[i] end
local t, n = { "a", {}, "c" }, { 1, 2 }
for i = 1, 8 do missing(i % 2 == 0 and t or n, i) end
