-- covers: tracebacks of coroutines that ended with an error in a function called by a tail call
-- expect: ok
--| [C]: in function 'error'
--| tail-calls-of-dead-coroutines.lua:15: in upvalue 'fail'
--| tail-calls-of-dead-coroutines.lua:16: in function <tail-calls-of-dead-coroutines.lua:16>
--| (...tail calls...)
--| true
--| [C]: in function 'error'
--| tail-calls-of-dead-coroutines.lua:15: in upvalue 'fail'
--| tail-calls-of-dead-coroutines.lua:16: in function <tail-calls-of-dead-coroutines.lua:16>
--| (...tail calls...)
--| [C]: in function 'pairs'
--| tail-calls-of-dead-coroutines.lua:35: in function <tail-calls-of-dead-coroutines.lua:35>

local function fail() error("expected") end
local function inner(a) fail() return a end
local function outer(a) return inner(a) end

-- Prints the levels without the folder of the file.
local function show(co)
  for level in debug.traceback(co):gmatch("\n\t([^\n]+)") do
    print((level:gsub("[^ <]*/", "")))
  end
end

local co
for _ = 1, 200 do
  co = coroutine.create(outer)
  coroutine.resume(co, 1)
end
show(co)
print(debug.getinfo(co, 2, "t").istailcall)

local object = setmetatable({}, { __pairs = outer })
local function traverse() local f = pairs(object) return f end
for _ = 1, 200 do
  co = coroutine.create(traverse)
  coroutine.resume(co)
end
show(co)
