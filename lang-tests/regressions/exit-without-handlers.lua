-- Errors in `__close` while `os.exit` closes the state meet no message handlers (manual 6.9).
-- expect: ok
--| c	nil
--| b	of c
--| a	of b

local function closing(name)
  return setmetatable({}, { __close = function(_, e)
    print(name, e)
    error("of " .. name, 0)
  end })
end
xpcall(function()
  local a <close> = closing "a"
  local b <close> = closing "b"
  xpcall(function()
    local c <close> = closing "c"
    os.exit(true, true)
  end, function(m) return "inner handler of " .. m end)
end, function(m) return "handler of " .. m end)
