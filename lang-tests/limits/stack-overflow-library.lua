-- Unbounded recursion through library functions is a catchable error (implementation limit).
-- expect: ok
--| sort	false	true
--| gsub	false	true
--| load	false	true
--| pcall	false	string
--| unpack	false	true
--| too many results to unpack
--| too many results to unpack

local function check(name, f)
  local ok, message = pcall(f)
  print(name, ok, type(message) == "string" and message:find("overflow", 1, true) ~= nil)
end
local function sorter() table.sort({ 1, 2, 3 }, function() sorter() return true end) end
check("sort", sorter)
local function replacer() return (("x"):gsub("x", replacer)) end
check("gsub", replacer)
local function loader() return load(loader) end
-- whether it is the reader or the chunk that fails in the end depends on how many levels there are
check("load", function() local f, m = load(loader); error(m or "overflow", 0) end)
local function protected() return select(2, assert(pcall(protected))) end
local ok, message = pcall(protected)
print("pcall", ok, type(message))
check("unpack", function() return table.unpack({}, 1, 1e7) end)
print(select(2, pcall(table.unpack, {}, 1, 1e7)))
print(select(2, pcall(table.unpack, {}, math.mininteger, math.maxinteger)))
