-- Comparisons with constants that do not fit into the instruction, in hot code (3.4.4).
-- expect: ok
--| 1	==~~~~~~~~~~~~~~~~~~
--| 2	ttttttfftttttttttttt
--| 3	~~~=~~~~~~~~~~~~~~~~
--| 4	ffffffffttffffffffff
--| 5	fffffffffftfffffffff
--| 6	tttttttttttftttttttt
--| 7	ffffffffffffffffffff
--| 2000	139999
--| false	false	false
local function integer(x) if x == 100000 then return "=" end return "~" end
local function negative(x) return x ~= -4611686018427387904 end
local function float(x) if x == 0.5 then return "=" end return "~" end
local function whole(x) return x == 3e5 end
local function long(x) return x == "a string that is longer than the forty bytes of short ones" end
local function short(x) return x ~= "short" end
local function never(x) return x == 0/0 end
local long_copy = ("a string that is longer than the forty bytes "):rep(1) .. "of short ones"
local values = { 100000, 100000.0, 99999, 0.5, "0.5", -0.5, -4611686018427387904, -2.0 ^ 62, 3e5,
  300000, long_copy, "short", true, false, {}, print, 0 / 0, math.huge, math.mininteger }
local tests = { integer, negative, float, whole, long, short, never }

-- each test sees values of one kind only, and then all kinds
for round = 1, 3 do
  for _, test in ipairs(tests) do
    for i = 1, 200 do test(values[round]) end
  end
end
for n, test in ipairs(tests) do
  local out = {}
  for i = 1, #values + 1 do
    local last
    for _ = 1, 40 do last = test(values[i]) end
    out[i] = tostring(last):sub(1, 1)
  end
  print(n, table.concat(out))
end

-- in a condition with a value that is known, and in one that has a metamethod
local function known(n)
  local count = 0
  for i = 1, n do
    if i == 70000 then count = count + 1 end
    if i ~= 70000.0 then count = count + 2 end
  end
  return count
end
print(known(1000), known(70000))
local any = setmetatable({}, { __eq = function() return true end })
local function with_any(x) return x == 100000, x == 0.5, x == "short" end
for _ = 1, 300 do with_any(any) end
print(with_any(any))
