-- break leaves the innermost loop (3.3.4).
-- expect: ok
--| 1,1 2,1 3,1 
--| 3
--| found	2
--| 3	10	30
--| s:1: break outside loop at line 1
--| s:1: break outside loop at line 1
--| s:1: break outside loop at line 1
--| s:1: break outside loop at line 1
--| s:1: break outside loop at line 1

for i = 1, 3 do
  for j = 1, 3 do
    if j == 2 then break end
    io.write(i, ",", j, " ")
  end
end
print()
local n = 0
while true do repeat n = n + 1; if n > 2 then break end until false; break end
print(n)
for k, v in pairs({ 1, 2, 3 }) do if v == 2 then print("found", k) break end end
for i = 1, 2 do do break end end
local fs = {}
for i = 1, 5 do
  local x = i * 10
  fs[#fs + 1] = function() return x end
  if i == 3 then break end
end
print(#fs, fs[1](), fs[3]())
while true do if true then break else print("never") end end
for i = 1, 2 do break; end
local function try(s) print(select(2, load(s, "=s"))) end
try("break")
try("do break end")
try("function f() break end")
try("while true do function f() break end end")
try("if x then break end")
