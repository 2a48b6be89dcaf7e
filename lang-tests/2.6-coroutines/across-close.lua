-- A yield crosses __close metamethods, on every exit of the block (2.6, 3.3.8).
-- expect: ok
--| closing block nil
--| returned	1
--| closing b nil
--| closing a nil
--| returned	value
--| closing loop 1 nil
--| closing loop 2 nil
--| returned	loops
--| closing break nil
--| returned	broke
--| closing error boom
--| returned	boom
--| closing for nil
--| returned	for done

local function closer(name)
  return setmetatable({}, { __close = function(_, e)
    coroutine.yield("closing " .. name .. " " .. tostring(e))
  end })
end
local function run(f)
  local co = coroutine.wrap(function() return "returned", f() end)
  local r, v = co()
  while r ~= "returned" do print(r); r, v = co() end
  print(r, v)
end
run(function() do local a <close> = closer("block") end return 1 end)
run(function() local a <close> = closer("a"); local b <close> = closer("b"); return "value" end)
run(function() for i = 1, 2 do local c <close> = closer("loop " .. i) end return "loops" end)
run(function() while true do local c <close> = closer("break"); break end return "broke" end)
run(function()
  return select(2, pcall(function() local c <close> = closer("error"); error("boom", 0) end))
end)
run(function() for k in next, {}, nil, closer("for") do end return "for done" end)
