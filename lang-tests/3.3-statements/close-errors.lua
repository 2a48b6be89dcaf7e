-- Errors meet to-be-closed variables: each handler gets the current error (3.3.8).
-- expect: ok
--| close b	body
--| close a	body
--| false	body
--| close b	body
--| close a	from b
--| false	from a
--| close b	nil
--| close a	only in close
--| false	only in close
--| false	close-errors.lua:41: variable 'x' got a non-closable value
--| false	close-errors.lua:42: variable 'bad' got a non-closable value
--| false	close-errors.lua:43: attempt to call a number value (metamethod 'close')
--| close first	close-errors.lua:46: variable 'bad' got a non-closable value
--| false	close-errors.lua:46: variable 'bad' got a non-closable value
--| close level	table
--| true

local function c(name, raise)
  return setmetatable({}, { __close = function(v, e)
    print("close " .. name, type(e) == "string" and e or type(e))
    if raise then error(raise, 0) end
  end })
end
print(pcall(function()
  local a <close> = c("a")
  local b <close> = c("b")
  error("body", 0)
end))
print(pcall(function()
  local a <close> = c("a", "from a")
  local b <close> = c("b", "from b")
  error("body", 0)
end))
print(pcall(function()
  local a <close> = c("a")
  local b <close> = c("b", "only in close")
  return "value is lost"
end))
print(pcall(function() local x <close> = {} end))
print(pcall(function() local bad <close> = 5 end))
print(pcall(function() local bad <close> = setmetatable({}, { __close = 1 }) end))
print(pcall(function()
  local first <close> = c("first")
  local bad <close> = "string"
end))
print(pcall(function() local x <close> = c("level", nil); error({}) end) == false)
