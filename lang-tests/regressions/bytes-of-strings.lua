-- `string.byte` has no result for a position outside of the string, also where the code expects
-- one, and fewer results than wanted at the ends of the string.
-- expect: ok

local text = "abcd"

local function count(...) return select("#", ...) end
local function second(_, b) return b end
local function pass(i) return count(0, text:byte(i)) end
local function take(i) return second(0, text:byte(i)) end
local function tail(i) return text:byte(i) end
local function list(i) return #{ 0, text:byte(i) } end
local function larger(i) return math.max(0, text:byte(i)) end
local function nested(i) return second(0, math.max(97, text:byte(i))) end
local function last(i) return second(0, tail(i)) end

-- Positions are outside of the string only once code for those inside exists.
for round = 1, 400 do
  local i = round % 4 + 1
  assert(pass(i) == 2 and take(i) == 96 + i and tail(i) == 96 + i and list(i) == 2)
  assert(larger(i) == 96 + i and nested(i) == 96 + i and last(i) == 96 + i)
  assert(count(tail(i)) == 1)
  if round > 300 then
    for _, out in ipairs({ 5, 0, -5, math.maxinteger, math.mininteger }) do
      assert(pass(out) == 1 and take(out) == nil and list(out) == 1)
      assert(count(tail(out)) == 0 and tail(out) == nil and last(out) == nil)
      assert(larger(out) == 0 and nested(out) == 97)
    end
    assert(pass(-1) == 2 and take(-1) == 100 and tail(-4) == 97 and take("2") == 98)
    assert(take(2.0) == 98 and not pcall(take, 2.5) and not pcall(take, {}))
  end
end

local function three(s, i, j) local a, b, c = s:byte(i, j) return a, b, c end
local function word(s, i)
  local a, b, c, d = string.byte(s, i, i + 3)
  return a | b << 8 | c << 16 | d << 24
end
local function check(i, j, ...)
  local a, b, c = three(text, i, j)
  local x, y, z = ...
  assert(a == x and b == y and c == z)
end

for round = 1, 400 do
  check(1, 3, 97, 98, 99)
  check(2, 4, 98, 99, 100)
  assert(word(text, 1) == 0x64636261)
  if round > 300 then
    check(1, 4, 97, 98, 99)
    check(2, 3, 98, 99)
    check(3, 5, 99, 100)
    check(4, 6, 100)
    check(5, 7)
    check(0, 2, 97, 98)
    check(-3, -1, 98, 99, 100)
    check(3, 1)
    check(math.maxinteger - 1, math.mininteger)
    check(math.maxinteger, math.mininteger + 1)
    check("1", 3, 97, 98, 99)
    check(1.0, 3.0, 97, 98, 99)
    assert(not pcall(three, text, 1.5, 3) and not pcall(three, nil, 1, 3))
    assert(not pcall(word, text, 2))
  end
end
