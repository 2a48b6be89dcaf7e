-- expect: ok
--| 1320	61
--| 2167440	2041
--| 1320	61
--| 2167440	2041
--| 97640
--| 110430
--| 100040
--| 20	-820
--| 15884400
-- Loops that call methods and operators of objects that change from one iteration to the next: a
-- method that the same cache entry finds is the same function, with the same upvalues, and methods
-- of other classes, made by the same code, are others.
local function class(k)
  local C, calls = {}, 0
  C.__index = C
  function C.new(v) return setmetatable({ v = v }, C) end
  function C:get() return self.v * k end
  function C:count() calls = calls + 1 return calls end
  C.__add = function(a, b) return C.new(a.v + b.v + k) end
  C.__lt = function(a, b) return a.v * k < b.v * k end
  C.__len = function(a) return a.v + k end
  return C
end
local A, B = class(1), class(100)
local function chain(o, d, n)
  local s = 0
  for _ = 1, n do
    o = o + d
    s = s + o:get() + #o
    if o < d then s = s + 1 end
  end
  return s, o.v
end
for _ = 1, 60 do chain(A.new(1), A.new(2), 30) end
print(chain(A.new(1), A.new(2), 20))
print(chain(B.new(1), B.new(2), 20))
print(chain(A.new(1), B.new(2), 20))
print(chain(B.new(1), A.new(2), 20))

local function over(list, n)
  local s = 0
  for i = 1, n do
    local o = list[i]
    s = s + o:get() + o:count()
  end
  return s
end
local ones, both = {}, {}
for i = 1, 40 do
  ones[i] = A.new(i)
  both[i] = (i > 20 and B or A).new(i)
end
for _ = 1, 60 do over(ones, 40) end
print(over(ones, 40))
print(over(both, 40))
print(over(ones, 40))

-- the class gets another function in the middle of a loop, and a finalizer replaces one
local function replaced(list, n, at, C)
  local s = 0
  for i = 1, n do
    s = s + list[i]:get()
    if i == at then C.get = function(self) return -self.v end end
  end
  return s
end
local D = class(3)
local list = {}
for i = 1, 40 do list[i] = D.new(i) end
for _ = 1, 60 do replaced(list, 40, 0, D) end
print(replaced(list, 40, 20, D), replaced(list, 40, 0, D))

-- classes that are made and dropped in turn, with loops that allocate
local function churn(rounds)
  local s = 0
  for r = 1, rounds do
    local C = class(r)
    local o, d = C.new(0), C.new(1)
    for _ = 1, 20 do o = o + d s = s + o:get() end
    if r % 10 == 0 then collectgarbage() end
  end
  return s
end
print(churn(60))
