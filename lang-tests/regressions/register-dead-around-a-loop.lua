-- Optimized code took what a register held before calls for what its home slot holds after them:
-- the register of `a or 1` is dead there, but counted as live around the outer loop.
-- expect: ok
--| true	table	table	nil	0	3	2
--| true	table	table	nil	0	3	2
--| true	table	table	nil	0	3	2
--| true	table	table	nil	0	3	2
--| true	number	number	nil	0	3	2
G = {x = 1}
local T, Q = {1, {}, "x"}, {1, 2, 3}
local function f(i, a, b)
  local c, d, n, m = 1, nil, 0, 1
  for k in ipairs(Q) do
    c = k
    for j = 1, i % 4 do Q[i % 3 + 1] = a or 1 end
    n = i - i
    m = n + #T
    G.x = select("#", c, d)
    c = type(b)
  end
  return a, b, c, d, n, m
end
local function deep(n) if n > 0 then return deep(n - 1) + 1 end return 0 end
for i = 1, 40 do
  deep(9)
  local r = table.pack(pcall(f, i, T, i % 5 == 0 and 0.5 or T))
  if i % 8 == 0 then print(r[2] == T, type(r[3]), r[4], r[5], r[6], r[7], G.x) end
end
