-- file:seek, file:setvbuf and mixing reads with writes (6.8).
-- expect: ok
--| true	10	0	012	3	5	5	10	nil	8	89	4	45
--| nil	Invalid argument	22
--| nil	Invalid argument	22
--| 15	nil	true	16
--| 89.....x
--| false	bad argument #2 to '?' (invalid option 'middle')
--| false	bad argument #3 to '?' (number has no integer representation)
--| false	bad argument #3 to '?' (number expected, got string)
--| 3	2	2	false	bad argument #2 to '?' (invalid option '5')
--| true	1099511627776	nil	nil	Invalid argument	22
--| 23
--| ab23cd6789.....x
--| a
--| aZ23
--| no	true	true	one
--| two
--| three
--|
--| line	true	true	
--| onetwo
--|
--| three
--| full	true	true	
--|
--| onetwo
--| three
--| true	true	true	true
--| false	bad argument #2 to '?' (invalid option 'half')
--| false	bad argument #2 to '?' (string expected, got no value)
--| false	bad argument #3 to '?' (number expected, got string)
--| 100000	100000
--| a1 a2 b2
--| 300	21677	20885
--| 	nil	nil	nil

local name = os.tmpname(); local f = assert(io.open(name, "w+"))
print(f:write("0123456789") == f, f:seek(), f:seek("set"), f:read(3), f:seek(), f:seek("cur", 2),
  f:read(1), f:seek("end"), f:read(1), f:seek("end", -2), f:read("a"), f:seek("set", 4), f:read(2))
print(f:seek("set", -1)); print(f:seek("cur", -100))
print(f:seek("end", 5), f:read(1), f:write("x") == f, f:seek("end")); f:seek("set", 8)
print((f:read("a"):gsub("%z", "."))); print(pcall(f.seek, f, "middle"))
print(pcall(f.seek, f, "set", 1.5)); print(pcall(f.seek, f, "set", "x"))
print(f:seek("set", "3"), f:seek("set", 2.0), f:seek(nil, nil), pcall(f.seek, f, 5))
print(io.stdin:seek() ~= false, f:seek("set", 1 << 40), f:read(1), f:seek("set", math.mininteger))
f:seek("set"); f:write("ab"); f:seek("cur", 0); print(f:read(2)); f:seek("cur", 0); f:write("cd")
f:seek("set"); print((f:read("a"):gsub("%z", "."))); f:close()
f = io.open(name, "r+"); print(f:read(1)); f:seek("cur"); f:write("Z"); f:flush()
print(f:seek("set") == 0 and f:read(4)); f:close()
for _, mode in ipairs({ "no", "line", "full" }) do
  local w, r = io.open(name, "w"), io.open(name)
  print(mode, w:setvbuf(mode), w:write("one") == w, r:read("a")); w:write("two\nthree")
  print(r:read("a")); w:flush(); print(r:read("a")); w:close(); r:close()
end
f = io.open(name, "w")
print(f:setvbuf("full", 10), f:setvbuf("line", 0), f:setvbuf("no", -1), f:setvbuf("full", 1 << 16))
print(pcall(f.setvbuf, f, "half")); print(pcall(f.setvbuf, f))
print(pcall(f.setvbuf, f, "full", "x")); f:write(("x"):rep(1e5)); f:close(); f = io.open(name)
print(#f:read("a"), f:seek("end")); f:close()
-- Two handles of one file, and many writes of all sizes.
local a, b = io.open(name, "w"), io.open(name, "a"); a:setvbuf("no"); b:setvbuf("no")
a:write("a1 "); b:write("b1 "); a:write("a2 "); b:write("b2"); a:close(); b:close()
f = io.open(name); print(f:read("a")); f:close()
f = io.open(name, "w"); local sum = 0
for i = 1, 300 do local s = ("%d,"):format(i):rep(i % 40); sum = sum + #s; f:write(s, i, "\n") end
f:close(); f = io.open(name); local n, bytes = 0, 0
for l in f:lines() do n = n + 1; bytes = bytes + #l end print(n, bytes, sum)
print(f:read("a"), f:read("l"), f:read("n"), f:read(0)); f:close(); os.remove(name)
