-- expect: ok
--| year=2021 month=1 day=15 hour=12 min=0 sec=0 yday=15 wday=6 isdst
--| false	t.lua: no assignments
--| 2020	14	45
--| year=2021 month=1 day=15 hour=12 min=0 sec=0 yday=15 wday=6
-- os.time assigns the normalized fields in order, and calls metamethods.
local date = { year = 2020, month = 13, day = 15, hour = 12 }
local order = {}
local t = setmetatable({}, {
    __index = date,
    __newindex = function(_, name, value)
        order[#order + 1] = name == "isdst" and name or name .. "=" .. value
    end,
})
os.time(t)
print(table.concat(order, " "))
assert(next(t) == nil)

local frozen = setmetatable({}, {
    __index = date,
    __newindex = function() error("t.lua: no assignments", 0) end,
})
print(pcall(os.time, frozen))

local target = {}
date.day = 45
date.month = 14
setmetatable(t, { __index = date, __newindex = target })
os.time(t)
print(date.year, date.month, date.day)

date.day = 15
date.month = 13
os.time(t)
local parts = {}
for _, name in ipairs { "year", "month", "day", "hour", "min", "sec", "yday", "wday" } do
    parts[#parts + 1] = name .. "=" .. target[name]
end
print(table.concat(parts, " "))
