-- `select` with a variable index returned a table whose fields were still taken to be known: the
-- optimizing compiler relied on no other value being that new table.
-- expect: ok
--| 150 150 150
local function pick(n, ...) return (select(n, ...)) end
local function f(n)
  local s = 0
  for i = 1, n do
    local o = {x = 0}
    local p = pick(n // n, o, nil)
    local a = p.x
    o.x = 1
    s = s + p.x
  end
  return s
end
print(f(150) .. " " .. f(150) .. " " .. f(150))
