-- Methods and fields of tables of several shapes, whose calls are inlined for each (2.4, 3.4.10).
-- expect: ok
--| 38880	nil
--| 42085	late	c5
--| f: attempt to perform arithmetic on a nil value (field 'w')
--| 40680.0	nil
--| f: attempt to perform arithmetic on a table value (field 'r')|stack traceback:|f: in metamethod 'add'|f: in method 'area'|f: in function <f>
--| 25620.0	nil
--| 57940.0	nil
--| 90600	100
local function plain(m)
  m = m:gsub("[^%s<]*%.lua:%d+", "f"):gsub("\n%s*", "|")
  return (m:gsub("|%[C%]: in function 'xpcall'.*", ""))
end
local function class(base)
  local c = setmetatable({}, base and { __index = base })
  c.__index = c
  return c
end
local A = class()
function A:area(k) return self.w * k end
function A:name() return "a" end
local B = class(A)
function B:area(k) return self.r + k end
local C = class(A)
function C:area(k) if k > 250 then return self.late end return k end
function C:name() return "c" .. self.w end
local D = class(B)

local function objects()
  return {
    setmetatable({ w = 2 }, A),
    setmetatable({ r = 3, w = 1 }, B),
    setmetatable({ late = "late", w = 5 }, C),
  }
end
local function total(all, n)
  local sum = 0
  for i = 1, n do
    local o = all[i % #all + 1]
    local area = o:area(i)
    if type(area) == "string" then return sum, area, o:name() end
    sum = sum + area
  end
  return sum, o
end
local all = objects()
for i = 1, 40 do total(all, 100) end
print(total(all, 240))
-- one of the methods does what it has not done before
print(total(all, 300))
-- one of the receivers loses a field, another is of a class that was not met
all[1].w = nil
print(plain(select(2, pcall(total, all, 100))))
all[1].w = 2.5
all[#all + 1] = setmetatable({ r = 10 }, D)
for i = 1, 40 do total(all, 100) end
print(total(all, 240))
-- the error is in the method, and so is the traceback
all[2].r = {}
print(plain(select(2, xpcall(total, function(m) return debug.traceback(m, 1) end, all, 100))))
all[2].r = 3
-- a class changes its method
function B:area(k) return 1 end
print(total(all, 240))
-- so many classes that the call is megamorphic
for i = 1, 8 do
  local c = class(i % 2 == 0 and A or B)
  c["f" .. i] = i
  all[#all + 1] = setmetatable({ w = i, ["g" .. i] = i }, c)
end
for i = 1, 20 do total(all, 100) end
print(total(all, 240))

-- fields in the same slot of two shapes, and in others
local function point(i)
  if i % 3 == 0 then return { x = i, y = 1 } end
  if i % 3 == 1 then return { x = i, y = 2, z = 3 } end
  return { z = 1, x = i }
end
local function fields(n)
  local sum, missing = 0, 0
  for i = 1, n do
    local p = point(i)
    sum = sum + p.x
    p.x = p.x + 1
    sum = sum + p.x
    if not p.y then missing = missing + 1 end
  end
  return sum, missing
end
for i = 1, 40 do fields(60) end
print(fields(300))
