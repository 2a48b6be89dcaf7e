-- os.time: normalisation, fields and their limits (6.9).
-- expect: ok
--| 0	1970	1	1	0	0	0	5	1	false
--| 43200	1970	1	1	12	0	0	5	1	false
--| 951912000	2000	3	1	12	0	0	4	61	false
--| 983404800	2001	3	1	0	0	0	5	60	false
--| 1609502400	2021	1	1	12	0	0	6	1	false
--| 1575115200	2019	11	30	12	0	0	7	334	false
--| 1543665600	2018	12	1	12	0	0	7	335	false
--| 1577833200	2019	12	31	23	0	0	3	365	false
--| 1577930521	2020	1	2	2	2	1	5	2	false
--| 1612310340	2021	2	2	23	59	0	3	33	false
--| 1578880000	2020	1	13	1	46	40	2	13	false
--| -2208988800	1900	1	1	0	0	0	2	1	false
--| -62135553600	1	1	1	12	0	0	2	1	false
--| -62198712000	-1	1	1	12	0	0	6	1	false
--| 253402300799	9999	12	31	23	59	59	6	365	false
--| 1591009200	2020	6	1	11	0	0	2	153	false
--| 1591012800	2020	6	1	12	0	0	2	153	false
--| 1591009200	2020	6	1	11	0	0	2	153	false
--| 1590980400	2020	6	1	3	0	0	2	153	false
--| 1591012800	2020	6	1	12	0	0	2	153	false
--| field 'year' missing in date table
--| field 'month' missing in date table
--| field 'day' missing in date table
--| field 'year' missing in date table
--| field 'month' is not an integer
--| field 'day' is not an integer
--| field 'month' is not an integer
--| field 'hour' is not an integer
--| field 'min' is not an integer
--| field 'sec' is not an integer
--| 67767976233576000	2147483648	1	1	12	0	0	4	1	false
--| 5647338108619200	178958990	8	1	12	0	0	1	213	false
--| field 'day' is out-of-bound
--| field 'hour' is out-of-bound
--| field 'sec' is out-of-bound
--| field 'year' is out-of-bound
--| field 'month' is out-of-bound
--| -185541009393600	-5877591	6	21	12	0	0	1	172	false
--| -7729363296000	-242964	3	24	16	0	0	5	84	false
--| -569603648	1951	12	14	8	45	52	6	348	false
--| 67767976202040000	2147483647	1	1	12	0	0	3	1	false
--| 5647338105940800	178958990	7	1	12	0	0	5	182	false
--| 185544164894400	5881630	7	10	12	0	0	4	191	false
--| 7732518966000	247003	10	10	7	0	0	2	283	false
--| 3725363647	2088	1	19	15	14	7	2	19	false
--| field 'year' is out-of-bound
--| field 'month' is out-of-bound
--| -185541009393600	-5877591	6	21	12	0	0	1	172	false
--| -7729363296000	-242964	3	24	16	0	0	5	84	false
--| -569603648	1951	12	14	8	45	52	6	348	false
--| 67768036160184000	2147485547	1	1	12	0	0	4	1	false
--| field 'month' is out-of-bound
--| field 'day' is out-of-bound
--| field 'hour' is out-of-bound
--| field 'sec' is out-of-bound
--| field 'year' is out-of-bound
--| field 'month' is out-of-bound
--| field 'day' is out-of-bound
--| field 'hour' is out-of-bound
--| field 'sec' is out-of-bound
--| field 'year' is out-of-bound
--| -5647329964382400	-178954793	7	1	12	0	0	1	182	false
--| -185540845320000	-5877586	9	2	12	0	0	3	245	false
--| -7729356459600	-242964	6	11	19	0	0	7	163	false
--| -569601749	1951	12	14	9	17	31	6	348	false
--| field 'year' is out-of-bound
--| field 'month' is out-of-bound
--| field 'day' is out-of-bound
--| field 'hour' is out-of-bound
--| field 'sec' is out-of-bound
--| field 'year' is out-of-bound
--| field 'month' is out-of-bound
--| field 'day' is out-of-bound
--| field 'hour' is out-of-bound
--| field 'sec' is out-of-bound
--| 1709208000	2024	2	29	12	0	0	5	60	false
--| false	bad argument #1 to 'os.time' (table expected, got number)
--| false	bad argument #1 to 'os.time' (table expected, got string)
--| integer	true	true	true
--| 2.0	-2.0	0.0	float	false	bad argument #2 to 'os.difftime' (number expected, got no value)
--| false	bad argument #1 to 'os.difftime' (number expected, got no value)
--| false	bad argument #1 to 'os.difftime' (number has no integer representation)
--| number	true	float

