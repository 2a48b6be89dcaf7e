-- Elements that are stored beyond the end of an array that has room for them (2.1).
-- expect: ok
--| 400	97	104	104	nil
--| 8062200
--| nil	nil	8	nil
--| 8
--| 6	nil	nil
--| 8	5.5	7.5	x	y
--| nil
--| 200	15424
--| 5	nil
-- the last one of a multiple assignment is stored first
local t = {}
for i = 1, 400, 8 do
  t[i], t[i+1], t[i+2], t[i+3], t[i+4], t[i+5], t[i+6], t[i+7] = string.byte("abcdefgh", 1, 8)
end
print(#t, t[1], t[8], t[400], t[401])
local sum = 0
for i, v in ipairs(t) do sum = sum + i * v end
print(sum)

-- with holes, which are filled later or never
local u = { 1, 2, 3, 4 }
u[5] = 5
u[8] = 8
print(u[6], u[7], u[8], u[9])
u[7] = 7
u[6] = 6
print(#u)
u[8] = nil
u[7] = nil
print(#u, u[7], u[8])

-- traversals that assign
local w = { 1, 2, 3, 4 }
w[5] = 5
w[7] = 7
w.x = "x"
w.y = "y"
local n = 0
for k, v in pairs(w) do
  n = n + 1
  if type(v) == "number" then w[k] = v + 0.5 end
end
print(n, w[5], w[7], w.x, w.y)
for k in next, w do w[k] = nil end
print(next(w))

-- objects, and a collection in between
local o = {}
for i = 4, 200, 4 do
  o[i] = { i }
  o[i - 1], o[i - 2], o[i - 3] = { i - 1 }, "s" .. i, i
  if i % 40 == 0 then collectgarbage() end
end
local total = 0
for i = 1, #o do
  local v = o[i]
  total = total + (type(v) == "table" and v[1] or type(v) == "string" and #v or v)
end
print(#o, total)

-- the same element set and cleared in turn
local s = { 1, 2, 3, 4, 5 }
for i = 1, 1000 do
  s[8] = i
  s[8] = nil
end
print(#s, s[8])
