-- expect: ok
--| 20	0	100	-10
--| attempt to add a 'nil' with a 'nil'
--| attempt to add a 'string' with a 'nil'
--| attempt to add a 'string' with a 'nil'
-- In the metamethods of strings, a missing second operand is the first one, after its conversion.
local meta = getmetatable("")
print(meta.__add("10"), meta.__sub("10"), meta.__mul("10"), meta.__unm("10"))
local function message(...)
    local _, text = pcall(meta.__add, ...)
    return text
end
print(message())
print(message("a"))
print(message("10", nil))
