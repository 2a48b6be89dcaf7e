-- __tostring and __name decide how a value is shown (2.4, 6.1).
-- expect: ok
--| shown
--| true	5
--| false	'__tostring' must return a string
--| MyType: ADDR
--| false	tostring-name.lua:21: attempt to perform arithmetic on a MyType value (upvalue 'named')
--| false	tostring-name.lua:22: attempt to compare MyType with table
--| false	tostring-name.lua:23: attempt to compare two MyType values
--| false	bad argument #1 to 'string.rep' (string expected, got MyType)
--| false	bad argument #1 to 'ipairs' (value expected)
--| false	attempt to index a nil value
--| true
--| fmt|         x

print(setmetatable({}, { __tostring = function() return "shown" end }))
print(pcall(tostring, setmetatable({}, { __tostring = function() return 5 end })))
print(pcall(tostring, setmetatable({}, { __tostring = function() return nil end })))
local named = setmetatable({}, { __name = "MyType" })
print((tostring(named):gsub("0x%x+", "ADDR"):gsub(": %x+$", ": ADDR")))
print(pcall(function() return named + 1 end))
print(pcall(function() return named < {} end))
print(pcall(function() return named < named end))
print(pcall(string.rep, named))
print(pcall(ipairs))
print(pcall(function()
  for i in ipairs(named) do error("never") end; for i in ipairs(nil) do end
end))
print(tostring(setmetatable({}, { __name = 5 })):match("^table: ") ~= nil)
print(string.format("%s|%10s", setmetatable({}, { __tostring = function() return "fmt" end }), "x"))
