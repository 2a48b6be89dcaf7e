-- os.time, date, clock and difftime (6.9).
-- expect: ok
--| number	integer	true	number	true	5.0
--| 86400
--| true
--| 2022	1	29	1	0	0	7	29	false
--| false	field 'month' missing in date table
--| false	field 'year' is not an integer
--| false	field 'month' is not an integer
--| false	bad argument #1 to 'os.time' (table expected, got number)
--| 1970-01-01 00:00:00	Sunday February 046 AM 70	1970	false	%	false	bad argument #1 to 'os.date' (invalid conversion specifier '%E')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%Q')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%')
--| Thu Jan  1 00:00:00 1970	01/01/70 00:00:00

print(type(os.time()), math.type(os.time()), os.time() > 1600000000, type(os.clock()),
  os.clock() >= 0, os.difftime(10, 5))
print(os.time({ year = 2020, month = 1, day = 1, hour = 0 }) - os.time({ year = 2019, month = 12,
  day = 31, hour = 0 }))
print(os.time({ year = 2000, month = 1, day = 1 }) == os.time({ year = 2000, month = 1, day = 1,
  hour = 12, min = 0, sec = 0 }))
local t = { year = 2021, month = 14, day = -3, hour = 25 }
os.time(t); print(t.year, t.month, t.day, t.hour, t.min, t.sec, t.wday, t.yday, t.isdst)
print(pcall(os.time, { year = 2020 })); print(pcall(os.time, { year = "x", month = 1, day = 1 }))
print(pcall(os.time, { year = 2020, month = 1.5, day = 1 })); print(pcall(os.time, 5))
print(os.date("!%Y-%m-%d %H:%M:%S", 0), os.date("!%A %B %j %p %y", 86400 * 45),
  os.date("!*t", 0).year, os.date("!*t", 0).isdst, os.date("!%%", 0), pcall(os.date, "%E", 0))
print(pcall(os.date, "%Q", 0)); print(pcall(os.date, "!%", 0))
print(os.date("!%c", 0), os.date("!%x %X", 0))
