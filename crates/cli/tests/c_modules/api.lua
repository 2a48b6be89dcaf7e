-- Checks the functions of api.c.
local api = require "api"
local unpack, yield = table.unpack, coroutine.yield

local function same(what, ...)
  local got, want = table.pack(...), what
  for i = 1, math.max(got.n, #want) do
    if got[i] ~= want[i] then
      error(("value %d is %s, not %s"):format(i, tostring(got[i]), tostring(want[i])), 2)
    end
  end
end

-- an error without its position
local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok)
  return (message:gsub("^[^ ]*:%d+: ", ""))
end

-- continuations
same({ "callk:0:42", 1, 2 }, api.callk(function(...) return ... end, 1, 2))
local function next_of(a) return yield(a + 1) end
local co = coroutine.wrap(function(...) return api.callk(next_of, ...) end)
same({ 11 }, co(10))
same({ "callk:1:42", "x", "y" }, co("x", "y"))
co = coroutine.wrap(function(f) return api.only_by_continuation(f) end)
same({ "E", 25 }, co(function() error("E", 0) end))
co = coroutine.wrap(function(f) return api.only_by_continuation(f) end)
same({ 0 }, co(function() end))
same({ 0, "r", 7 }, api.pcallk(nil, function() return "r" end))
same({ 2, "E", 7 }, api.pcallk(nil, error, "E", 0))
same({ 2, "h:E", 7 }, api.pcallk(function(e) return "h:" .. e end, error, "E", 0))
local function handler(e) return "h:" .. e end
same({ 2, "h:attempt to call a nil value", 7 }, api.pcallk(handler, nil))
same({ 2, "h:attempt to call a table value", 7 }, api.pcallk(handler, setmetatable({}, {})))
same({ 5, "error in error handling", 7 }, api.pcallk(function(e) error(e, 0) end, error, "E"))
same({ 5, "error in error handling", 7 }, api.pcallk({}, error, "E"))
-- the handler also receives the errors of closing variables
local function unclosable()
  local meta = { __close = print }
  local x <close> = setmetatable({}, meta)
  meta.__close = 5
  error("A", 0)
end
same({ 2, "h:attempt to call a number value", 7 }, api.pcallk(handler, unclosable))
same({ 2, "attempt to call a number value", 7 }, api.pcallk(nil, unclosable))
local function failing_close()
  local x <close> = setmetatable({}, { __close = function(_, e) error("B" .. e, 0) end })
  error("A", 0)
end
same({ 2, "h:Bh:A", 7 }, api.pcallk(handler, failing_close))
-- and closing variables may yield after an error
local function yielding_close(fails)
  local x <close> = setmetatable({}, { __close = function(_, e)
    if yield("closing " .. e) == "fail" then error("B" .. e, 0) end
  end })
  error("A", 0)
end
for _, h in ipairs { false, handler } do
  local prefix = h and "h:" or ""
  for answer, message in pairs { fail = prefix .. "B" .. prefix .. "A", go = prefix .. "A" } do
    co = coroutine.wrap(function() return "first", api.pcallk(h or nil, yielding_close) end)
    same({ "closing " .. prefix .. "A" }, co())
    same({ "first", 2, message, 7 }, co(answer))
  end
end
co = coroutine.wrap(function(h, f) return api.pcallk(h, f) end)
same({ "first" }, co(nil, function() yield "first" return yield "second" end))
same({ "second" }, co())
same({ 1, "end", 7 }, co "end")
co = coroutine.wrap(function(h, f) return "prefix", api.pcallk(h, f) end)
local function late() yield "first" error("late", 0) end
same({ "first" }, co(function(e) return "handled " .. e end, late))
same({ "prefix", 2, "handled late", 7 }, co())
-- the status is that of the error, whatever errors closing variables have caught since
co = coroutine.wrap(function()
  return "first", api.pcallk(error, function()
    local x <close> = setmetatable({}, { __close = function() pcall(error, yield(1)) end })
    error("A", 0)
  end)
end)
same({ 1 }, co())
same({ "first", 5, "error in error handling", 7 }, co())
local function catching_close(f)
  local x <close> = setmetatable({}, { __close = function() xpcall(error, error, "B") end })
  f()
  error("A", 0)
