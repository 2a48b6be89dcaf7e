-- Operators and comparisons that meet integers and floats at the same place, up to their limits
-- (3.4.1, 3.4.4).
-- expect: ok
--| 484	918633070	2.5 -9223372036854775808 -9.2233720368548e+18 9.2233720368548e+18 -2.3058430092137e+19 -2.5 -2.7105054312138e-19 0.0 false false false true true
--| attempt to add a 'number' with a 'string'	attempt to compare number with string	attempt to perform arithmetic on a table value (local 'a')
--| 7	32	-2	attempt to compare table with number	attempt to compare number with nil

local function add(a, b) return a + b end
local function sub(a, b) return a - b end
local function mul(a, b) return a * b end
local function neg(a) return -a end
local function div(a, b) return a / b end
local function pow(a, b) return a ^ b end
local function lt(a, b) return a < b end
local function le(a, b) return a <= b end
local function gti(a) return a > 5 end
local function gei(a) return a >= -3 end
local function lti(a) return a < 7 end
local vals = { 1, 2.5, -3, 0, -0.0, 0.0, math.maxinteger, math.mininteger, 2^53, 2^53 + 2, 1 << 53 }
local more = { 1 / 0, -1 / 0, 7, 7.0, 5, 5.0, 5.5, -3.0, 1e308, (1 << 53) + 1, -(1 << 53) - 1 }
for _, v in ipairs(more) do
  vals[#vals + 1] = v
end
local out = {}
local small = {1, 2, 2.5, -3, 0, 0.5, 7, 7.0}
local _
for _ = 1, 60 do
  for _, a in ipairs(small) do
    for _, b in ipairs(small) do
      _ = add(a, b), sub(a, b), mul(a, b), neg(a), div(a, b), pow(a, b)
      _ = lt(a, b), le(a, b), gti(a), gei(a), lti(a)
    end
  end
end
for _, a in ipairs(vals) do
  for _, b in ipairs(vals) do
    local numbers = { a, b, add(a, b), sub(a, b), mul(a, b), neg(a), div(a, b), pow(a, b) }
    for k, v in ipairs(numbers) do numbers[k] = v ~= v and "nan" or tostring(v) end
    local line = table.concat(numbers, " ")
    local order = string.format("%s %s %s %s %s", lt(a, b), le(a, b), gti(a), gei(a), lti(a))
    out[#out + 1] = line .. " " .. order
  end
end
local sum = 0
for n, line in ipairs(out) do
  for at, byte in ipairs({ line:byte(1, -1) }) do sum = (sum * 31 + byte * at + n) % 1000000007 end
end
print(#out, sum, out[30])
local function failure(...)
  local _, message = pcall(...)
  return (message:gsub("^.-:%d+: ", ""))
end
print(failure(add, 1, "x"), failure(lt, 1, "x"), failure(neg, {}))
print(add("3", 4), mul(2, "0x10"), neg("2"), failure(lt, {}, 2.5), failure(lt, 1, nil))
