-- expect: ok
-- The collector clears the elements of arrays with weak values. What is read from there is equal to
-- nil, also if it is compared with the constant.
local t = setmetatable({}, { __mode = "v" })
t[1], t[2], t[3] = {}, t, function() return t end
collectgarbage()
assert(rawget(t, 1) == nil)
assert((table.unpack(t, 1, 2)) == nil)
assert(select(2, next({ rawget(t, 1), 5 })) == 5)
setmetatable(t, nil)
assert(t[1] == nil and not (t[1] ~= nil) and t[2] == t and t[3] == nil)
local function is_nil(x) return x == nil end
for i = 1, 100 do
  assert(is_nil(t[i % 2 * 2 + 1]) and not is_nil(t))
end
