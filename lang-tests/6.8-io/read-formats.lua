-- Reading by formats: lines, numbers, counts and all, at the ends of files and buffers (6.8).
-- expect: ok
--| nil
--| nil
--| "" "" nil
--| nil
--| nil
--| "" nil
--| "\n" nil
--| "\n" "" nil
--| "\n" nil
--| "" "\n" nil
--| "a" nil
--| "a" nil
--| "a" "" nil
--| "a" nil
--| "" "a" nil
--| "a" nil
--| "a\n" nil
--| "a\n" "" nil
--| "a" "" "\n" nil
--| "" "a\n" nil
--| "a" "b" nil
--| "a\n" "b" nil
--| "a\nb" "" nil
--| "a" "" "\nb" nil
--| "" "a\nb" nil
--| "" "" nil
--| "\n" "\n" nil
--| "\n\n" "" nil
--| "\n" "" "\n" nil
--| "" "\n\n" nil
--| "a\13" "b\13" nil
--| "a\13\n" "b\13\n" nil
--| "a\13\nb\13\n" "" nil
--| "a" "" "\13\n" "b\13\n" nil
--| "" "a\13\nb\13\n" nil
--| "\0" "\0" nil
--| "\0\n" "\0" nil
--| "\0\n\0" "" nil
--| "\0" "" "\n\0" nil
--| "" "\0\n\0" nil
--| "a" "" nil
--| "a\n" "\n" nil
--| "a\n\n" "" nil
--| "a" "" "\n\n" nil
--| "" "a\n\n" nil
--| "integer" 1 0
--| "integer" 2 1
--| "integer" -3 0
--| "integer" 4 0
--| "integer" 31 0
--| "float" -21.0 0
--| "float" 100000.0 0
--| "float" 100000.0 1
--| nil nil 0
--| "float" 0.5 0
--| "float" 5.0 0
--| nil nil 0
--| nil nil 0
--| nil nil 2
--| nil nil 0
--| nil nil 1
--| "float" 1.0 2
--| "float" 1.5 2
--| "float" 100000.0 2
--| nil nil 3
--| nil nil 3
--| nil nil 1
--| nil nil 0
--| "integer" 12 0
--| "integer" 1 4
--| "integer" 9223372036854775807 0
--| "float" 9.2233720368548e+18 0
--| "float" inf 0
--| "float" 16.0 0
--| "float" 0.0625 1
--| "integer" 12 3
--| "integer" 1 2
--| "integer" 1 2
--| nil nil 2
--| "integer" 16 0
--| "float" 100.0 0
--| "float" 0.5 0
--| "float" 1.1111111111111e+198 0
--| "float" 1.1111111111111e+199 0
--| nil nil 1
--| nil nil 100
--| "integer" -1 0
--| "float" 100000.0 0
--| 1 2 3 nil
--| "x 4"
--| 10 "" 20 "\n" ""
--| 350.0 "end"
--| 10000	10001	end	nil
--| 100000	400000	nil	0
--| 4096	8191	nil
--| "line" "rest"
--| 12 " line\n" "x"
--| "abc" 0 "abc"
--| 7
--| false	bad argument #2 to '?' (invalid format)
--| false	bad argument #2 to '?' (invalid format)
--| false	bad argument #2 to '?' (invalid format)
--| false	bad argument #2 to '?' (invalid format)
--| false	bad argument #2 to '?' (number has no integer representation)
--| false	bad argument #2 to '?' (string expected, got table)
--| false	bad argument #2 to '?' (string expected, got nil)
--| false	bad argument #3 to '?' (invalid format)

local name = os.tmpname()
local function with(text, action)
  local f = io.open(name, "wb"); f:write(text); f:close(); f = io.open(name, "rb"); action(f)
  f:close()
end
local function show(...)
  local r = table.pack(...)
  for i = 1, r.n do
    r[i] = type(r[i]) == "string" and ("%q"):format(r[i]):gsub("\n", "n") or tostring(r[i])
  end
  print(table.concat(r, " ", 1, r.n))
end
for _, text in ipairs({ "", "\n", "a", "a\n", "a\nb", "\n\n", "a\r\nb\r\n", "\0\n\0", "a\n\n" }) do
  with(text, function(f) show(f:read("l", "l", "l")) end)
  with(text, function(f) show(f:read("L", "L", "L")) end)
  with(text, function(f) show(f:read("a", "a", "l")) end)
  with(text, function(f) show(f:read(1, 0, 2, 100, 0)) end)
  with(text, function(f) show(f:read(0, "a", 0)) end)
end
for _, text in ipairs({ "1", " 2 ", "\t\n-3", "+4", "0x1F", "-0xa.8p1", "1e5", "1e+5x", "1e", ".5",
  "5.", ".", "-", "+-1", "0x", "0xg", "1..2", "1.5.5", "1e5e5", "nan", "inf", "x", "", "00012",
  "1_000", "9223372036854775807", "9223372036854775808", "1e400", "0x1p4", "0x1P-4z", "12abc",
  "1 2", "1,2", "- 1", "0X10", "1E2", "0x.8", ("1"):rep(199), ("1"):rep(200), ("1"):rep(201),
  ("0"):rep(300), "0x" .. ("f"):rep(30), "1e" .. ("0"):rep(50) .. "5" }) do
  with(text, function(f) local n = f:read("n"); show(math.type(n), n, #(f:read("a"))) end)
end
with("1 2 3 x 4", function(f) show(f:read("n", "n", "n", "n", "n")); show(f:read("a")) end)
with("10\n20\n", function(f) show(f:read("n", "l", "n", "L", "a")) end)
with("3.5e2end", function(f) show(f:read("n", "a")) end)
local long = ("0123456789"):rep(1000)
with(long .. "\n" .. long .. "\n" .. "end", function(f)
  local a, b = f:read("l", "L"); print(#a, #b, f:read(3), f:read(1))
end)
with(long:rep(50), function(f) print(#f:read(1e5), #f:read(400001), f:read(1), #f:read("a")) end)
with(("x"):rep(4096) .. "\n" .. ("y"):rep(8191) .. "\n", function(f)
  print(#f:read(), #f:read(), f:read())
end)
with("line\nrest", function(f) show(f:read("*l", "*a")) end)
with("12 line\nx", function(f) show(f:read("*n", "*L", "*l")) end)
with("abc", function(f) show(f:read("line"), f:seek("set"), f:read("all")) end)
with("7", function(f) show(f:read("number")) end)
with("abc", function(f)
  print(pcall(f.read, f, "x")); print(pcall(f.read, f, "")); print(pcall(f.read, f, "*"))
  print(pcall(f.read, f, "**l")); print(pcall(f.read, f, 1.5)); print(pcall(f.read, f, {}))
  print(pcall(f.read, f, nil)); print(pcall(f.read, f, "l", "z"))
end)
