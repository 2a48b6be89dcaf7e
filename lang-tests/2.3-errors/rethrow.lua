-- Rethrowing an error with level 0 or as a table keeps it unchanged (2.3).
-- expect: ok
--| rethrow.lua:7: inner
--| true	7
--| rethrow.lua:21: rethrow.lua:7: inner

local function inner() error("inner") end
local ok, e = pcall(function()
  local ok, e = pcall(inner)
  error(e, 0)
end)
print(e)
local object = { code = 7 }
ok, e = pcall(function()
  local ok, e = pcall(error, object)
  error(e)
end)
print(e == object, e.code)
ok, e = pcall(function()
  local ok, e = pcall(inner)
  error(e)
end)
print(e)
