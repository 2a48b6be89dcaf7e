-- The names that a traceback gives to functions (6.10).
-- expect: ok
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in upvalue 'up'
--|   traceback-names.lua:88: in function <traceback-names.lua:88>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in field 'deep'
--|   traceback-names.lua:90: in function <traceback-names.lua:90>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in upvalue 'up'
--|   traceback-names.lua:91: in method 'method'
--|   traceback-names.lua:92: in function <traceback-names.lua:92>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in upvalue 'up'
--|   traceback-names.lua:93: in function 'global'
--|   traceback-names.lua:94: in function <traceback-names.lua:94>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in local 'l'
--|   traceback-names.lua:95: in function <traceback-names.lua:95>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in for iterator 'for iterator'
--|   traceback-names.lua:96: in function <traceback-names.lua:96>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in metamethod 'len'
--|   traceback-names.lua:97: in function <traceback-names.lua:97>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in metamethod 'index'
--|   traceback-names.lua:98: in function <traceback-names.lua:98>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in metamethod 'add'
--|   traceback-names.lua:99: in function <traceback-names.lua:99>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in function <traceback-names.lua:87>
--|   [C]: in function 'table.sort'
--|   traceback-names.lua:100: in function <traceback-names.lua:100>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in function <traceback-names.lua:87>
--|   [C]: in function 'string.gsub'
--|   traceback-names.lua:101: in function <traceback-names.lua:101>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in upvalue 'up'
--|   traceback-names.lua:102: in function <traceback-names.lua:102>
--| x
--| stack traceback:
--|   [C]: in function 'error'
--|   traceback-names.lua:87: in metamethod 'close'
--|   traceback-names.lua:103: in function <traceback-names.lua:103>
--| traceback-names.lua:104: bad argument #1 to 'rep' (string expected, got no value)
--| stack traceback:
--|   [C]: in function 'string.rep'
--|   traceback-names.lua:104: in function <traceback-names.lua:104>
--| traceback-names.lua:105: attempt to perform arithmetic on a nil value
--| stack traceback:
--|   traceback-names.lua:105: in function <traceback-names.lua:105>

local function trace(f)
  local _, text = xpcall(f, debug.traceback)
  for line in text:gmatch("[^\n]+") do
    if line:find("xpcall") then break end
    print((line:gsub("^%s+", "  ")))
  end
end
local function up() error("x", 0) end
trace(function() up() end)
local t = { field = { deep = up } }
trace(function() t.field.deep() end)
function t:method() up() end
trace(function() t:method() end)
function global() up() end
trace(function() global() end)
trace(function() local l = up; l() end)
trace(function() for _ in up do end end)
trace(function() return #setmetatable({}, { __len = up }) + 1 end)
trace(function() return setmetatable({}, { __index = up }).x + 1 end)
trace(function() return 1 + setmetatable({}, { __add = up }) + 1 end)
trace(function() table.sort({ 1, 2 }, up) end)
trace(function() string.gsub("x", "x", up) end)
trace(function() pcall(error); up() end)
trace(function() local c <close> = setmetatable({}, { __close = up }) end)
trace(function() string.rep() end)
trace(function() local x = nil + 1 end)
