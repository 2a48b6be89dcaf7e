-- A function that is called in a tail call replaces its caller, inlined or not (3.4.10).
-- expect: ok
--| 400040000
--| f: attempt to perform arithmetic on a table value (local 'a')
--| f: attempt to perform arithmetic on a table value (local 'a')|stack traceback:|f: in metamethod 'add'|f: in function <f>|(...tail calls...)|f: in function <f>
--| 225
--| f: attempt to perform arithmetic on a nil value (field 'n')
--| 212.5
local function plain(m)
  m = m:gsub("[^%s<]*%.lua:%d+", "f"):gsub("\n%s*", "|")
  return (m:gsub("|%[C%]: in function 'xpcall'.*", ""))
end
local function leaf(a) return a + 1 end
local function mid(a) return leaf(a * 2) end
local function run(n) local s = 0 for i = 1, n do s = s + mid(i) end return s end
print(run(20000))
local function bad(a) return leaf(a) end
local function outer(a) local r = bad(a) return r end
for i = 1, 20000 do outer(i) end
print(plain(select(2, pcall(outer, {}))))
print(plain(select(2, xpcall(outer, function(m) return debug.traceback(m, 1) end, {}))))
-- methods
local C = {} C.__index = C
function C:inner(x) return self.n + x end
function C:get(x) return self:inner(x) end
local D = setmetatable({}, {__index = C}) D.__index = D
function D:inner(x) return self.n * x end
local function sum(os) local s = 0 for i = 1, #os do s = s + os[i]:get(i) end return s end
local os = {}
for i = 1, 10 do os[i] = setmetatable({n = i}, i % 2 == 0 and C or D) end
for i = 1, 3000 do sum(os) end
print(sum(os))
os[5].n = nil
print(plain(select(2, pcall(sum, os))))
os[5].n = 2.5
print(sum(os))
