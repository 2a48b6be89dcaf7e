-- A tail call of a native function returns that function's results alone, also when a collection
-- comes between (3.4.10).
-- expect: ok
--| 1	1	0	2

local function one() return setmetatable({}, {}) end
local function other() return coroutine.create(one) end
local function none() return collectgarbage, nil end
local function empty() return select(2, 'a') end
local function two() return math.modf(2.5) end
none()
print(select('#', one()), select('#', other()), select('#', empty()), select('#', two()))
