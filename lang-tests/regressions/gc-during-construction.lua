-- Objects under construction survive a collection that their own allocation starts.
-- expect: ok
--| 2	3	n1	1x	2x
--| 102	a1bb
--| xxx	1x
--| 2x-arg1
--| c21x	1
--| o2ne,two2,three
--| err1	1xfield
--| o2ne,three,two2

local function alloc(n)
  local t = {}; for i = 1, n do t[i] = { i, tostring(i) .. "x" } end return t
end
local t = { alloc(3), { alloc(2), name = "n" .. 1 }, f = function() return alloc end,
  [("k"):rep(3)] = alloc(1) }
print(#t, #t[1], t[2].name, t.kkk[1][2], t.f()(2)[2][2])
local s = ("a"):rep(50) .. tostring(1) .. ("b"):rep(50) .. #alloc(2)
print(#s, s:sub(50, 53))
local function vararg(...) local a = alloc(2); return ..., a[1][2] end
print(vararg(("x"):rep(3), {} ~= nil))
local co = coroutine.wrap(function(a)
  local b = alloc(2); local c = coroutine.yield(b[2][2] .. a); return c .. b[1][2], alloc(1)[1][1]
end)
print(co("-arg" .. 1)); print(co("c" .. 2))
local parts = {}
for w in ("one two three"):gmatch("%a+") do
  parts[#parts + 1] = w:gsub("o", function(c) return c .. #alloc(2) end)
end
print(table.concat(parts, ","))
print(select(2, pcall(error, { message = "err" .. 1 })).message,
  (setmetatable({}, { __index = function(t, k) return alloc(1)[1][2] .. k end })).field)
table.sort(parts, function(a, b) return #alloc(1) == 1 and a .. "" < b .. "" end)
print(table.concat(parts, ","))
