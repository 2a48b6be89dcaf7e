-- needs: lpeg
-- package: lua-lpeg
local lpeg, re = require "lpeg", require "re"

local space = lpeg.S " \t\n" ^ 0
local number = lpeg.C(lpeg.R "09" ^ 1) / tonumber * space
local function fold(a, op, b, ...)
  if not op then return a end
  local r = op == "+" and a + b or op == "-" and a - b or op == "*" and a * b or a // b
  return fold(r, ...)
end
local E, T, F = lpeg.V "E", lpeg.V "T", lpeg.V "F"
local expression = lpeg.P {
  "E",
  E = T * (lpeg.C(lpeg.S "+-") * space * T) ^ 0 / fold,
  T = F * (lpeg.C(lpeg.S "*/") * space * F) ^ 0 / fold,
  F = number + "(" * space * E * ")" * space,
} * -1
print(expression:match "1 + 2 * (3 - 4) * 10", expression:match "1 +")

local t = re.compile([[ list <- {| {%w+} (',' {%w+})* |} ]]):match "a,b,c"
print(#t, t[1], t[3])

-- captures that call back, with errors that pass the matcher
local seen = {}
local each = (lpeg.Cmt(lpeg.C(lpeg.R "az"), function(_, i, c) seen[#seen + 1] = c return i end)) ^ 1
print(each:match "hello", table.concat(seen, "."))
print((pcall(lpeg.match, lpeg.P(1) / function() error({ 7 }) end, "x")))
print(select(2, pcall(lpeg.match, lpeg.P(1) / function() error({ 7 }) end, "x"))[1])
print(pcall(lpeg.P, { "x" }))
local words = lpeg.Ct((lpeg.C(lpeg.R "az" ^ 1) + 1) ^ 0)
local many = words:match(("abc def "):rep(2000))
print(#many, many[1], many[4000])
print(lpeg.Cs((lpeg.P "a" / "b" + 1) ^ 0):match(("xa"):rep(5)))
