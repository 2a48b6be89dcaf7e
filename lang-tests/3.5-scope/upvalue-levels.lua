-- Upvalues pass through functions that do not use them (3.5).
-- expect: ok
--| outer	one	two
--| two	one	outer
--| new	newb	newc
--| newc	newb	new
--| new
--| new	one	two
--| 2 4 6 8

local a = "outer"
local function l1()
  local b = "one"
  return function()
    local c = "two"
    return function()
      return function(set)
        if set then a, b, c = set, set .. "b", set .. "c" end
        return a, b, c
      end, function() return c, b, a end
    end
  end
end
local f, g = l1()()()
print(f()); print(g())
print(f("new")); print(g()); print(a)
local h = l1()()()
print(h())
local function recursive(n, acc)
  local function add(x) acc[#acc + 1] = x + n; return acc end
  if n > 0 then recursive(n - 1, acc); add(n) end
  return acc
end
print(table.concat(recursive(4, {}), " "))
