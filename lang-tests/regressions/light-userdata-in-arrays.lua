-- Light userdata stored into an array keeps its type, whatever the array held before.
-- expect: ok
--| userdata	true	2	table
--| userdata	true	2	number
--| userdata	true	2	number
--| userdata	true	2	boolean
--| userdata	true	3	userdata
--| userdata	true	4	string
--| userdata	true	4	number
--| userdata	true	4	number
--| userdata	true	4	userdata
local function put(t, i, v) t[i] = v end
local ints, floats = {1, 2, 3}, {1.5, 2.5, 3.5}
for i = 1, 2000 do
  put(ints, i % 3 + 1, i)
  put(floats, i % 3 + 1, i + 0.5)
end
local up
local id = debug.upvalueid(function() return up end, 1)
for _, t in ipairs{{"s", {}}, {1, 2}, {1.5, 2.5}, {true, false}} do
  put(t, 1, id)
  print(type(t[1]), t[1] == id, #t, type(t[2]))
end
local function append(t, v) t[#t + 1] = v end
for i = 1, 2000 do append(ints, i) append(floats, i + 0.5) end
for _, t in ipairs{{}, {"s"}, {1}, {1.5}, {id}} do
  append(t, id)
  append(t, true)
  append(t, id)
  print(type(t[#t]), t[#t] == id, #t, type(t[1]))
end
