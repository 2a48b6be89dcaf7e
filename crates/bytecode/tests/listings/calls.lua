f(); f(1, 2); f(g()); f(g(), 1); f((g())); f(...); f{...}; f"s"
local a, b = f()
local c, d = ...
local e, h = f(), 1, 2
o:m(); o:m(1, ...); o.x:y():z()
local t = { f(), f() }
setmetatable(t, { __index = a })
local q = setmetatable({}, { __index = function() end })
setmetatable(t, { __index = a, x = 1 })
local setmetatable = f
setmetatable(t, { __index = a })
do return f(a, b) end
do return f(), b end
do return (f()) end
do local x <close> = f(); return f() end
return o:m(...)
