-- expect: ok
-- skip(puc): there debug.setlocal changes the values of functions of the library, which may crash
-- debug.setlocal leaves the values of library functions alone: they rely on what they have checked.
local function others()
  return debug.setlocal(3, 1, print), (select(2, debug.getlocal(3, 1)))
end
local name, value
local function changing(...)
  name, value = others()
  return ...
end
assert(("abc"):gsub("b", changing) == "abc")
assert(name == "(C temporary)" and value == "abc")
local t = { 3, 1, 2 }
table.sort(t, function(a, b)
  name, value = others()
  return a < b
end)
assert(table.concat(t) == "123" and name == "(C temporary)" and value == t)

debug.sethook(function()
  debug.setlocal(2, 1, coroutine.running())
  debug.setlocal(2, 2, 5)
end, "c")
local length = #string.rep("x", 3)
debug.sethook()
assert(length == 3)
local co = coroutine.create(coroutine.yield)
coroutine.resume(co, 1)
debug.setlocal(co, 0, 1, "changed")
assert(coroutine.close(co))
