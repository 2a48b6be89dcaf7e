-- io.lines and file:lines (6.8).
-- expect: ok
--| [a][][b c][last]
--| [a
--| ][
--| ][b c
--| ][last]
--| [a|
--|
--| ][b| c][
--| |la][s|t]
--| a;;b c;last;file
--| a	
--| false	file is already closed
--| false	cannot open file 'no such file' (No such file or directory)
--| 4
--| false	lines.lua:29: bad argument #2 to 'for iterator' (invalid format)
--| file
--| closed file	false	file is already closed
local name = os.tmpname()
local f = io.open(name, "w"); f:write("a\n\nb c\nlast"); f:close()
for line in io.lines(name) do io.write("[", line, "]") end print()
for line in io.lines(name, "L") do io.write("[", line, "]") end print()
for a, b in io.lines(name, 1, 2) do io.write("[", a, "|", tostring(b), "]") end print()
f = io.open(name); for line in f:lines() do io.write(line, ";") end print(io.type(f)); f:close()
f = io.open(name); local it = f:lines("l"); print(it(), it()); f:close(); print(pcall(it))
for line in io.lines(name) do if line == "" then break end end
print(pcall(io.lines, "no such file")); print(select("#", io.lines(name)))
print(pcall(function() for l in io.lines(name, "x") do end end))
local iterator, _, _, handle = io.lines(name); print(io.type(handle)); for line in iterator do end
print(io.type(handle), pcall(iterator))
os.remove(name)
