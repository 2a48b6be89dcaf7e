-- Checks the states that states.c makes.
local states = require "states"

local function same(want, ...)
  local got = table.pack(...)
  for i = 1, math.max(got.n, #want) do
    if got[i] ~= want[i] then
      error(("value %d is %s, not %s"):format(i, tostring(got[i]), tostring(want[i])), 2)
    end
  end
end

-- the allocator of lua_newstate
local work = "local t = {} for i = 1, 1e5 do t[i] = {i} end return #t .. ''"
same({ 0, "100000", true }, states.in_memory(1 << 30, work))
same({ 4, "not enough memory", true }, states.in_memory(4 << 20, work))
same({ 4, "not enough memory", true }, states.in_memory(4 << 20, "return ('x'):rep(1 << 23)"))
local caught = "local ok, e = pcall(function() local t = {} while true do t[#t + 1] = {} end end) "
  .. "local t = {} for i = 1, 1000 do t[i] = {} end return e .. #t"
same({ 0, "not enough memory1000", true }, states.in_memory(4 << 20, caught))
same({ "no state" }, states.in_memory(100, ""))
for _, size in ipairs { 1, 1000, 100000, 10000000 } do
  -- the allocator refuses each; then only blocks that the heap takes for many
  same({ 4, "not enough memory", "1000", false }, states.userdata_without_memory(size, 0))
  local made = size < 1 << 16
  same({ 4, "not enough memory", "1000", made }, states.userdata_without_memory(size, 1 << 16))
end
same({ true }, states.replaced_allocator())

-- a program in C is no level below those of Lua
local text = states.traceback "local function f() error 'no' end f()"
same({ 0 }, (select(2, text:gsub("%[C%]: in %?", ""))))
same({ true }, text:find "in main chunk$" ~= nil)

for way = 1, 5 do same({ "of the new table", true }, states.other_globals(way)) end
same({ "a+b;c+d+e;@on;;" }, states.warnings())
same({ "a is refused" }, states.refused_warnings "return select(2, pcall(warn, 'a', 'b'))")
same({ "[string \"warn 'a'\"]:1: a is refused" }, states.refused_warnings "warn 'a'")
local u
same({ true, true }, (function(x, a, b) u = x return a, b end)(states.address()))
same({ ("%p"):format(u) }, tostring(u):match "0x%x+")

-- functions of the library in other states; nil stands for a function or a failure
local results = { type = "string", tostring = "x", ["string.upper"] = "X", ["string.lower"] = "x",
  ["io.open"] = "nil", ipairs = "nil", ["utf8.codes"] = "nil" }
for name, want in pairs(results) do
  local f = assert(load("return " .. name))()
  for other in pairs(results) do
    local equal, same_address, got = states.in_another_state(f, "return " .. other, "x")
    same({ name == other, name == other, want }, equal, same_address, tostring(got))
  end
end

-- libraries that are open stay as they are
local changes = "string.added = 5 function print() return 'changed' end"
same({ "5changed" }, states.opened_again(changes, "return ('x').added .. print()"))

-- the end of a state closes all variables, with the errors of others
same({ "b:nil;z:B;a:B;" }, states.closed [[
  local function closed(name, error)
    return setmetatable({}, { __close = function(_, e)
      record(name .. ":" .. tostring(e) .. ";")
      if error then error() end
    end })
  end
  return closed "a", closed("b", function()
    local z <close> = closed "z"
    error("B", 0)
  end)
]])

-- main coroutines that are resumed
local code = [[
  local n = ...
  local closed <close> = setmetatable({}, { __close = note })
  for i = 1, 3 do
    local t = setmetatable({}, { __gc = note })
    n = n + coroutine.yield(n .. tostring(coroutine.isyieldable()))
    collectgarbage()
  end
  if n > 50 then error "too many" end
  return n
]]
same({ 0, "9true;17true;24true;30;", "42true", 4 }, states.resumed_main(code, 9))
same({ 1, "2true;3true;", nil, 3 }, states.resumed_main(code, 2))
local status, text, after, notes = states.resumed_main(code, 20)
same({ 2, "20true;39true;57true;", "42true", 4 }, status, (text:gsub("%[.*", "")), after, notes)

-- the native stack is that of the thread, or of the host, that makes the outermost call
local nested = [[
  local function nested(n)
    local result = 0
    if n > 0 then ("x"):gsub("x", function() result = 1 + nested(n - 1) end) end
    return result
  end
  for i = 1, 3000 do nested(1) end
  return nested(%d)
]]
same({ "0150", "0150" }, states.on_other_thread(nested:format(150)))
same({ "020", "020" }, states.on_own_stack(nested:format(20)))
print "ok"
