-- __concat is called when an operand is neither a string nor a number (2.4).
-- expect: ok
--| [O..x]	[x..O]	[O..1]	[1.5..O]	[O..O]
--| ab[O..cd]
--| [O..abc]
--| a[O..[b..O]]
--| [O..nil]	[nil..O]	[O..true]
--| nil
--| false	concat.lua:24: attempt to concatenate a table value

local mt = {}
mt.__concat = function(a, b)
  local function show(v) return type(v) == "table" and "O" or tostring(v) end
  return "[" .. show(a) .. ".." .. show(b) .. "]"
end
local o = setmetatable({}, mt)
print(o .. "x", "x" .. o, o .. 1, 1.5 .. o, o .. o)
print("a" .. "b" .. o .. "c" .. "d")
print(o .. "a" .. "b" .. "c")
print("a" .. o .. "b" .. o)
print(o .. nil, nil .. o, o .. true)
local plain = setmetatable({}, { __concat = function() return plain_result end })
print(plain .. 1)
print(pcall(function() return {} .. "x" end))
