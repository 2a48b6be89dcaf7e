-- Every bitwise metamethod is called with its operands in order (2.4).
-- expect: ok
--| band:o,1	band:1,o	bor:o,2	bor:2,o	bxor:o,3	bxor:3,o
--| shl:o,4	shl:4,o	shr:o,5	shr:5,o	bnot:o,o
--| band:o,s	bor:s,o	bxor:o,1.5	shl:1.5,o	shr:nil,o
--| band:o,o	shl:o,o
--| false	bitwise.lua:21: attempt to perform bitwise operation on a table value
--| false	bitwise.lua:22: attempt to perform bitwise operation on a table value

local mt = {}
local function show(v) return type(v) == "table" and "o" or tostring(v) end
for _, name in ipairs({ "band", "bor", "bxor", "shl", "shr" }) do
  mt["__" .. name] = function(a, b) return name .. ":" .. show(a) .. "," .. show(b) end
end
mt.__bnot = function(a, b) return "bnot:" .. show(a) .. "," .. show(b) end
local o = setmetatable({}, mt)
print(o & 1, 1 & o, o | 2, 2 | o, o ~ 3, 3 ~ o)
print(o << 4, 4 << o, o >> 5, 5 >> o, ~o)
print(o & "s", "s" | o, o ~ 1.5, 1.5 << o, nil >> o)
print(o & o, o << o)
print(pcall(function() return {} & 1 end))
print(pcall(function() return ~{} end))
