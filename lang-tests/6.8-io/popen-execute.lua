-- io.popen, os.execute and what their commands answer (6.8, 6.9).
-- ignore-stderr: `yes` reports a closed pipe where SIGPIPE is ignored
-- expect: ok
--| file	out	second
--| 		nil
--| true	exit	0
--| closed file	false	attempt to use a closed file
--| nil	exit	3
--| true	exit	0
--| nil	exit	1
--| nil	signal	9
--| nil	signal	15
--| nil	exit	127
--| true	true	exit	0
--| to the command
--| 1 2.5
--| nil	exit	5
--| a;b;c;
--| 12	16	nil
--| rw	false	bad argument #2 to 'io.popen' (invalid mode)
--| x	false	bad argument #2 to 'io.popen' (invalid mode)
--| 	false	bad argument #2 to 'io.popen' (invalid mode)
--| a	false	bad argument #2 to 'io.popen' (invalid mode)
--| r+	false	bad argument #2 to 'io.popen' (invalid mode)
--| rb	false	bad argument #2 to 'io.popen' (invalid mode)
--| a value
--| through cat
--| 100000
--| y	y
--| y
--| closed by its variable
--| file (closed)	closed file
--| nil	Illegal seek	29
--| nil	Bad file descriptor	9
--| true
--| true	exit	0
--| true	exit	0
--| nil	exit	7
--| nil	exit	1
--| nil	signal	9
--| nil	signal	15
--| nil	exit	127
--| true	exit	0
--| before from the shell
--| false	bad argument #1 to 'os.execute' (string expected, got table)

local p = io.popen("echo out; echo second")
print(io.type(p), p:read("l"), p:read("a"), p:read("a"), p:read("l")); print(p:close())
print(io.type(p), pcall(p.close, p))
print(io.popen("exit 3"):close()); print(io.popen("true"):close())
print(io.popen("false", "r"):close()); print(io.popen("kill -9 $$"):close())
print(io.popen("kill -15 $$"):close()); print(io.popen("/no/such/command 2>/dev/null"):close())
local name = os.tmpname(); p = io.popen("cat > " .. name, "w")
print(p:write("to the command\n", 1, " ", 2.5) == p, p:close()); print(io.open(name):read("a"))
p = io.popen("cat >/dev/null; exit 5", "w"); p:write("x"); print(p:close()); os.remove(name)
for l in io.popen("printf 'a\\nb\\nc'"):lines() do io.write(l, ";") end print()
p = io.popen("echo 12 0x10 x"); print(p:read("n", "n", "n")); p:close()
for _, m in ipairs({ "rw", "x", "", "a", "r+", "rb" }) do print(m, pcall(io.popen, "true", m)) end
io.stdout:flush(); print(io.popen("echo $LANG_TEST"):read()); p = io.popen("cat", "w")
p:write("through cat\n"); p:close(); print((io.popen("head -c 100000 /dev/zero"):read("a")):len())
p = io.popen("yes"); print(p:read(), p:read(3)); p:close()
do local q <close> = io.popen("echo closed by its variable"); print(q:read()) end
print(tostring(p), io.type(p)); local r = io.popen("true"); print(r:seek("set"))
print(r:write("x")); r:close()
print(os.execute()); print(os.execute("true")); print(os.execute("exit 0"))
print(os.execute("exit 7")); print(os.execute("false")); print(os.execute("kill -9 $$"))
print(os.execute("kill -15 $$")); print(os.execute("/no/such/command 2>/dev/null"))
print(os.execute("")); io.write("before "); io.flush(); os.execute("echo from the shell")
print(pcall(os.execute, {}))
