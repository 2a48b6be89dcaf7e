-- A table of more than 16 fields takes the place of a value that machine code knew before.
-- expect: ok
--| 1	2	3
local g = {}
local function written(x)
  g.v = x + 1
  local t = {a=x, b=x, c=x, d=x, e=x, f=x, g=x, h=x, i=x, j=x, k=x, l=x, m=x, n=x, o=x, p=x, q=x}
  return t
end
local function grown(x)
  g.v = x + 1
  local t = {}
  t.a=x t.b=x t.c=x t.d=x t.e=x t.f=x t.g=x t.h=x t.i=x t.j=x t.k=x t.l=x t.m=x t.n=x t.o=x t.p=x
  t.q=x
  return t
end
for i = 1, 200 do written(i) grown(i) end
print(written(1).q, grown(2).q, g.v)