end
same({ 2, "A", 7 }, api.pcallk(nil, catching_close, function() end))
co = coroutine.wrap(function(...) return api.pcallk(nil, catching_close, ...) end)
same({ 2, "A", 7 }, co(function() end))
co = coroutine.wrap(function(...) return api.pcallk(nil, catching_close, ...) end)
co(yield)
same({ 2, "A", 7 }, co())
-- an error of the call itself is handled, too
co = coroutine.wrap(function() return api.pcallk(handler, nil) end)
same({ 2, "h:attempt to call a nil value", 7 }, co())
-- nested continuations, and errors that pass them
co = coroutine.wrap(function()
  return api.pcallk(nil, api.callk, api.pcallk, nil, api.callk, function()
    yield(1)
    error({ code = 5 })
  end)
end)
same({ 1 }, co())
local r = { co() }
same({ 1, "callk:1:42", 2 }, r[1], r[2], r[3])
same({ 5 }, r[4].code)
-- yields where they are not allowed
local plain = coroutine.wrap(function() return api.pcall(yield) end)
same({ 2, "attempt to yield across a C-call boundary" }, plain())
same({ 2, "attempt to yield from outside a coroutine" }, api.pcall(yield))
same({ false }, api.is_yieldable())
same({ true }, coroutine.wrap(api.is_yieldable)())
-- yields of C functions
co = coroutine.wrap(api.counter(3))
same({ 1, "a" }, co "a")
same({ 2, "b" }, co "b")
same({ 3, "c" }, co "c")
same({ "d", "e" }, co("d", "e"))
co = coroutine.wrap(function(...) return "got", api.yield(...) end)
same({ 1, 2 }, co(1, 2))
same({ "got", 3, 4 }, co(3, 4))
for _ = 1, 300 do -- also as machine code
  local total = 0
  local each = coroutine.wrap(function() for i = 1, 5 do api.yield(i, i) end end)
  for _, n in each do total = total + n end
  same({ 15 }, total)
end

-- coroutines that C resumes
local function three(a) local b = yield(a, "one") local c = yield(b) return c, "done" end
same({ "[1 2 1 A one][1 1 1 4][0 2 0 3 done]" }, api.resume(4, coroutine.create(three), "A"))
same({ "[2 1 2 oops]" }, api.resume(1, coroutine.create(function() error("oops", 0) end)))
local t = api.spawn(three)
same({ "suspended" }, coroutine.status(t))
same({ "[1 2 1 ? one]" }, api.resume(1, t))
same({ "[1 1 1 x]" }, api.resume(1, t, "x"))
same({ "[0 3 0 below y done]" }, api.resume(1, t, "y"))
t = api.spawn(three)
same({ true, 5, "one" }, coroutine.resume(t, 5))
same({ true, 6 }, coroutine.resume(t, 6))
same({ true, "below", 7, "done" }, coroutine.resume(t, 7))
same({}, api.stack_of(t))
t = api.spawn(function() error "x" end)
same({ false }, (coroutine.resume(t)))
same({ "dead" }, coroutine.status(t))
t = api.spawn(three)
coroutine.resume(t)
same({ 0, 0 }, api.reset(t))
same({ false, "cannot resume dead coroutine" }, coroutine.resume(t))
t = coroutine.create(function()
  local x <close> = setmetatable({}, { __close = function() error("in close", 0) end })
  yield()
end)
coroutine.resume(t)
same({ 2, 1 }, api.reset(t))
same({ "in close" }, api.stack_of(t))
-- calls on a coroutine that does not run, and on one that waits
same({ 0, "r" }, api.call_on(coroutine.create(print), function() return "r" end))
same({ 2, "E" }, api.call_on(coroutine.create(print), function() error("E", 0) end))
local outer = coroutine.running()
same({ 0, "inner" }, coroutine.wrap(function()
  return api.call_on(outer, function()
    collectgarbage()
    return coroutine.running() == outer and "inner" or "another"
  end)
end)())
local inner = coroutine.wrap(function() return api.call_on(outer, yield) end)
same({ 2, "attempt to yield from outside a coroutine" }, inner())

