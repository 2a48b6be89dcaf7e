-- A tail call removes its caller from the traceback (3.4.10, 6.10).
-- expect: ok
--| tail-call-traceback.lua:14: here
--| stack traceback:
--|   [C]: in function 'error'
--|   tail-call-traceback.lua:14: in function <tail-call-traceback.lua:14>
--|   (...tail calls...)
--| tail-call-traceback.lua:14: here
--| stack traceback:
--|   [C]: in function 'error'
--|   tail-call-traceback.lua:14: in upvalue 'fail'
--|   tail-call-traceback.lua:16: in function <tail-call-traceback.lua:16>

local function fail() error("here") end
local function tail() return fail() end
local function notail() return (fail()) end
local function trace(f)
  local _, text = xpcall(f, debug.traceback)
  for line in text:gmatch("[^\n]+") do
    if line:find("xpcall") then break end
    print((line:gsub("^%s+", "  ")))
  end
end
trace(tail)
trace(notail)
