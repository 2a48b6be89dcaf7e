-- math.max and math.min of integers and floats in hot code (6.7).
-- expect: ok
--| integer 2	integer 1	float 2.5	integer 1
--| integer 0	float 1.5	integer 0	integer 3	float 2.5
--| 972	integer 0	integer 0	true
--| integer 0 integer 0, integer 0 float -0.0, integer 0 float 0.0, integer 1 integer 1, integer 0 integer -1, integer 2 integer 2, float 2.5 float 2.5, integer 0 float -2.5, integer 9007199254740992 float 2.5, integer 9007199254740993 float 2.5, integer 0 integer -9007199254740993, float 9.007199254741e+15 float 2.5, float inf float 2.5, integer 0 float -inf, integer 9223372036854775807 float 2.5, integer 0 integer -9223372036854775808, float 9.2233720368548e+18 float 2.5, integer 0 float -9.2233720368548e+18
--| false	attempt to compare number with string
--| false	attempt to compare number with string
--| false	attempt to compare number with table
--| false	attempt to compare number with boolean
local function show(v) return math.type(v) .. " " .. tostring(v) end
local function hot(f, ...)
  local r
  for _ = 1, 300 do r = f(...) end
  return show(r)
end
local function max(a, b) return math.max(a, b) end
local function min(a, b) return math.min(a, b) end
local function positive(x) return math.max(0, x) end
local function at_most(x) return math.min(x, 2.5) end
local big, huge, nan = 1 << 53, math.huge, 0 / 0
local values = { 0, -0.0, 0.0, 1, -1, 2, 2.5, -2.5, big, big + 1, -big - 1, 2.0 ^ 53, huge, -huge,
  math.maxinteger, math.mininteger, 2.0 ^ 63, -2.0 ^ 63 }
-- compiled for one kind, then for all
print(hot(max, 1, 2), hot(min, 1, 2), hot(max, 1, 2.5), hot(min, 2.5, 1))
print(hot(positive, -1.5), hot(positive, 1.5), hot(positive, -3), hot(positive, 3), hot(at_most, 7))
local n, sum = 0, {}
for _ = 1, 3 do
  for _, a in ipairs(values) do
    for _, b in ipairs(values) do
      local x, y = max(a, b), min(a, b)
      n = n + 1
      -- the first unless the second is strictly better, with its own type
      local wanted_x, wanted_y = a, a
      if a < b then wanted_x = b end
      if b < a then wanted_y = b end
      if show(x) ~= show(wanted_x) or show(y) ~= show(wanted_y) then
        print(show(a), show(b), show(x), show(y))
      end
    end
  end
end
print(n, show(max(0, nan)), show(min(0, nan)), tostring(max(nan, 0)) == tostring(nan))
for _, x in ipairs(values) do sum[#sum + 1] = show(positive(x)) .. " " .. show(at_most(x)) end
print(table.concat(sum, ", "))
for _, bad in ipairs { "3", "x", {}, true } do
  local ok, e = pcall(positive, bad)
  print(ok, ok and show(e) or (e:gsub("^.-:%d+: ", "")))
end
