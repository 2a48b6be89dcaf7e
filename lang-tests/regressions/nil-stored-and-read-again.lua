-- A field that was set to nil is looked up in the metatable when it is read again (2.4).
-- expect: ok
--| 7	nil	7	1
local none, some = { __index = {} }, { __index = { x = 7 } }
local function object(meta) return setmetatable({ x = 1 }, meta) end
local function clear(t) t.x = nil return t.x end
local function replace(t, v) t.x = v return t.x end
for _ = 1, 100 do
  clear(object(none))
  replace(object(none), 2)
end
print(clear(object(some)), clear({ x = 1 }), replace(object(some), nil), replace({ x = 1 }, 1))
