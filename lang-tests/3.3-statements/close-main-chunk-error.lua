-- Variables of the main chunk are closed when it fails; the last error is reported (3.3.8).
-- expect: error
--! from close
--| closed with	from body

local a <close> = setmetatable({}, { __close = function(_, e)
  print("closed with", (e:match("^[^\n]*")))
  error("from close", 0)
end })
error("from body", 0)
