-- Functions of the library that machine code computes, with all kinds of arguments (6.4, 6.7).
-- expect: ok
--| sqrt	4077812970
--| abs	1721967280
--| floor	909917242
--| ceil	2496076100
--| max	2415281642
--| min	3291920070
--| byte at	2087594356
--| byte	1657474696
--| char	2935729716
--| len	2639094702
--| sub one	3307443283
--| sub	3124631273
--| type	1394370184
--| nothing	3643236140
--| sqrt	4077812970
--| abs	1721967280
--| floor	909917242
--| ceil	2496076100
--| max	2415281642
--| min	3291920070
--| byte at	2087594356
--| byte	1657474696
--| char	2935729716
--| len	2639094702
--| sub one	3307443283
--| sub	3124631273
--| type	1394370184
--| nothing	3643236140
--| sqrt	3705376770
--| abs	2496320408
--| floor	1532229224
--| ceil	914000918
--| max	3291920070
--| min	2415281642
--| byte at	124650648
--| byte	4026533492
--| char	3407780618
--| len	395556802
--| sub one	1430602838
--| sub	1506131780
--| type	1394370184
--| nothing	3643236140

local sqrt, abs, floor = math.sqrt, math.abs, math.floor
local ceil, max, min = math.ceil, math.max, math.min
local byte, char, len, sub = string.byte, string.char, string.len, string.sub

-- the sign of 0 / 0, which its text shows, depends on the processor
local values = { 0, 1, -1, 2.5, -2.5, 0.0, -0.0, 1e300, -1e300, 1 / 0, -1 / 0, abs(0 / 0),
  math.maxinteger, math.mininteger, 2 ^ 53, 2 ^ 63, -2 ^ 63, "10", "abc",
  "", true, false, {}, print }
local seconds = { 1, 2, 5, 6, -1, 0, 2.0, 1.5, "2", 7.25, -7.25, 0 / 0, math.mininteger }

local function show(...)
  local t = table.pack(...)
  for i = 1, t.n do
    local v = t[i]
    if math.type(v) == "float" then
      t[i] = v ~= v and "nan" or string.format("%a", v)
    elseif type(v) == "number" or type(v) == "string" then
      t[i] = math.type(v) and math.type(v) .. v or v
    else
      t[i] = type(v)
    end
  end
  return table.concat(t, " ")
end

-- each with arguments that it is warmed up with
local functions = {
  { "sqrt", function(a) local r = sqrt(a) return r end, 9.0 },
  { "abs", function(a) local r = abs(a) return r end, -3 },
  { "floor", function(a) local r = floor(a) return r end, 2.5 },
  { "ceil", function(a) local r = ceil(a) return r end, 2.5 },
  { "max", function(a, b) local r = max(a, b) return r end, 7, 3 },
  { "min", function(a, b) local r = min(a, b) return r end, 7.5, 3.5 },
  { "byte at", function(a, b) local r = byte(a, b) return r end, "hello", 2 },
  { "byte", function(a) local r = byte(a) return r end, "hello" },
  { "char", function(a) local r = char(a) return r end, 65 },
  { "len", function(a) local r = len(a) return r end, "hello" },
  { "sub one", function(a, b) local r = sub(a, b, b) return r end, "hello", 2 },
  { "sub", function(a, b) local r = sub(a, b) return r end, "hello", 2 },
  { "type", function(a) local r = type(a) return r end, 1 },
  { "nothing", function(a) sqrt(a) floor(a) return 1 end, 4 },
}

local function checksum(hash, text)
  for i = 1, #text do
    hash = (hash * 31 + text:byte(i)) & 0xFFFFFFFF
  end
  return hash
end

local function run()
  for _, f in ipairs(functions) do
    local hash = 0
    for _, a in ipairs(values) do
      hash = checksum(hash, show(pcall(f[2], a)))
      for _, b in ipairs(seconds) do
        hash = checksum(hash, show(pcall(f[2], a, b)))
      end
    end
    print(f[1], hash)
  end
end

for _, f in ipairs(functions) do
  for _ = 1, 300 do
    f[2](f[3], f[4])
  end
end
run()
run()
-- the calls meet other functions
sqrt, abs, floor, ceil, max, min = abs, sqrt, ceil, floor, min, max
byte, char, len, sub = len, len, byte, string.upper
run()
