-- A method that is found along the metatable, and called.
local Class = {}
Class.__index = Class
function Class.size(o) return o.n end
local function call(o) return (o:size()) end
local o = setmetatable({ n = 1 }, Class)
for i = 1, 4 do call(o) end