local function try(t)
  local ok, r = pcall(os.time, t); if not ok then return print(r) end
  print(r, t.year, t.month, t.day, t.hour, t.min, t.sec, t.wday, t.yday, t.isdst)
end
try({ year = 1970, month = 1, day = 1, hour = 0 }); try({ year = 1970, month = 1, day = 1 })
try({ year = 2000, month = 2, day = 30 }); try({ year = 2001, month = 2, day = 29, hour = 0 })
try({ year = 2020, month = 13, day = 1 }); try({ year = 2020, month = 0, day = 0 })
try({ year = 2020, month = -11, day = -30 }); try({ year = 2020, month = 1, day = 1, hour = -1 })
try({ year = 2020, month = 1, day = 1, hour = 25, min = 61, sec = 61 })
try({ year = 2020, month = 1, day = 400, hour = 0, min = -1 })
try({ year = 2020, month = 1, day = 1, sec = 1e6 // 1 | 0 })
try({ year = 1900, month = 1, day = 1, hour = 0 }); try({ year = 1, month = 1, day = 1 })
try({ year = -1, month = 1, day = 1 })
try({ year = 9999, month = 12, day = 31, hour = 23, min = 59, sec = 59 })
try({ year = 2020, month = 6, day = 1, isdst = true })
try({ year = 2020, month = 6, day = 1, isdst = false })
try({ year = 2020, month = 6, day = 1, isdst = "x" })
try({ year = "2020", month = "6", day = "1", hour = "3" })
try({ year = 2020.0, month = 6.0, day = 1.0 })
try({}); try({ year = 2020 }); try({ year = 2020, month = 1 }); try({ month = 1, day = 1 })
try({ year = 2020, month = 1.5, day = 1 }); try({ year = 2020, month = 1, day = "x" })
try({ year = 2020, month = {}, day = 1 }); try({ year = 2020, month = 1, day = 1, hour = 1.5 })
try({ year = 2020, month = 1, day = 1, min = "y" })
try({ year = 2020, month = 1, day = 1, sec = true })
for _, n in ipairs({ 2^31 | 0, -(2^31) | 0, 2147483647, -2147483648, 2147485547, 2147485548,
  -2147481749, math.maxinteger, math.mininteger }) do
  try({ year = n, month = 1, day = 1 }); try({ year = 2020, month = n, day = 1 })
  try({ year = 2020, month = 1, day = n }); try({ year = 2020, month = 1, day = 1, hour = n })
  try({ year = 2020, month = 1, day = 1, sec = n })
end
try(setmetatable({}, {
  __index = function(_, k) return ({ year = 2024, month = 2, day = 29 })[k] end,
  __newindex = function(t, k, v) rawset(t, k, v) end,
}))
print(pcall(os.time, 5)); print(pcall(os.time, "x"))
print(math.type(os.time()), os.time(nil) >= os.time() - 5,
  math.abs(os.time(os.date("*t")) - os.time()) <= 1, os.time(os.date("*t", 1e9)) == 1e9)
print(os.difftime(5, 3), os.difftime(3.0, 5), os.difftime(0, 0), math.type(os.difftime(2, 1)),
  pcall(os.difftime, 1))
print(pcall(os.difftime)); print(pcall(os.difftime, 1.5, 1))
print(type(os.clock()), os.clock() <= os.clock(), math.type(os.clock()))
