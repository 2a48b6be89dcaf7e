-- os.exit with close set runs finalizers and pending closes (6.9). The error of a closing method is
-- passed to the methods after it.
-- expect: ok
--| third	nil
--| second	in third
--| first	in second
--| outermost	in second
--| finalized

keep = setmetatable({}, { __gc = function() print("finalized") end })
local function closing(name, fails)
  return setmetatable({}, { __close = function(_, e)
    print(name, e)
    if fails then error("in " .. name, 0) end
  end })
end
local outermost <close> = closing("outermost")
local first <close> = closing("first")
local second <close> = closing("second", true)
local third <close> = closing("third", true)
pcall(function() os.exit(0, true) end)
print("never")
