-- Unbounded recursion through metamethods is a catchable error (implementation limit).
-- expect: ok
--| index	false	true
--| newindex	false	true
--| add	false	true
--| concat	false	true
--| len	false	true
--| eq	false	true
--| lt	false	true
--| unm	false	true
--| call	false	true
--| tostring	false	true
--| pairs	false	true
--| true	fine

local function check(name, f)
  local ok, message = pcall(f)
  print(name, ok, type(message) == "string" and message:find("overflow", 1, true) ~= nil)
end
local mt = {}
local o = setmetatable({}, mt)
mt.__index = function(t, k) return t[k] end
check("index", function() return o.x end)
mt.__newindex = function(t, k, v) t[k] = v end
check("newindex", function() o.x = 1 end)
mt.__add = function(a, b) return a + b end
check("add", function() return o + 1 end)
mt.__concat = function(a, b) return a .. b end
check("concat", function() return o .. "x" end)
mt.__len = function(a) return #a end
check("len", function() return #o end)
mt.__eq = function(a, b) return a == b end
check("eq", function() return o == setmetatable({}, mt) end)
mt.__lt = function(a, b) return a < b end
check("lt", function() return o < o end)
mt.__unm = function(a) return -a end
check("unm", function() return -o end)
mt.__call = function(self) return 1 + self() end
check("call", function() return o() end)
mt.__tostring = function(t) return tostring(t) end
check("tostring", function() return tostring(o) end)
mt.__pairs = function(t) return pairs(t) end
check("pairs", function() for k in pairs(o) do end end)
print(pcall(function() return setmetatable({}, { __index = function() return "fine" end }).x end))
