-- An element of an array of any values, which may be outside of it.
local function get(t, i) return t[i] end
local t = { "a", {}, "c" }
for i = 1, 4 do get(t, i) end
