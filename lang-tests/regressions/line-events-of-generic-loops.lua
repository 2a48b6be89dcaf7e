-- The first call of an iterator raises no line event, as it belongs to the instruction that begins
-- the loop; later calls do (6.10).
-- expect: ok
--| 1 3 4 5 3 5 3 6
--| 1 3 4 6
--| 1 2 3 2 3 2 4
--| 1 3 4 3 3 5
--| 1 3 4 5 3 5 3 6
--| 1 3 4 6
--| 1 2 3 2 3 2 4
--| 1 3 4 3 3 5
--| 1 3 4 5 3 5 3 6
--| 1 3 4 5 3 5 3 6
--| 1 2 3 2 3 2 4
--| 1 3 4 3 3 5
--| 2 3 2 4

local function events(source, ...)
  local f = load(source, "=c")
  local lines = {}
  debug.sethook(function(_, line)
    if debug.getinfo(2, "S").source == "=c" then lines[#lines + 1] = line end
  end, "l")
  f(...)
  debug.sethook()
  print(table.concat(lines, " "))
end
local function calls_of_lua(n)
  return function(_, i) if i < n then return i + 1 end end, nil, 0
end
for _, iterate in ipairs { ipairs, pairs, function() return calls_of_lua(2) end } do
  events("local iterate, t = ...\nfor k in\niterate(t)\ndo\nlocal x = k\nend", iterate, { 1, 2 })
  events("local iterate, t = ...\nfor k in\niterate(t)\ndo\nlocal x = k\nend", iterate, {})
  events("local iterate, t = ...\nfor k in iterate(t) do\nlocal x = k\nend", iterate, { 1, 2 })
  events("local iterate, t = ...\nfor k in\niterate(t)\ndo\nend", iterate, { 1, 2 })
end
events("for k in\n(function() end)\ndo\nend")
