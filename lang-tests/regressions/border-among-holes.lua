-- The border of small arrays with holes is the one that PUC Lua finds, in constructors and where
-- keys join the array.
-- expect: ok
--| 3	5
--| 8	5	7
--| 0	3	3	3
--| 4	2	0
--| 0	1
--| 0	3
--| 0
--| 1=1 2=2 3=3 5=5 6=6 6	6
--| 3	3
--| 1
--| 3
local function filled(...)
  local t = {}
  for _, k in ipairs({...}) do t[k] = k end
  return t
end
print(#filled(1, 2, 3, 5, 6), #filled(1, 2, 3, 4, 5, 10, 11, 12, 13, 14))
print(#filled(8, 7, 6, 5, 4), #filled(2, 3, 4, 5), #filled(1, 3, 4, 5, 7))
print(#{nil, nil, 3, nil, nil}, #{nil, nil, 3}, #{1, nil, 3}, #{1, nil, 3, nil})
print(#{1, 2, nil, 4, nil, nil, nil, nil}, #{nil, 2, nil}, #{n = 1, nil, nil, 3, nil, nil})
print(#table.pack(nil, nil, 3, nil, nil), #table.pack(1, nil, nil, 4, nil, nil))
local function list(...) return {...} end
print(#list(nil, nil, 3, nil, nil), #list(1, nil, 3, nil, nil, nil))
print(#list(nil, 2, nil, 4, nil, nil, nil))

-- What lies after the border is found, visited in order, and joins the array again.
local t = filled(1, 2, 3, 5, 6)
for k, v in pairs(t) do io.write(k, '=', v, ' ') end
t[4] = 4
print(#t, rawlen(t))
t = {nil, nil, 3, nil, nil}
print(next(t))
t[1] = 1
print(#t)
t[2] = 2
print(#t)
