-- Measures modules of Debian.
local cjson, lpeg, bit = require "cjson", require "lpeg", require "bit"
local clock = os.clock
local function time(name, f) local t = clock() f() print(name, clock() - t) end
local doc = {}
for i = 1, 200 do
  doc[i] = { id = i, name = "item " .. i, tags = { "a", "b", i },
    price = i * 1.25, ok = i % 2 == 0 }
end
local text = cjson.encode(doc)
time("cjson.decode", function() for i = 1, 1500 do cjson.decode(text) end end)
time("cjson.encode", function() for i = 1, 1500 do cjson.encode(doc) end end)
local P, R, S, C, Ct, V = lpeg.P, lpeg.R, lpeg.S, lpeg.C, lpeg.Ct, lpeg.V
local ws = S" \n\t"^0
local num = C(R"09"^1) / tonumber * ws
local g = P{
  "E",
  E = Ct(V"T" * (C(S"+-") * ws * V"T")^0),
  T = Ct(V"F" * (C(S"*/") * ws * V"F")^0),
  F = num + P"(" * ws * V"E" * P")" * ws,
}
local expr = ("1 + 2 * (3 - 4) / 5 - "):rep(200) .. "7"
time("lpeg.match captures", function() for i = 1, 300 do g:match(expr) end end)
local any = (1 - P"zzz")^0 * P"zzz"
local long = ("abcdefg hij "):rep(10000) .. "zzz"
time("lpeg.match scan", function() for i = 1, 300 do any:match(long) end end)
local band = bit.band
time("bit.band", function()
  local x = 0
  for i = 1, 30000000 do x = x + band(i, 255) end
  assert(x > 0)
end)
