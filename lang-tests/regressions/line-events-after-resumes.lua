-- A coroutine that is resumed continues on its line, which raises no second line event.
-- expect: ok
--| l	true	l4 l5 | l6 | l6 | l7 |
--| l	false	l5 | l6 | l6 | l7 |
--| lr	true	l4 r l5 | r l6 | r l6 | r l7 r |
--| lr	false	r l5 | r l6 | r l6 | r l7 r |
--| lc	true	c l4 c l5 c | l6 c | l6 c | l7 |
--| lc	false	l5 c | l6 c | l6 c | l7 |
--| lcr	true	c l4 c r l5 c | r l6 c | r l6 c | r l7 r |
--| lcr	false	r l5 c | r l6 c | r l6 c | r l7 r |

local first = debug.getinfo(1, "l").currentline
local function run(mask, early)
  local events = {}
  local co = coroutine.create(function()
    local a = coroutine.yield(1) local x = 1
    local y = 2 coroutine.yield(2)
    for i = 1, 2 do coroutine.yield(i) end
    return 5
  end)
  local function hook(event, line)
    events[#events + 1] = event:sub(1, 1) .. (line and line - first or "")
  end
  if early then debug.sethook(co, hook, mask) end
  coroutine.resume(co)
  if not early then debug.sethook(co, hook, mask) end
  for _ = 1, 4 do
    coroutine.resume(co)
    events[#events + 1] = "|"
  end
  print(mask, early, table.concat(events, " "))
end
for _, mask in ipairs { "l", "lr", "lc", "lcr" } do run(mask, true) run(mask, false) end
