-- To-be-closed variables that closures capture stay usable (3.3.8).
-- expect: ok
--| captured
--| closed
--| true	open from, open to, from->to, close to, close from
--| 1	2	end	close co

local get
do
  local x <close> = setmetatable({ v = "captured" }, { __close = function(o) o.v = "closed" end })
  get = function() return x.v end
  print(get())
end
print(get())
local log = {}
local function resource(name)
  log[#log + 1] = "open " .. name
  return setmetatable({ name = name }, { __close = function(o)
    log[#log + 1] = "close " .. o.name
  end })
end
local function copy()
  local from <close> = resource("from")
  local to <close> = resource("to")
  log[#log + 1] = from.name .. "->" .. to.name
  return true
end
print(copy(), table.concat(log, ", "))
local co = coroutine.wrap(function()
  local r <close> = resource("co")
  for i = 1, 2 do coroutine.yield(i) end
  return "end"
end)
print(co(), co(), co(), log[#log])
