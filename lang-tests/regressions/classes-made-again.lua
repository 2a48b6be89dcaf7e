-- expect: ok
--| 3208000
--| 9248355
--| 34459527
--| 76628939
--| 135756591
--| 211842483
--| 304886615
--| 414888987
--| 541849599
--| 685768451
--| 846645543
--| 1024480875
--| 1219274447
--| 1431026259
--| 1659736311
--| 1905404603
--| -3969
--| -3959
--| -3941
--| -3915
--| -3881
--| -3839
--| -3789
--| -3731
--| -3665
--| -3591
--| -3509
--| -3419
--| -3321
--| -3215
--| -3101
--| -2979
--| -2849
--| -2711
--| -2565
--| -2411
--| -2249
--| -2079
--| -1901
--| -1715
--| -1521
--| -1319
--| -1109
--| -891
--| -665
--| -431
--| 1	10
--| 2	20
--| 3	30
--| 4	40
--| 5	50
--| 6	60
--| 7	70
--| 8	80
--| 9	90
--| 10	160
--| 11	170
--| 12	180
--| 13	190
--| 14	200
--| 15	210
--| 16	220
--| 17	230
--| 18	240
--| 19	250
--| 20	380
--| 21	390
--| 22	400
--| 23	410
--| 24	420
--| 25	430
--| 26	440
--| 27	450
--| 28	460
--| 29	470
--| 30	660
--| 31	670
--| 32	680
--| 33	690
--| 34	700
--| 35	710
--| 36	720
--| 37	730
--| 38	740
--| 39	750
--| 40	1000
--| absent	8080
--| absent	8160
--| absent	8240
--| replaced	72
--| replaced	136
--| replaced	200
--| replaced	264
--| replaced	328
--| family	1116
--| family	2124
--| family	3132
--| family	4140
--| family	5148
--| halves	16482000
--| halves	821640	820820	821640
--| halves	823280	821640	823280
--| halves	824920	822460	824920
--| halves	826560	823280	826560
--| halves	828200	824100	828200
--| halves	829840	824920	829840
--| halves	831480	825740	831480
--| halves	833120	826560	833120
--| halves	834760	827380	834760
--| halves	836400	828200	836400
--| halves	838040	829020	838040
--| halves	839680	829840	839680
--| halves	841320	830660	841320
--| halves	842960	831480	842960
--| halves	844600	832300	844600
--| halves	846240	833120	846240
--| halves	847880	833940	847880
--| halves	849520	834760	849520
--| halves	851160	835580	851160
--| halves	852800	836400	852800
--| halves	854440	837220	854440
--| halves	856080	838040	856080
--| halves	857720	838860	857720
--| halves	859360	839680	859360
--| halves	861000	840500	861000
--| halves	862640	841320	862640
--| halves	864280	842140	864280
--| halves	865920	842960	865920
--| halves	867560	843780	867560
--| halves	869200	844600	869200
--| halves	870840	845420	870840
--| halves	872480	846240	872480
--| halves	874120	847060	874120
--| halves	875760	847880	875760
--| halves	877400	848700	877400
--| halves	879040	849520	879040
--| halves	880680	850340	880680
--| halves	882320	851160	882320
--| halves	883960	851980	883960
--| halves	885600	852800	885600
--| exchanged	71020000
--| exchanged	40060	80080	40060
--| exchanged	40160	80160	40160
--| exchanged	40300	80240	40300
--| exchanged	40480	80320	40480
--| exchanged	40700	80400	40700
--| exchanged	40960	80480	40960
--| exchanged	41260	80560	41260
--| exchanged	41600	80640	41600
--| exchanged	41980	80720	41980
--| exchanged	42400	80800	42400
--| exchanged	42860	80880	42860
--| exchanged	43360	80960	43360
--| exchanged	43900	81040	43900
--| exchanged	44480	81120	44480
--| exchanged	45100	81200	45100
--| exchanged	45760	81280	45760
--| exchanged	46460	81360	46460
--| exchanged	47200	81440	47200
--| exchanged	47980	81520	47980
--| exchanged	48800	81600	48800
--| exchanged	49660	81680	49660
--| exchanged	50560	81760	50560
--| exchanged	51500	81840	51500
--| exchanged	52480	81920	52480
--| exchanged	53500	82000	53500
--| exchanged	54560	82080	54560
--| exchanged	55660	82160	55660
--| exchanged	56800	82240	56800
--| exchanged	57980	82320	57980
--| exchanged	59200	82400	59200
--| exchanged	60460	82480	60460
--| exchanged	61760	82560	61760
--| exchanged	63100	82640	63100
--| exchanged	64480	82720	64480
--| exchanged	65900	82800	65900
--| exchanged	67360	82880	67360
--| exchanged	68860	82960	68860
--| exchanged	70400	83040	70400
--| exchanged	71980	83120	71980
--| exchanged	73600	83200	73600
-- Classes that the same code makes again and again: a cache entry of one is replaced by that of the
-- next, also while a loop runs. Their methods are different closures, with different upvalues.

