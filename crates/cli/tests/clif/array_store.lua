-- A store of an integer into an array of integers.
local function store(t, i) t[i] = i end
local t = { 1, 2, 3, 4 }
for i = 1, 4 do store(t, i) end
