-- Runs functions with each operator and each kind of operands for which stitched code has a
-- variant: at first with operands of one kind, for which the code is stitched, and then with all
-- others. Prints the number of functions, and a number that depends on all of their results.
local kinds = {
  integers = { { 3, 4, 5 }, { 7, -2, 1 }, { 2, 2, 2 } },
  floats = { { 2.5, 1.5, 0.5 }, { -0.5, 8.0, 2.25 }, { 1.5, 1.5, 1.5 } },
  mixed = { { 3, 1.5, 2 }, { 6, 2.0, 5 }, { 1, 0.5, 1 } },
  mixed_back = { { 1.5, 3, 2.5 }, { 2.0, 6, 0.5 }, { 0.5, 1, 2.0 } },
  others = { { "3", 4, "5" }, { 7, "-2", 1 }, { "2", "2", 2 } },
}
local lists = { floats = { 1.5, 2.5, 3.5 }, mixed = { true, false, true }, others = { "a", {}, 1 } }
local nan = 0 / 0
local late = {
  { 3, 4, 5 }, { 2.5, 1.5, 0.5 }, { 3, 1.5, 2 }, { 1.5, 3, 2.5 }, { nan, 1, 2.5 }, { 1, nan, 2 },
  { "3", 4, 5 }, { 2.0, 2, 2.0 }, { math.maxinteger, 1, 2.0 }, { 3, 0, 0 }, { {}, 1, 2 },
  { 1, {}, 2 }, { true, nil, 1 },
}

local function show(ok, ...)
  local shown = { tostring(ok) }
  for n = 1, select("#", ...) do
    local v = select(n, ...)
    v = type(v) == "table" and "table" or v ~= v and "nan" or tostring(v)
    shown[n + 1] = v:gsub("^.-:%d+: ", "")
  end
  return table.concat(shown, " ")
end

-- The results of all functions, combined into a number.
local sum, count = 0, 0
local function run(source)
  for _, kind in ipairs { "integers", "floats", "mixed", "mixed_back", "others" } do
    local f = assert(load("local x, y, z, t = ... local n = 0 " .. source, "=f"))
    local results = {}
    for _ = 1, 3 do
      for _, args in ipairs(kinds[kind]) do
        local list = lists[kind] and { table.unpack(lists[kind]) } or { 5, 6, 7 }
        results[#results + 1] = show(pcall(f, args[1], args[2], args[3], list))
      end
    end
    for _, args in ipairs(late) do
      results[#results + 1] = show(pcall(f, args[1], args[2], args[3], { 1.5, true, "a" }))
    end
    local text = table.concat(results, "\n")
    for n = 1, #text do sum = (sum * 31 + text:byte(n)) % 1000000007 end
    count = count + 1
  end
end

local forms = {
  "if %s then return 1 end return 2",
  "if not (%s) then return 1 end return 2",
  "if %s or n then return 1 end return 2",
  "if (%s) and n then return 1 end return 2",
  "return %s",
  "return not (%s)",
  "repeat n = n + 1 if n == 4 then return n end until %s return -n",
  "repeat n = n + 1 if n == 4 then return n end until not (%s) return -n",
  "while %s do n = n + 1 if n == 4 then return n end end return -n",
  "::top:: n = n + 1 if n == 4 then return n end if %s then goto top end return -n",
  "::top:: n = n + 1 if n == 4 then return n end if not (%s) then goto top end return -n",
}
local comparisons = { "<", "<=", ">", ">=", "==", "~=" }
local function compare(left, right)
  for _, operator in ipairs(comparisons) do
    for _, form in ipairs(forms) do
      run(form:format(("%s %s %s"):format(left, operator, right)))
    end
  end
end
for _, right in ipairs { "y", "2", "2.0", "2.5", "'a'", "nil", "70000", "(y * z)" } do
  compare("x", right)
  compare("(x * y)", right)
end
for _, left in ipairs { "2", "2.5", "70000" } do
  compare(left, "x")
  compare(left, "(x * y)")
end
for _, form in ipairs(forms) do run(form:format("x")) end
for _, form in ipairs(forms) do run(form:format("t[n]")) end

local operators = { "+", "-", "*", "/", "%", "^", "//", "&", "|", "~", "<<", ">>", ".." }
local operands = { "x", "y", "2", "2.5", "70000", "(x * y)", "(z - x)" }
for _, operator in ipairs(operators) do
  for _, left in ipairs(operands) do
    for _, right in ipairs(operands) do
      run(("n = %s %s %s return n"):format(left, operator, right))
    end
  end
  run(("local p = x * y local q = p %s p return q"):format(operator))
  run(("local p, q = x * y p = p %s z q = z %s p return p, q"):format(operator, operator))
  run(("x = x %s y y = y %s x return x %s z"):format(operator, operator, operator))
end
for _, operator in ipairs { "-", "~", "not ", "#" } do
  run(("return %sx"):format(operator))
  run(("return %s(x * y)"):format(operator))
  run(("local p = x * y p = %sp return p + z"):format(operator))
end
for _, access in ipairs {
  "return t[1]", "return t[x]", "return t[n + 1], t[n + 2]", "t[1] = x return t[1]",
  "t[n + 1] = x * y return t[1], t[2]", "t[x] = y return t[x]", "t.f = x * y return t.f",
  "t.f = x local f = t.f return f, t['g']", "return t[2] + t[1]", "t[1] = nil return #t",
  "for i = 1, 3 do n = n + i end return n", "for i = 1.0, 3 do n = n + i * y end return n",
  "for i = x, z do n = n + 1 if n == 9 then break end end return n",
  "for _, v in ipairs(t) do n = n + v end return n",
  "t[1] = 2.5 t[n + 2] = 8.5 return t[1], t[2]", "t[1] = true t[n + 2] = false return t[1], t[2]",
  "t[1] = x == y t[n + 2] = x < z return t[1], t[2]", "t[n + 1] = 7 return t[1]",
  "t[1] = 'a' t[n + 2] = 'b' t['k' .. n] = 'c' t.f = 1 return t[1], t[2], t.k0, t.f",
  "if x == y then t[1] = z t[2] = 1 end return t[1], t[2]",
  "G = x local g = G G = 1 return g, G", "local c <close> = n > 1 return n",
  "t[1] = t t[n + 2] = t t[x == y] = x return #t", "return setmetatable({}, {__index = t})[2]",
  "while n < 3 do n = n + 1 y = x and z end return y",
  "while n < 3 do n = n + 1 y = x or z end return y", "y = x or z return y",
  "y = x and z return y", "local a, b, c = x * y, nil, false a = a + 1 return a, b, c, n",
} do
  run(access)
end
-- names and constants whose numbers do not fit into the usual operands
local constants = {}
for n = 1, 300 do constants[n] = n + 0.5 end
run("local c = {" .. table.concat(constants, ", ") .. "} return ('s'):rep(2)")
print(count, sum)
