-- An uncaught error object is reported through its __tostring (2.3).
-- expect: error
--! custom
--! object

error(setmetatable({}, { __tostring = function() return "custom\nobject" end }))
