-- Commands run in a shell whose name is `sh` (6.8, 6.9).
-- expect: ok
--| sh
--| true	exit	0

local shell = io.popen("echo $0")
io.write(shell:read("a"))
shell:close()
print(os.execute("test $0 = sh"))