-- errors
local value = {}
same({ 2, value }, api.pcall(api.error_value, value))
same({ 2, nil }, api.pcall(api.error_value))
local message = select(2, pcall(api.error_text))
same({ "text -5 1.5 c % (nil) 1099511627776" }, (message:gsub("0x0+$", "(nil)"):gsub("^.-: ", "")))
same({ "1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6 6.5 7 7.5 8 8.5 nine 9.5 10.5 €" }, api.formats())
same({ 2, "bottom" }, api.pcall(api.deep, 50, function() error("bottom", 0) end))
same({ 0, "ok" }, api.pcall(api.deep, 150, function() return "ok" end))
local status, overflow = api.pcall(api.deep, 1000, print)
same({ 2, true }, status, overflow:find "C stack overflow" ~= nil)
local finalized = 0
do
  local function gc()
    finalized = finalized + 1
    api.error_value "in a finalizer"
  end
  setmetatable({}, { __gc = gc })
end
collectgarbage()
same({ 1 }, finalized)
same({ "api.sum" }, (select(2, pcall(api.sum, 1)):match "'(.-)'"))

-- values
local f = api.with_255_upvalues()
same({ 32640, true }, f())
same({ 65025, true }, f())
same({ true }, api.light())
same({ true, 3 }, (function(a, b) return a, b - 1 end)(api.many(5000)))
same({ 7, 3, 2 }, api.arith(0, 3, 4), api.arith(3, 7, 4), api.arith(6, 5, 2))
same({ 2.5, -4, 8 }, api.arith(5, 5, 2), api.arith(12, 4), api.arith(10, 1, 3))
same({ 10 }, api.arith(2, "5", 2))
local function joined(v) return type(v) == "table" and "T" or v end
local mt = {
  __add = function() return "added" end,
  __len = function() return "long" end,
  __lt = function() return true end,
  __le = function() return false end,
  __eq = function() return true end,
  __concat = function(a, b) return joined(a) .. joined(b) end,
}
local a, b = setmetatable({}, mt), setmetatable({}, mt)
same({ "added", "long", true, false, true }, api.arith(0, a, 1), api.length(a), api.less(a, b))
same({ "1T2.5x", "", 5 }, api.concat(1, a, 2.5, "x"), api.concat(), api.concat(5))
-- nothing is added, so that the text stays where C code may hold it
local text = ("t"):rep(100)
for _, operands in ipairs { { text, "" }, { "", text }, { "", text, "" }, { "", "", text } } do
  same({ api.text_address(text) }, api.text_address(api.concat(unpack(operands))))
end
same({ "5", text .. "5" }, api.concat("", 5, ""), api.concat(text, "", 5))
same({ false, "attempt to perform arithmetic on a table value" }, pcall(api.arith, 0, {}, 1))
same({ false, "attempt to concatenate a nil value" }, pcall(api.concat, 1, nil, 2))
same({ false, "attempt to compare number with nil" }, pcall(api.less, 1, nil))
same({ false, "attempt to divide by zero" }, pcall(api.arith, 6, 1, 0))
same({ 5, "first", false, true }, api.unbox(api.box(5)))
local expected = "bad argument #1 to 'unbox' (api.box expected, got %s)"
same({ expected:format "table" }, failure(function() api.unbox {} end))
same({ expected:format "FILE*" }, failure(function() api.unbox(io.stdout) end))
same({ true, "c" }, api.references())
same({ 1.75, 9 }, api.numbers(1.5))
same({ 4.0, 3 }, api.numbers("1.5", 2.5, "3"))
same({ "bad argument #1 to 'numbers' (number expected, got no value)" }, failure(function()
  api.numbers()
end))
same({ "a--b--c" }, api.replace("a.b.c", ".", "--"))

-- errors in finalizers are warnings, and memory that is not there is an error
warn "@off"
for _ = 1, 10 do api.with_failing_gc() end
collectgarbage()
same({ false, "not enough memory" }, pcall(api.allocate, 1 << 46))
same({ "userdata" }, type(api.allocate(0)))

-- chunks
same({ 0, 3 }, (function(s, chunk) return s, chunk() end)(api.load "return 1 + 2"))
same({ 3, "pieces:1: unexpected symbol near <eof>" }, api.load "return 1 +")
same({ 3, "pieces:1: unexpected symbol near '1'" }, api.load "1 !")
same({ 3, "endless:1: unexpected symbol near '1'" }, api.load_endless())
same({ 0 }, api.set_no_local())
local s, e = api.load "return !"
same({ 2, true }, s, e:find "the reader fails" ~= nil)
s, e = select(2, xpcall(api.load, function(m) return "h:" .. m end, "return !"))
same({ 2, "h:the reader fails" }, s, e)
same({ 9 }, load(api.dump(function() return 9 end), "dumped", "b")())
same({ false }, (pcall(api.dump, print)))

