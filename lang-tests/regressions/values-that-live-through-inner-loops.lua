-- More integers and floats live through inner loops than there are registers; loops exit in the
-- middle when an element or an operand changes its kind, collect, and end early.
-- expect: ok
--| 2050.5000 269.8750 4 5 6 1 2 3 10 11 12 7 8 9
--| 6.38 7.38 8.38 6.25 7.25 8.25 9.5 10.5 11.5 6.5 7.5 8.5
--| 2520.0000 337.5000 5 6 1 2 3 4 9 10 11 12 7 8
--| 4.62 6.50 5.00 4.75 4.50 7.25 8.5 9.5 10.5 11.5 6.5 7.5
--| 3051.5000 414.2500 6 1 2 3 4 5 8 9 10 11 12 7
--| 8.38 4.75 3.50 5.25 7.00 5.75 7.5 8.5 9.5 10.5 11.5 6.5
--| 3642.0000 500.5000 1 2 3 4 5 6 7 8 9 10 11 12
--| 5.50 6.50 7.50 8.50 9.50 10.50 6.5 7.5 8.5 9.5 10.5 11.5
--| 4273.0000 596.6250 2 3 4 5 6 1 12 7 8 9 10 11
--| 4.75 5.25 5.75 6.25 9.75 6.88 11.5 6.5 7.5 8.5 9.5 10.5
--| 4963.0000 703.0000 3 4 5 6 1 2 11 12 7 8 9 10
--| 7.50 7.75 8.00 8.25 5.38 5.25 10.5 11.5 6.5 7.5 8.5 9.5
--| 2296.7500 294.6250 6 1 2 3 4 5 8 9 10 11 12 7
--| false	stopped
--| 1	0x0p+0	0.0
--| 2	-0x0p+0	-0.0
--| 3	1e9999	inf
--| 4	-1e9999	nan
--| 5	0x1p+1	1.4142135623731
--| 6	0x1.1ccf385ebc8ap+1023	1e+154
--| 7	0x0.0000000000001p-1022	2.2227587494851e-162
--| 8	40	6.3245553203368
--| 9	-0x0p+0	nil
--| 10	1e9999	nil

local function work(rows, columns, odd, make)
  local a, b, c, d, e, f = 1, 2, 3, 4, 5, 6
  local g, h, i, j, k, l = 7, 8, 9, 10, 11, 12
  local p, q, r, s, t, u = 0.5, 1.5, 2.5, 3.5, 4.5, 5.5
  local v, w, x, y, z, aa = 6.5, 7.5, 8.5, 9.5, 10.5, 11.5
  local numbers, floats, mixed = {}, {}, {}
  for n = 1, columns do numbers[n], floats[n], mixed[n] = n, n / 4, n end
  local sum, product = 0, 1.0
  for row = 1, rows do
    for n = 1, columns do
      sum = sum + numbers[n]
      product = product + floats[n] * 0.5
    end
    if row == odd then numbers[columns // 2] = 0.25 end
    for n = columns, 1, -1 do
      mixed[n] = make and make(n) and n or mixed[n] + a
      if n == odd then floats[n] = n end
    end
    local n = 0
    while n < columns do
      n = n + 1
      if n == row then sum = sum + f break end
    end
    for _ = 2, 1 do a = nil end
    a, b, c, d, e, f = b, c, d, e, f, a
    g, h, i, j, k, l = l, g, h, i, j, k
    p, q, r, s, t, u = q, r, s, t, u, p + product % 3
    v, w, x, y, z, aa = aa, v, w, x, y, z
  end
  local integers = table.concat({ a, b, c, d, e, f, g, h, i, j, k, l }, " ")
  local rest = string.format("%.2f %.2f %.2f %.2f %.2f %.2f", p, q, r, s, t, u)
  rest = rest .. string.format(" %.1f %.1f %.1f %.1f %.1f %.1f", v, w, x, y, z, aa)
  return string.format("%.4f %.4f %s", sum, product, integers), rest
end

for round = 1, 6 do
  local first, second = work(8 + round, 20 + round, round * 3)
  print(first)
  print(second)
end
print((work(5, 30, 2, function(n) return n % 10 == 0 and collectgarbage("step") or n > 3 end)))
print(pcall(work, 3, 9, 1, function(n) if n == 4 then error("stopped", 0) end return n end))

-- floats keep their payloads where they are stored, and roots of all kinds of numbers
local kept, roots = {}, {}
for round = 1, 40 do
  local values = { 0.0, -0.0, 1 / 0, -1 / 0, 2.0, 1e308, 5e-324, round }
  for n, value in ipairs(values) do
    kept[n] = value
    roots[n] = math.sqrt(value)
  end
  local record = { x = -0.0, y = values[3] }
  record.x, record.y = record.x * 1.0, record.y - 1.0
  kept[9], kept[10] = record.x, record.y
end
for n = 1, 10 do
  print(n, string.format("%q", kept[n]), roots[n] and roots[n] ~= roots[n] and "nan" or roots[n])
end
