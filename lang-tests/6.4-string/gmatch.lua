-- string.gmatch: words, captures, empty matches and anchors (6.4).
-- expect: ok
--| <one><two><three>
--| a:1 b:2 
--| 1 2 3 4 
--| [][][][]
--| [a][b][]
--|
--| world 
--| l 
--| a	b	nil
--| false	bad argument #1 to 'string.gmatch' (string expected, got no value)
--| false	bad argument #2 to 'string.gmatch' (string expected, got no value)
--| false	unfinished capture
--| 5

for w in ("one two  three"):gmatch("%a+") do io.write("<", w, ">") end print()
for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do io.write(k, ":", v, " ") end print()
for p in ("abc"):gmatch("()") do io.write(p, " ") end print()
for s in ("abc"):gmatch("x*") do io.write("[", s, "]") end print()
for s in ("aXbX"):gmatch("[^X]*") do io.write("[", s, "]") end print()
for s in ("hello"):gmatch("^h") do io.write("anchored?", s) end print()
for s in ("hello world"):gmatch("%w+", 7) do io.write(s, " ") end print()
for s in ("hello"):gmatch("l", -2) do io.write(s, " ") end print()
local it = ("a b"):gmatch("%a")
print(it(), it(), it(), it())
print(pcall(string.gmatch)); print(pcall(string.gmatch, "x")); print(pcall(("x"):gmatch("(")))
local n = 0
for a in ("aaaa"):gmatch("a-") do n = n + 1 end
print(n)
