local C = {}
C.__index = C
function C.new(o) return setmetatable(o, { __index = C }) end
function C.other(o) local r = setmetatable(o, { __index = C }) return r end
function C.many(o) return setmetatable(o, { __index = C }), 1 end
function C.not_this(o) return setmetatable(o, { ["__inde" .. "x"] = C }) end
function C.nested(o) return setmetatable(o, { __index = setmetatable({}, { __index = C }) }) end
