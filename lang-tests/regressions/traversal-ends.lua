-- At the end of a traversal both variables of the loop are nil in machine code, which says so of
-- their home slots, too. The self-check compares these before the loop is closed.
-- expect: ok

local function nothing() end
local function id(v) return v end
local last, calls = nil, 0
assert(pcall(function()
  local acc, o, log = 0, {}, {}
  for i = 1, 60 do
    nothing()
    for k, w in next, { 10, 20, 30 } do
      for n = 1, 40 do
        local name = debug.getlocal(1, n)
        if not name then break end
        if name == "(for state)" then log[n % 9 + 1] = name end
      end
      acc = w
    end
    o.m = o.m or function(a, ...) return nothing, ... end
    id(tostring(select(1, o:m())))
    calls = calls + 1
  end
  last = acc
end))
assert(last == 30 and calls == 60)
