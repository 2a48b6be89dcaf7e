-- ipairs counts from 1 to the first nil and respects metamethods (6.1).
-- expect: ok
--| 1a 2b 
--| 1=1 2=4 3=9 
--| function	table	0	1	5
--| nil
--| true
--| 8	30
--| 1 
--| false	bad argument #1 to 'ipairs' (value expected)
--| false	attempt to index a nil value
--| false	attempt to index a number value

for i, v in ipairs({ "a", "b", nil, "d" }) do io.write(i, v, " ") end
print()
for i, v in ipairs({}) do print("never") end
for i, v in ipairs(setmetatable({},
  { __index = function(t, i) if i <= 3 then return i * i end end })) do
  io.write(i, "=", v, " ")
end
print()
local f, t, i = ipairs({ 5 })
print(type(f), type(t), i, f(t, 0)); print(f(t, 1))
print(ipairs({}) == ipairs({}))
local list = { 1, 2, 3 }
for i, v in ipairs(list) do if i < 6 then list[#list + 1] = v * 10 end end
print(#list, list[6])
for i, v in ipairs(list) do list[i + 1] = nil; io.write(i, " ") end
print()
for i, c in ipairs("string") do print("never") end
print(pcall(ipairs))
print(pcall(function() for i in ipairs(nil) do end end))
print(pcall(function() for i in ipairs(5) do end end))
