-- Only nil and false count as false (2.1).
-- expect: ok
--| 1	true	false	true
--| 2	false	true	false
--| 3	true	false	true
--| 4	true	false	true
--| 5	true	false	true
--| 6	true	false	true
--| 7	true	false	true
--| 8	true	false	true
--| false	true	nil	1	nil
--| 0 is true
--| the empty string is true
--| nan is true

local values = { true, false, 0, 0.0, "", "false", {}, print }
for i = 1, #values do
  local v = values[i]
  print(i, v and "true" or "false", not v, not not v)
end
print(nil == false, not nil, nil and 1, nil or 1, false or nil)
if 0 then print("0 is true") end
if "" then print("the empty string is true") end
if 0/0 then print("nan is true") end
while nil do print("never") end
repeat local done = "" until done