-- variables to be closed
local log = {}
local function closable(name)
  return setmetatable({}, { __close = function(_, e) log[#log + 1] = name .. tostring(e) end })
end
same({ "result" }, api.toclose(closable "a", function() return "result" end))
same({ false, "E" }, pcall(api.toclose, closable "b", function() error("E", 0) end))
same({ "popped" }, api.closed_by_pop(closable "c"))
same({ "anil bE cnil" }, table.concat(log, " "))
-- an interrupt that arrives before a variable is closed
log = {}
local operand = setmetatable({}, { __add = api.interrupt })
same({ false }, (pcall(api.toclose, closable "d", function() local sum = operand + 1 end)))
same({ 1, true }, #log, log[1]:find "^d.*interrupted!$" ~= nil)

local function yields(name, fails)
  return setmetatable({}, { __close = function(_, e)
    yield(name .. tostring(e))
    if fails then error(name, 0) end
  end })
end
co = coroutine.wrap(function() return api.toclose(yields "a", function() return "result" end) end)
same({ "anil" }, co())
same({ "result" }, co())
co = coroutine.wrap(function() return pcall(api.toclose, yields("b", true), function() end) end)
same({ "bnil" }, co())
same({ false, "b" }, co())
co = coroutine.create(function() api.toclose(yields "c", function() end) end)
same({ true, "cnil" }, coroutine.resume(co))
same({ true, "dead" }, coroutine.close(co), coroutine.status(co))

log = {}
co = coroutine.wrap(function() return api.yield_to_close(closable "d") end)
same({}, co())
same({ 1, 2, nil }, co(1, 2))
same({ "dnil" }, table.concat(log))
same({ "variable '(C temporary)' got a non-closable value" }, failure(api.toclose, {}, print))

-- functions of the library as C functions
same({ math.max, 7 }, api.as_c_function(math.max, 3, 7, 5))
same({ string.upper, "X" }, api.as_c_function(string.upper, "x"))
same({ api.sum, 7 }, api.as_c_function(api.sum, 3, 4))
same({ select, "b", "c" }, api.as_c_function(select, 2, "a", "b", "c"))
same({}, api.as_c_function(function() end))
same({ "bad argument #1 to '?' (number expected, got string)" },
  (failure(api.as_c_function, math.sqrt, "x"):gsub("to '[^']*'", "to '?'")))

same({ "memory allocation error: block too big" }, failure(api.allocate, math.maxinteger))
assert(not pcall(api.too_long, nil))
assert(not pcall(api.too_long, true))
-- errors of tables have no position
for _, set in ipairs { api.settable, api.rawset } do
  same({ false, "table index is nil" }, pcall(function() set({}, nil, 1) end))
  same({ false, "table index is NaN" }, pcall(function() set({}, 0 / 0, 1) end))
end

-- hooks and levels
same({ true, true, 3 }, (function(c, r, n) return c, r, n >= 3 and 3 end)(api.hooked(function()
  local x = 1
  x = x + 1
  return x
end)))
do -- a hook of Lua that C code removes and sets again, or calls
  local called
  local function on_call(event) called[#called + 1] = { event, debug.getinfo(2, "f").func } end
  local function probe() end
  local function count()
    called = {}
    probe()
    local calls, n = called, 0
    called = {} -- the iterator is called as well
    for _, c in ipairs(calls) do
      if c[1] == "call" and c[2] == probe then n = n + 1 end
    end
    return n
  end
  called = {}
  debug.sethook(on_call, "c")
  same({ true, 1, 0 }, api.without_hook(probe))
  same({ on_call, "c", 0 }, debug.gethook())
  same({ 1 }, count())
  api.chain_hook()
  same({ "external hook", "c", 0 }, debug.gethook())
  same({ 1 }, count())
  debug.sethook()
end
local at
local function yielding()
  at = debug.getinfo(1, "l").currentline + 2
  api.yield_in_hook()
  local x = 1
end
local _, yielded = api.pcall(yielding)
same({ "api.lua:" .. at .. ": attempt to yield from outside a coroutine" },
  yielded:match "api.lua.*")

-- a new coroutine has a copy of the main one's space
local main = coroutine.running()
api.extra(main, 5)
local earlier = coroutine.create(print)
api.extra(main, 6)
same({ 5, 6 }, api.extra(earlier), api.extra(coroutine.create(print)))
api.extra(earlier, 7)
same({ 6, 7, 6 }, api.extra(main), api.extra(earlier), api.extra(coroutine.create(print)))
local function busy() while true do end end
api.stop(1000)
local ok, err = pcall(busy)
same({ false, "stopped by a hook" }, ok, err)
ok, err = pcall(function()
  api.fail_on_return()
end)
local at_return = "^(%S+:%d+: )stack traceback:\n\t%[C%]: in function 'api.fail_on_return'\n\t"
local place = err:match(at_return)
same({ false, true }, ok, place ~= nil and err:find(place .. "in function", 1, true) ~= nil)
same({ "C ?  -1 [C]" }, (api.info(2)))
same({}, api.info(3))
same({ 1, "first" }, api.parameter(function(first) end))
local function here(parameter) return api.info(1) end
same({ "C info field -1 [C]" }, (api.info(0)))
local text, name = (function(parameter) local r, n = api.info(1) return r, n end)(1)
same({ true, "parameter" }, text:find "^Lua" ~= nil, name)
same({}, api.info(100))
t = coroutine.create(function() yield() end)
coroutine.resume(t)
local first = "^message\nstack traceback:\n\t%[C%]: in function 'coroutine.yield'"
same({ true }, api.traceback(t):find(first) ~= nil)
same({ "message\nstack traceback:" }, api.traceback((coroutine.running()), -1))

-- coroutines that end, and call another function
co = coroutine.create(function() yield() end)
coroutine.resume(co)
same({ 0, 0 }, api.reset(co))
same({ "dead" }, coroutine.status(co))
api.push(co, function(...) return "again", ... end)
same({ "suspended" }, coroutine.status(co))
same({ true, "again", 5 }, coroutine.resume(co, 5))
same({ "dead", false }, coroutine.status(co), (coroutine.resume(co)))
api.push(co, function() yield(7) return 8 end)
same({ "suspended" }, coroutine.status(co))
same({ true, 7 }, coroutine.resume(co))
same({ true, 8 }, coroutine.resume(co))

-- another state
local code = "local t = {} for i = 1, 2 do t[i] = i end return table.concat(t, ' ')"
same({ "1 2" }, api.another_state(code))
same({ "[string \"error 'x'\"]:1: x" }, api.another_state "error 'x'")

same({ "nil nil 3" }, api.hidden_libraries())

-- modules that are not there
same({ "a module inside of another library" }, (require "api.inner"))
ok, err = pcall(require, "api.none")
same({ false, true }, ok, err:find "no module 'api.none' in file" ~= nil)
ok, err = pcall(require, "api.old")
same({ false, true }, ok, err:find "app. needs 503.0, Lua core provides 504.0" ~= nil)
local file = package.searchpath("api", package.cpath)
same({ nil, "init" }, (function(f, _, w) return f, w end)(package.loadlib(file, "no_such")))
same({ nil, "open" }, (function(f, m, w) return f, w end)(package.loadlib("/no/such/file.so", "*")))
same({ true }, package.loadlib(file, "*"))
same({ "function" }, type(package.loadlib(file, "luaopen_api")))

-- names stay as long as their functions
local first = 1
local function named() return first end
same({ "first", "first" }, api.upvalue_name(named, true))
for i = 1, 60 do
  local name = ("n"):rep(50000) .. i
  local code = ("local %s return function() return %s end"):format(name, name)
  same({ name, "first" }, api.upvalue_name(load(code)()))
end
collectgarbage()
same({ "first", "first" }, api.upvalue_name(named))

-- much of it, as machine code
local total = 0
for i = 1, 200000 do total = api.sum(total, i) end
same({ 20000100000 }, total)
for i = 1, 2000 do
  local ok, err = pcall(api.error_value, i)
  if ok or err ~= i then error "a lost error" end
end
print "ok"
