-- expect: ok
--| 1	1	1999000	2000	2000	1	16000
--| 1	7	1987021	1994	2000	7	111832
--| 1	8	1985028	1993	2000	8	127776
--| 1	31	1939465	1970	2000	31	492280
--| 1	32	1937496	1969	2000	32	508032
--| 1	33	1935528	1968	2000	33	523776
--| 1	500	1125750	1501	2000	500	7002000
--| 2	1	1999000	2000	2000	1	16007
--| 2	7	1987021	1994	2000	7	111881
--| 2	8	1985028	1993	2000	8	127832
--| 2	31	1939465	1970	2000	31	492497
--| 2	32	1937496	1969	2000	32	508256
--| 2	33	1935528	1968	2000	33	524007
--| 2	500	1125750	1501	2000	500	7005500
--| 100	1	1999000	2000	2000	1	16693
--| 100	7	1987021	1994	2000	7	116683
--| 100	8	1985028	1993	2000	8	133320
--| 100	31	1939465	1970	2000	31	513763
--| 100	32	1937496	1969	2000	32	530208
--| 100	33	1935528	1968	2000	33	546645
--| 100	500	1125750	1501	2000	500	7348500
--| -50	1	1999000	2000	2000	1	15643
--| -50	7	1987021	1994	2000	7	109333
--| -50	8	1985028	1993	2000	8	124920
--| -50	31	1939465	1970	2000	31	481213
--| -50	32	1937496	1969	2000	32	496608
--| -50	33	1935528	1968	2000	33	511995
--| -50	500	1125750	1501	2000	500	6823500
--| 9007199254740992	1	1999000	2000	2000	1	63050394783202937
--| 9007199254740992	7	1987021	1994	2000	7	441352763482420391
--| 9007199254740992	8	1985028	1993	2000	8	504403158265623272
--| 9007199254740992	31	1939465	1970	2000	31	1954562238279287327
--| 9007199254740992	32	1937496	1969	2000	32	2017612633062490016
--| 9007199254740992	33	1935528	1968	2000	33	2080663027845692697
--| 9007199254740992	500	1125750	1501	2000	500	-5368290755818632732
--| -9223372036854775808	1	1999000	2000	2000	1	-9223372036854759815
--| -9223372036854775808	7	1987021	1994	2000	7	-9223372036854664025
--| -9223372036854775808	8	1985028	1993	2000	8	127720
--| -9223372036854775808	31	1939465	1970	2000	31	-9223372036854283745
--| -9223372036854775808	32	1937496	1969	2000	32	507808
--| -9223372036854775808	33	1935528	1968	2000	33	-9223372036854252263
--| -9223372036854775808	500	1125750	1501	2000	500	6998500
--| stays	3901	4000	nil	nil
--| 3002	3062	job3002	job3062
--| 50	-1000 -2000 -3000 1800.5 2700.5 2961 2962 2963
--| 106050	nil
--| 25	205000
--| nil	2	200
--| 200	100	200
--| nil	221	230	nil	10	18040
--| 4663757	-1287	6	1294	-2718059
--| 40	nil	1	293601320
--| 950	1550
--| 2	1000	2001	2000	2000
--| 3	1333	2001	2000	2000
--| 10	1800	2000	2000	2000
--| 100	1980	2000	2000	2000
--| 123	nil	101	nil	151	249	nil
--| nil	0
--| 123	nil	s101	nil	s151	s249	nil
--| nil	0
--| 123	nil	s101	nil	s151	s249	nil
--| nil	0
-- Queues, windows and double-ended queues: integer keys that move up or down.
local function count(t)
  local n, sum = 0, 0
  for k, v in pairs(t) do
    n = n + 1
    sum = sum + k * 7 + (type(v) == "number" and v or #v)
  end
  return n, sum
end

-- A queue of any length, and what is left in it.
local function queue(from, length, rounds)
  local q, head, tail = {}, from, from - 1
  local sum = 0
  for i = 1, rounds do
    tail = tail + 1
    q[tail] = i
    if tail - head >= length then
      sum = sum + q[head]
      q[head] = nil
      head = head + 1
    end
    if q[head - 1] ~= nil or q[tail + 1] ~= nil then error "too many" end
  end
  return sum, q[head], q[tail], count(q)
end
for _, from in ipairs { 1, 2, 100, -50, 2 ^ 53 // 1 | 0, math.mininteger } do
  for _, length in ipairs { 1, 7, 8, 31, 32, 33, 500 } do
    print(from, length, queue(from, length, 2000))
  end
end

-- Values that the collector has to reach, and one that stays behind.
local w, first = { [3] = "stays" }, 10
for i = 10, 4000 do
  w[i] = { i }
  if i - first >= 100 then
    w[first] = nil
    first = first + 1
  end
  if i % 500 == 0 then collectgarbage() end
end
collectgarbage()
print(w[3], w[first][1], w[4000][1], w[first - 1], w[4001])

-- Values that are new in each phase of the collector.
local jobs, head, tail, done = {}, 1, 0, 0
while done < 3000 do
  for k = 1, head % 3 + 1 do
    tail = tail + 1
    jobs[tail] = { id = tail, text = "job" .. tail }
  end
  while tail - head > 60 do
    local job = jobs[head]
    if job.id ~= head or job.text ~= "job" .. head then error "another job" end
    jobs[head] = nil
    head = head + 1
    done = done + 1
  end
end
print(head, tail, jobs[head].text, jobs[tail].text)

-- Other keys, in between.
local mixed, low = {}, 1
for i = 1, 3000 do
  mixed[i] = i
  if i > 40 then
    mixed[low] = nil
    low = low + 1
  end
  if i % 700 == 0 then mixed["at" .. i] = i end
  if i % 900 == 0 then mixed[i + 0.5] = i end
  if i % 1000 == 0 then mixed[-i] = i end
end
local keys = {}
for k in pairs(mixed) do keys[#keys + 1] = tostring(k) end
table.sort(keys)
print(#keys, table.concat(keys, " ", 1, 8))

-- Clearing in a traversal, and again.
local cleared = {}
for i = 1000, 1100 do cleared[i] = i end
local n = 0
for k, v in pairs(cleared) do
  n = n + v
  cleared[k] = nil
end
print(n, next(cleared))
for i = 1050, 1000, -1 do cleared[i] = i end
for k in next, cleared do
  if k % 2 == 0 then cleared[k] = nil end
end
print(count(cleared))

-- A queue that becomes an array, and an array that becomes a queue.
local t = {}
for i = 200, 2, -1 do t[i] = i end
print(t[1], t[2], t[200])
t[1] = 1
print(#t, t[100], select("#", table.unpack(t)))
for i = 1, 190 do t[i] = nil end
for i = 201, 230 do
  t[i] = i
  t[i - 10] = nil
end
print(t[220], t[221], t[230], t[231], count(t))

-- Both ends, below zero.
local d, a, z, seed = {}, 0, -1, 42
local total = 0
for i = 1, 5000 do
  seed = seed * 16807 % 2147483647
  local choice = seed % 8
  if choice < 3 or z < a then
    a = a - 1
    d[a] = i
  elseif choice < 5 then
    z = z + 1
    d[z] = i
  elseif choice < 6 then
    total = total + d[a]
    d[a] = nil
    a = a + 1
  else
    total = total + d[z]
    d[z] = nil
    z = z - 1
  end
end
print(total, a, z, count(d))

-- Keys at distances of powers of two, which would all have one place.
local far = {}
for i = 1, 40 do far[i << 20] = i end
for i = 1, 39 do far[i << 20] = nil end
print(far[40 << 20], far[39 << 20], count(far))

-- A metamethod is asked for keys that have gone.
local asked = 0
local proxy = setmetatable({}, {
  __index = function(_, k)
    asked = asked + 1
    return -k
  end,
  __newindex = function(s, k, v)
    asked = asked + 1
    rawset(s, k, v)
  end,
})
local sum = 0
for i = 100, 900 do
  proxy[i] = i
  if i > 150 then
    sum = sum + proxy[i - 50] + proxy[i - 51]
    proxy[i - 50] = nil
  end
end
print(sum, asked)

-- Elements that are set ahead of an array, and an array that grows up to them.
for _, step in ipairs { 2, 3, 10, 100 } do
  local list = {}
  for i = 1, 2000, step do list[i] = 1 end
  local holes = 0
  for i = 1, 2000 do
    if not list[i] then
      list[i] = i % 3
      holes = holes + 1
    end
  end
  local all = 0
  for i = 1, 2000 do all = all + list[i] end
  print(step, holes, all, #list, (count(list)))
end

-- Elements that become nil from the front, in the middle and from the back.
for round = 1, 3 do
  local s = {}
  for i = 1, 300 do s[i] = round == 1 and i or round == 2 and i % 2 == 0 or "s" .. i end
  for i = 1, 100 do s[i] = nil end
  for i = 150, 200, 2 do s[i] = nil end
  for i = 300, 250, -1 do s[i] = nil end
  local left = 0
  for _ in pairs(s) do left = left + 1 end
  print(left, s[100], s[101], s[150], s[151], s[249], s[250])
  for i = 1, 300 do s[i] = nil end
  print(next(s), #s)
end
