-- An error value of any type reaches the handler unchanged (2.3).
-- expect: ok
--| false	true	number	1
--| false	true	number	1.5
--| false	true	string	s
--| false	true	boolean	true
--| false	true	table	as text
--| false	nil
--| false	nil
--| 2
--| false	false
--| true
--| false	42
--| false	42

local t = setmetatable({}, { __tostring = function() return "as text" end })
for _, v in ipairs({ 1, 1.5, "s", true, t }) do
  local ok, e = pcall(error, v)
  print(ok, rawequal(e, v) or e == v, type(e), tostring(e))
end
print(pcall(error))
print(pcall(error, nil))
print(select("#", pcall(error)))
print(pcall(error, false))
local function f() end
print(select(2, pcall(error, f)) == f)
print(pcall(error, 42, 1))
print(pcall(error, 42, 2))
