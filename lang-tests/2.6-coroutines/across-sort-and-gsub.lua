-- A yield across a library function that calls back is an error (2.6).
-- expect: ok
--| sort	false	attempt to yield across a C-call boundary
--| gsub	false	attempt to yield across a C-call boundary
--| load	true	nil	attempt to yield across a C-call boundary
--| tostring	false	attempt to yield across a C-call boundary
--| require	false	attempt to yield across a C-call boundary
--| concat	false	attempt to yield across a C-call boundary

local function try(name, f)
  print(name, coroutine.resume(coroutine.create(f)))
end
try("sort", function()
  table.sort({ 3, 2, 1 }, function(a, b) coroutine.yield() return a < b end)
end)
try("gsub", function() return ("x"):gsub(".", function() coroutine.yield() end) end)
try("load", function() return load(function() coroutine.yield() end) end)
try("tostring", function()
  return tostring(setmetatable({}, { __tostring = function() coroutine.yield() end }))
end)
try("require", function()
  package.preload.y = function() coroutine.yield() end; return require("y")
end)
try("concat", function()
  return table.concat(setmetatable({}, { __len = function() coroutine.yield() end }))
end)
