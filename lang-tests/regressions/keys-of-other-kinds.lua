-- An access that has met integral floats as keys so far is compiled for keys that are known to be
-- integers, or strings.
-- expect: ok
--| 5050	8280
--| 5100.0	8370.0
--| 10100	attempt to perform arithmetic on a nil value
--| 10200.0	attempt to perform arithmetic on a nil value
--| 5050	8280
--| 5100.0	8370.0
--| 132.5	210.0	8280

local function g(t,k,flag) if flag then return t[k] end return 0 end
local ints, floats = {}, {}
for i = 1, 100 do ints[i], floats[i] = i, i + 0.5 end
local function integer_keys(t, n, no)
  local s = 0
  for i = 1, n do s = s + g(t, (i % 100 + 1) / 1, true) + g(t, i, no) end
  return s
end
local function string_keys(t, n, no)
  local s = 0
  for i = 1, n do
    s = s + g(t, (i % 100 + 1) / 1, true) + g(t, i % 100 + 1, true) + g(t, "x", no)
  end
  return s
end
local function float_keys(t, n, no)
  local s = 0
  for i = 1, n do s = s + g(t, i % 100 + 1, true) + g(t, i / 1, no) end
  return s
end
for _, f in ipairs({ integer_keys, string_keys, float_keys }) do
  for _, t in ipairs({ ints, floats }) do
    for i = 1, 100 do f(t, 100, false) end
    print(f(t, 100, false), (tostring(select(2, pcall(f, t, 90, true))):gsub("^.-:%d+: ", "")))
  end
end
ints.x, floats.x = 0.25, "7"
print(string_keys(ints, 10, true), string_keys(floats, 10, true), integer_keys(ints, 90, true))