local function make(k)
  local Base = {}
  Base.__index = Base
  Base.step = k
  function Base.new(v) return setmetatable({ v = v }, Base) end
  function Base:get() return self.v * k end
  function Base:add(n) self.v = self.v + n * k return self end
  return Base
end

-- one class at a time
local function run(class, n)
  local o, sum = class.new(1), 0
  for i = 1, n do sum = sum + o:get() + o.step + (o.absent or 0) end
  return sum
end
local total = 0
for k = 1, 400 do total = total + run(make(k), 20) end
print(total)

-- the class changes while the loop runs
local function change(objects, n)
  local sum, o = 0, objects[1]
  for i = 1, n do
    if i % 7 == 0 then o = objects[i // 7 % #objects + 1] end
    sum = sum + o:get() * i
    o:add(1)
    sum = sum + o:get() + o.step
  end
  return sum
end
for k = 1, 60, 4 do
  local objects = {}
  for i = 1, 5 do objects[i] = make(k + i).new(i) end
  print(change(objects, 200))
end

-- the same function, inlined twice, calls methods of different classes
local function twice(a, b, n)
  local function value(o) return o:get() end
  local sum = 0
  for i = 1, n do
    sum = sum + value(a) - value(b)
    if i % 5 == 0 then a, b = b, a end
    if i % 9 == 0 then a = make(i).new(i) end
  end
  return sum
end
for k = 1, 30 do print(twice(make(k).new(k), make(k + 1).new(2), 60)) end

-- some of the classes live on: their entries come back
local kept = {}
for k = 1, 40 do
  local class = make(k)
  if k % 10 == 0 then kept[#kept + 1] = class end
  local sum = run(class, 5)
  for _, other in ipairs(kept) do sum = sum + run(other, 3) end
  print(k, sum)
end

-- fields that are absent, and then are not
for k = 1, 60 do
  local class = make(k)
  local o, found = class.new(1), 0
  for i = 1, 12 do
    if i == 6 then class.absent = k end
    if i == 10 then class.absent = nil end
    found = found + (o.absent or 1000)
  end
  if k % 20 == 0 then print("absent", found) end
end

-- methods that are replaced while objects are used
for k = 1, 40 do
  local class = make(k)
  local o, sum = class.new(2), 0
  for i = 1, 12 do
    if i == 5 then function class:get() return self.v + k end end
    if i == 9 then
      class.get = nil
      setmetatable(class, { __index = { get = function() return -k end } })
    end
    sum = sum + o:get()
  end
  if k % 8 == 0 then print("replaced", sum) end
end

-- derived classes that inherit one method, and objects of one shape
local function family(k)
  local Base = make(k)
  local classes = {}
  for i = 1, 6 do
    local class = setmetatable({}, Base)
    class.__index = class
    if i % 2 == 0 then function class:get() return self.v + k * i end end
    classes[i] = class
  end
  return classes
end
for k = 1, 40 do
  local objects, sum = {}, 0
  for i, class in ipairs(family(k)) do objects[i] = setmetatable({ v = i }, class) end
  for _ = 1, 6 do
    for i = 1, #objects do sum = sum + objects[i]:get() + (objects[i].nothing or 1) end
  end
  if k % 8 == 0 then print("family", sum) collectgarbage() end
end

-- a loop that has met one class at a time meets another halfway
local function values(objects)
  local sum, first = 0, objects[1]
  for i = 1, #objects do
    local o = objects[i]
    sum = sum + o:get() * first.v
  end
  return sum
end
local function objects_of(...)
  local objects = {}
  for _, class in ipairs { ... } do
    for i = 1, 40 do objects[#objects + 1] = class.new(i) end
  end
  return objects
end
local function exchange(o, other, n)
  local sum = 0
  for i = 1, n do
    sum = sum + o:get()
    if i % 10 == 0 then o, other = other, o end
  end
  return sum
end
local sums = 0
for k = 1, 200 do sums = sums + values(objects_of(make(k))) end
print("halves", sums)
for k = 1, 40 do
  local a, b = make(k), make(1000 + k)
  print("halves", values(objects_of(a, b)), values(objects_of(b)), values(objects_of(b, a)))
end
for k = 1, 200 do
  local class = make(k)
  sums = sums + exchange(class.new(k), class.new(2), 40)
end
print("exchanged", sums)
for k = 1, 40 do
  local a, b = make(k).new(k), make(1000 + k).new(2)
  print("exchanged", exchange(a, b, 40), exchange(b, b, 40), exchange(b, a, 40))
end
