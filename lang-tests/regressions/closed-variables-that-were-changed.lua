-- A variable to be closed that the debug library has changed is closed with the value that it has
-- then, nil and false included, however its block is left. What coroutine.close calls is the
-- outermost level of the coroutine.
-- expect: ok
--| false	closed-variables-that-were-changed.lua:46: attempt to call a nil value (metamethod 'close')
--| false	closed-variables-that-were-changed.lua:53: attempt to call a nil value (metamethod 'close')
--| false	attempt to call a nil value
--| false	attempt to call a nil value
--| false	closed-variables-that-were-changed.lua:46: attempt to call a nil value (metamethod 'close')
--| false	closed-variables-that-were-changed.lua:53: attempt to call a nil value (metamethod 'close')
--| false	attempt to call a nil value
--| false	attempt to call a nil value
--| false	closed-variables-that-were-changed.lua:46: attempt to call a nil value (metamethod 'close')
--| false	closed-variables-that-were-changed.lua:53: attempt to call a nil value (metamethod 'close')
--| false	attempt to call a nil value
--| false	attempt to call a nil value
--| other	nil
--| true	after
--| other	nil
--| true	after
--| other	closed-variables-that-were-changed.lua:58: body
--| false	closed-variables-that-were-changed.lua:58: body
--| other	nil
--| true
--| levels
--| stack traceback:
--| 	closed-variables-that-were-changed.lua:88: in function <closed-variables-that-were-changed.lua:88>
--| Lua Lua
--| false	message
--| false	attempt to call a number value

local print = function() end
local function closing() print('closed') end

-- changes the variable `c` of the function that calls it
local function change(new)
  local n = 1
  while debug.getlocal(2, n) ~= 'c' do n = n + 1 end
  debug.setlocal(2, n, new)
end

local function try(new)
  print(pcall(function()
    do
      local c <close> = setmetatable({}, {__close = closing})
      change(new)
    end
    return 'after'
  end))
  print(pcall(function()
    local c <close> = setmetatable({}, {__close = closing})
    change(new)
    return 'after'
  end))
  print(pcall(function()
    local c <close> = setmetatable({}, {__close = closing})
    change(new)
    error('body')
  end))
  local co = coroutine.create(function()
    local c <close> = setmetatable({}, {__close = closing})
    change(new)
    coroutine.yield()
  end)
  coroutine.resume(co)
  print(coroutine.close(co))
end

for _ = 1, 20 do try(nil) end
print = _G.print
try(nil)
try(false)
try(5)
try(setmetatable({}, {__close = function(_, e) print('other', e) end}))

local function levels()
  local names, n = {}, 1
  while debug.getinfo(n) do
    names[n] = debug.getinfo(n, 'S').what
    n = n + 1
  end
  return table.concat(names, ' ')
end
local co = coroutine.create(function()
  local a <close> = setmetatable({}, {__close = 7})
  local b <close> = setmetatable({}, {__close = function() print(pcall(error, 'message', 3)) end})
  local c <close> = setmetatable({}, {__close = function() print(levels()) end})
  local d <close> = setmetatable({}, {__close = function() print(debug.traceback('levels')) end})
  coroutine.yield()
end)
coroutine.resume(co)
print(coroutine.close(co))
