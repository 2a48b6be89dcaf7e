-- Keys that machine code does not know, looked up along chains of __index.
-- expect: ok
--| 20	nil	deep	nil	base:zz	string
--| chain too long
--| 7 7 nil
local base = { deep = "deep", [1.5] = 7, [true] = 7 }
local middle = setmetatable({ m = 20 }, { __index = base })
local top = setmetatable({}, { __index = middle })
local ended = setmetatable({}, { __index = function(t, k) return "base:" .. tostring(k) end })
local called = setmetatable({}, { __index = setmetatable({}, { __index = ended }) })
local text = setmetatable({}, { __index = "a string" })
local empty = setmetatable({}, { __name = "no __index" })
local function get(t, k) return t[k] end
local a, b, c, d, e, f
for i = 1, 200 do
  a, b, c, d = get(top, "m"), get(top, "none" .. i % 3), get(top, "deep"), get(empty, "x")
  e, f = get(called, "zz"), get(text, "rep")
  assert(get(called, i) == "base:" .. i)
end
print(a, b, c, d, e, type(f) == "function" and "string" or f)
-- a chain that is changed, and one that has no end
local late = setmetatable({}, {})
local chain = setmetatable({}, { __index = late })
for i = 1, 100 do assert(get(chain, "x") == nil) end
getmetatable(late).__index = function() return 5 end
for i = 1, 100 do assert(get(chain, "x") == 5) end
local loop = {}
setmetatable(loop, { __index = loop })
local ok, message
for i = 1, 100 do ok, message = pcall(get, loop, "x") end
print(not ok and message:match("chain too long"))
local x, y, z
for i = 1, 200 do x, y, z = get(top, 1.5), get(top, true), get(top, 2.5) end
print(x .. " " .. y .. " " .. tostring(z))
