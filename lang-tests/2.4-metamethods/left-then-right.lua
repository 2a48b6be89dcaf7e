-- The left operand's metamethod is tried first, then the right one's (2.4).
-- expect: ok
--| left	right	right	right
--| right sub	right sub	right sub
--| false	left-then-right.lua:14: attempt to perform arithmetic on a table value (upvalue 'left')
--| true	false	false	true
--| true	false	true	true
local left = setmetatable({}, { __add = function() return "left" end })
local right = setmetatable({}, {
  __add = function() return "right" end,
  __sub = function() return "right sub" end,
})
local none = setmetatable({}, {}); print(left + right, right + left, none + right, right + none)
print(left - right, none - right, 1 - right); print(pcall(function() return left - none end))
local l = setmetatable({}, { __lt = function() return true end })
local r = setmetatable({}, { __lt = function() return false end })
print(l < r, r < l, l > r, r > l)
local x = setmetatable({}, { __eq = function() return true end })
local y = setmetatable({}, { __eq = function() return false end })
print(x == y, y == x, x == none, none == x)
