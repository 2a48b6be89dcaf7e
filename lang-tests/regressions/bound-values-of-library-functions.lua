-- Programs neither see nor change what functions of the library are bound to, which compiled code
-- relies on.
-- expect: ok
--| 0	0	0	0	0	0
--| 6	6	20

local function sum(t)
  local total = 0
  for _, v in ipairs(t) do total = total + v end
  for _, v in pairs(t) do total = total + v end
  return total / 2
end
for _ = 1, 100 do sum({ 1, 2, 3 }) end

local function number(...) return select('#', ...) end
print(number(debug.setupvalue(ipairs, 1, 5)), number(debug.setupvalue(pairs, 1, math.abs)),
  number(debug.getupvalue(ipairs, 1)), number(debug.getupvalue(pairs, 1)),
  number(debug.getupvalue(utf8.codes, 1)), number(debug.getupvalue(io.write, 1)))
print(sum({ 1, 2, 3 }) // 1 | 0, sum({ 1, 2, 3 }) // 1 | 0, sum({ 10, 20, -10 }) // 1 | 0)
