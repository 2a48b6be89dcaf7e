-- expect: ok
-- skip(puc): there debug.setlocal changes the values of functions of the library, which may crash
-- debug.setlocal finds no variables of library functions, which rely on what they have checked.
local function others()
  return debug.setlocal(3, 1, print), debug.setlocal(3, 2, 0), (debug.getlocal(3, 1))
end
local name
local function changing(...)
  name = { others() }
  return ...
end
assert(("abc"):gsub("b", changing) == "abc")
assert(name[1] == nil and name[2] == nil and name[3] == "(C temporary)")
local t = { 3, 1, 2 }
table.sort(t, function(a, b) name = { others() } return a < b end)
assert(table.concat(t) == "123" and name[1] == nil and name[3] == "(C temporary)")

local changed
debug.sethook(function()
  changed = debug.setlocal(2, 1, coroutine.running()) or debug.setlocal(2, 2, 5)
end, "c")
local length = #string.rep("x", 3)
debug.sethook()
assert(length == 3 and changed == nil)
local co = coroutine.create(coroutine.yield)
coroutine.resume(co, 1)
assert(debug.setlocal(co, 0, 1, "changed") == nil and coroutine.close(co))
