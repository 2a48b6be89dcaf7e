-- A coroutine that fails below native code keeps its frames, and variables to be closed.
-- expect: ok
--| errors-below-native-code.lua:52: comparison
--| stack traceback:
--| 	[C]: in function 'error'
--| 	errors-below-native-code.lua:52: in function <errors-below-native-code.lua:52>
--| 	[C]: in function 'table.sort'
--| 	errors-below-native-code.lua:52: in function <errors-below-native-code.lua:52>
--| errors-below-native-code.lua:53: attempt to perform arithmetic on a nil value
--| stack traceback:
--| 	errors-below-native-code.lua:53: in function <errors-below-native-code.lua:53>
--| 	[C]: in function 'string.gsub'
--| 	errors-below-native-code.lua:53: in function <errors-below-native-code.lua:53>
--| errors-below-native-code.lua:55: tostring
--| stack traceback:
--| 	[C]: in function 'error'
--| 	errors-below-native-code.lua:55: in function <errors-below-native-code.lua:55>
--| 	[C]: in function 'tostring'
--| 	errors-below-native-code.lua:55: in function <errors-below-native-code.lua:54>
--| errors-below-native-code.lua:61: nested
--| stack traceback:
--| 	[C]: in function 'error'
--| 	errors-below-native-code.lua:61: in function <errors-below-native-code.lua:59>
--| 	[C]: in function 'string.gsub'
--| 	errors-below-native-code.lua:59: in function <errors-below-native-code.lua:58>
--| 	[C]: in function 'table.sort'
--| 	errors-below-native-code.lua:58: in function <errors-below-native-code.lua:57>
--| errors-below-native-code.lua:69: after it
--| stack traceback:
--| 	[C]: in function 'error'
--| 	errors-below-native-code.lua:69: in function <errors-below-native-code.lua:65>
--| pending
--| stack traceback:
--| 	[C]: in function 'error'
--| 	errors-below-native-code.lua:82: in function <errors-below-native-code.lua:80>
--| 	[C]: in function 'string.gsub'
--| 	errors-below-native-code.lua:80: in function <errors-below-native-code.lua:78>
--| 	[C]: in function 'table.sort'
--| 	errors-below-native-code.lua:78: in function <errors-below-native-code.lua:76>
--| inner	pending
--| middle	pending
--| outer	pending
--| false	pending

-- levels of a coroutine that has failed below a call of native code
local function show(f)
  local co = coroutine.create(f)
  local _, e = coroutine.resume(co)
  print(debug.traceback(co, e))
  return co
end
show(function() table.sort({ 1, 2, 3 }, function() error("comparison") end) end)
show(function() string.gsub("a", "a", function() local x = nil + 1 end) end)
show(function()
  return tostring(setmetatable({}, { __tostring = function() error("tostring") end }))
end)
show(function()
  table.sort({ 1, 2, 3 }, function()
    string.gsub("a", ".", function(c)
      local kept = { c }
      error("nested")
    end)
  end)
end)
show(function()
  -- caught, unlike the error after it
  pcall(table.sort, { 1, 2, 3 }, function() error("caught") end)
  pcall(string.rep)
  error("after it")
end)

-- variables that are still to be closed are closed with the coroutine
local function closing(name)
  return setmetatable({}, { __close = function(_, e) print(name, e) end })
end
local co = show(function()
  local outer <close> = closing "outer"
  table.sort({ 1, 2, 3 }, function()
    local middle <close> = closing "middle"
    string.gsub("a", ".", function()
      local inner <close> = closing "inner"
      error("pending", 0)
    end)
  end)
end)
collectgarbage() collectgarbage()
print(coroutine.close(co))
