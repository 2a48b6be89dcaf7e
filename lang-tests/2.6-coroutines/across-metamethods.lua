-- A yield crosses metamethods of every kind (2.6).
-- expect: ok
--| add add concat concat index field call:1 eq eq lt le len unm band idiv bnot newindex set eq lt 
--| 1,2,3,x4,5,6
--| true false true true 11 12 13 14 15 16 then 

local y = coroutine.yield
local mt = {
  __add = function(a, b) return y("add") end, __concat = function(a, b) return y("concat") end,
  __index = function(t, k) return y("index " .. k) end,
  __newindex = function(t, k, v) rawset(t, k, y("newindex " .. k)) end,
  __call = function(self, ...) return y("call", ...) end,
  __eq = function(a, b) return y("eq") end, __lt = function(a, b) return y("lt") end,
  __le = function(a, b) return y("le") end, __len = function() return y("len") end,
  __unm = function() return y("unm") end, __band = function() return y("band") end,
  __idiv = function() return y("idiv") end, __bnot = function() return y("bnot") end,
}
local function new() return setmetatable({}, mt) end
local co = coroutine.wrap(function()
  local a, b = new(), new()
  local r = { a + 1, 1 + a, a .. "x", "x" .. a .. "y", a.field, a(1, 2), a == b, a ~= b, a < b,
    a >= b, #a, -a, a & 1, 7 // a, ~a }
  a.set = 1
  r[#r + 1] = a.set
  if a == b then r[#r + 1] = "then" end
  if not (a < b) then r[#r + 1] = "not" end
  return "result", table.concat({ table.unpack(r, 1, 6) }, ","), r
end)
local n = 0
local what, text, r = co()
while what ~= "result" do
  n = n + 1
  io.write(what, text and ":" .. text or "", " ")
  what, text, r = co(n)
end
print()
print(text)
for i = 7, #r do io.write(tostring(r[i]), " ") end
print()
