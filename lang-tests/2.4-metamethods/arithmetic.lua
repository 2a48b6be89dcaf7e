-- Every arithmetic metamethod is called with its operands in order (2.4).
-- expect: ok
--| add(a,b)	sub(a,b)	mul(a,b)	div(a,b)	mod(a,b)	pow(a,b)	idiv(a,b)
--| add(a,1)	add(1,a)	sub(a,2.5)	sub(2.5,a)	mul(a,3)	mul(3,a)
--| div(a,4)	div(4,a)	mod(a,5)	mod(5,a)	pow(a,6)	pow(6,a)	idiv(a,7)	idiv(7,a)
--| add(a,x)	sub(10,a)	mul(a,nil)	mul(nil,a)	div(a,true)
--| add(a,100000)

local mt = {}
for _, name in ipairs({ "add", "sub", "mul", "div", "mod", "pow", "idiv" }) do
  mt["__" .. name] = function(a, b)
    local function show(v) return type(v) == "table" and v.name or tostring(v) end
    return name .. "(" .. show(a) .. "," .. show(b) .. ")"
  end
end
local a, b = setmetatable({ name = "a" }, mt), setmetatable({ name = "b" }, mt)
print(a + b, a - b, a * b, a / b, a % b, a ^ b, a // b)
print(a + 1, 1 + a, a - 2.5, 2.5 - a, a * 3, 3 * a)
print(a / 4, 4 / a, a % 5, 5 % a, a ^ 6, 6 ^ a, a // 7, 7 // a)
print(a + "x", "10" - a, a * nil, nil * a, a / true)
local x = a
x = x + 100000
print(x)
