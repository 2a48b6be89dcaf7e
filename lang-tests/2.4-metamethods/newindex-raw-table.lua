-- A __newindex table that has the key gets a raw assignment; one that has not is asked again (2.4).
-- expect: ok
--| 1	0
--| 2	1
--| 3	1	nil
--| 11	11	nil

local calls = 0
local target = setmetatable({ have = 0 }, { __newindex = function(t, k, v)
  calls = calls + 1; rawset(t, k, v)
end })
local o = setmetatable({}, { __newindex = target })
o.have = 1
print(target.have, calls)
o.new = 2
print(target.new, calls)
o.new = 3
print(target.new, calls, next(o))
local proxy = setmetatable({}, { __index = target, __newindex = target })
proxy.have = proxy.have + 10
print(proxy.have, target.have, rawget(proxy, "have"))
