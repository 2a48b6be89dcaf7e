-- How deep calls from native functions may be: the host takes two of PUC's 200 levels.
-- expect: ok
--| 197	197
--| 215
local function depth(f)
  local d = 0
  local function go() d = d + 1 f(go) end
  pcall(go)
  return d
end
print(depth(function(go) string.gsub("a", "a", go) end),
  depth(function(go) coroutine.wrap(go)() end))
local d = 0
xpcall(error, function(e) d = d + 1 error(e) end)
print(d)
