-- Closing several variables is one instruction for line hooks, and the tail call of a library
-- function returns its results without one (6.10).
-- expect: ok
--| rnil l34 cnil l21 cnil l17 l18 l17 cnil rnil rnil l22 cnil l17 l18 l17 cnil 
--| rnil rnil l23 l24 cnil l17 l18 l17 cnil rnil rnil cnil rnil cnil l17 x1 l18 
--| rnil l23 l24 cnil l17 l18 l17 cnil rnil rnil cnil rnil cnil l17 x2 l18 rnil 
--| l23 l26 l27 cnil l17 b l18 rnil cnil l17 a l18 rnil rnil cnil l29 cnil l17 
--| l18 l17 cnil rnil rnil cnil l21 cnil l17 l18 l17 cnil rnil rnil l22 cnil l17 
--| l18 l17 cnil rnil rnil l23 l24 cnil l17 l18 l17 cnil rnil rnil cnil rnil cnil 
--| l17 x1 l18 rnil l23 l24 cnil l17 l18 l17 cnil rnil rnil cnil rnil cnil l17 
--| x2 l18 rnil l23 l26 l27 cnil l17 b l18 rnil cnil l17 a l18 rnil rnil cnil 
--| l17 z l18 rnil rnil cnil l31 cnil l17 l18 l17 cnil rnil rnil cnil rnil l31 
--| cnil l17 l18 l17 cnil rnil rnil cnil l17 q l18 rnil cnil l17 it l18 rnil l32 
--| rnil l35 l38 l35 cnil rnil l39 cnil rnil cnil rnil cnil m rnil l40 cnil

local log = {}
local function c(name) return setmetatable({}, {__close = function() log[#log+1] = name
  end}) end
local nat = setmetatable({}, {__close = rawlen})
local function f(n)
  local a <close> = c"a"
  local b <close> = c"b"
  for i = 1, n do
    local x <close> = c("x" .. i); local y <close> = nat
  end
  return n,
    n + 1
end
local function g() local z <close> = c"z" return f(2) end
local function gen()
  for k in next, {1}, nil, c"it" do local q <close> = c"q" if k then break end end
end
debug.sethook(function(e, l) log[#log+1] = e:sub(1,1) .. tostring(l) end, "lcr")
f(2) g() gen()
local co = coroutine.wrap(function()
  local m <close> = c"m" coroutine.yield(1)
  local w <close> = setmetatable({}, {__close = function() coroutine.yield(2)
 end}) end)
co() co() co()
debug.sethook()
print((table.concat(log, " "):gsub(("."):rep(73) .. "%S* ", "%0\n")))
