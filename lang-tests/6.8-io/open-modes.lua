-- io.open: modes, and what reading and writing do in each (6.8).
-- expect: ok
--| r	read	old
--| r	seek	3
--| r	write	false
--| r	flush	false
--| r	at	3
--| r	close	true	old text|
--| w	read	nil	Bad file descriptor	9
--| w	seek	0
--| w	write	true
--| w	flush	false
--| w	at	3
--| w	close	true	NEW
--| a	read	nil	Bad file descriptor	9
--| a	seek	9
--| a	write	true
--| a	flush	false
--| a	at	12
--| a	close	true	old text|NEW
--| r+	read	old
--| r+	seek	3
--| r+	write	true
--| r+	flush	false
--| r+	at	6
--| r+	close	true	oldNEWxt|
--| w+	read	nil
--| w+	seek	0
--| w+	write	true
--| w+	flush	false
--| w+	at	3
--| w+	close	true	NEW
--| a+	read	old
--| a+	seek	3
--| a+	write	true
--| a+	flush	false
--| a+	at	12
--| a+	close	true	old text|NEW
--| rb	read	old
--| rb	seek	3
--| rb	write	false
--| rb	flush	false
--| rb	at	3
--| rb	close	true	old text|
--| wb	read	nil	Bad file descriptor	9
--| wb	seek	0
--| wb	write	true
--| wb	flush	false
--| wb	at	3
--| wb	close	true	NEW
--| ab	read	nil	Bad file descriptor	9
--| ab	seek	9
--| ab	write	true
--| ab	flush	false
--| ab	at	12
--| ab	close	true	old text|NEW
--| r+b	read	old
--| r+b	seek	3
--| r+b	write	true
--| r+b	flush	false
--| r+b	at	6
--| r+b	close	true	oldNEWxt|
--| w+b	read	nil
--| w+b	seek	0
--| w+b	write	true
--| w+b	flush	false
--| w+b	at	3
--| w+b	close	true	NEW
--| a+b	read	old
--| a+b	seek	3
--| a+b	write	true
--| a+b	flush	false
--| a+b	at	12
--| a+b	close	true	old text|NEW
--| 	false	bad argument #2 to 'io.open' (invalid mode)
--| x	false	bad argument #2 to 'io.open' (invalid mode)
--| rw	false	bad argument #2 to 'io.open' (invalid mode)
--| +r	false	bad argument #2 to 'io.open' (invalid mode)
--| r++	false	bad argument #2 to 'io.open' (invalid mode)
--| rb+	false	bad argument #2 to 'io.open' (invalid mode)
--| br	false	bad argument #2 to 'io.open' (invalid mode)
--| r 	false	bad argument #2 to 'io.open' (invalid mode)
--| R	false	bad argument #2 to 'io.open' (invalid mode)
--| rbb	true	file
--| wx	false	bad argument #2 to 'io.open' (invalid mode)
--| r+b+	false	bad argument #2 to 'io.open' (invalid mode)
--| nil	/no/such/file: No such file or directory	2
--| nil	/no/such/file: No such file or directory	2
--| nil	: No such file or directory	2
--| nil	/: Is a directory	21
--| NAME/x: Not a directory
--| true	true
--| nil
--| nil
--| nil
--| nil	Bad file descriptor	9
--| nil	Bad file descriptor	9
--| text
--| nil	Bad file descriptor	9
--| nil	Bad file descriptor	9
--| nil	Bad file descriptor	9
--| nil	Bad file descriptor	9
--| nil	Bad file descriptor	9
--| false	open-modes.lua:140: Bad file descriptor
--| nil	No space left on device	28
--| true
--| true
--| nil	No space left on device	28
--| true
--| true	false	attempt to use a closed file
--| false	attempt to use a closed file
--| false	attempt to use a closed file
--| false	attempt to use a closed file
--| false	attempt to use a closed file
--| file (closed)	closed file	true
local name = os.tmpname()
local function put(text) local f = assert(io.open(name, "wb")); f:write(text); f:close() end
local function get()
  local f = assert(io.open(name, "rb")); local s = f:read("a"); f:close(); return s
end
for _, mode in ipairs({ "r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab", "r+b", "w+b", "a+b" }) do
  put("old text\n"); local f = io.open(name, mode)
  print(mode, "read", f:read(3)); print(mode, "seek", f:seek("cur"))
  print(mode, "write", f:write("NEW") == f); print(mode, "flush", f:flush() == f)
  print(mode, "at", f:seek("cur")); print(mode, "close", f:close(), (get():gsub("\n", "|")))
end
for _, mode in ipairs({ "", "x", "rw", "+r", "r++", "rb+", "br", "r ", "R", "rbb", "wx",
  "r+b+" }) do
  local ok, r = pcall(io.open, name, mode); print(mode, ok, ok and io.type(r) or r)
end
print(io.open("/no/such/file")); print(io.open("/no/such/file", "w")); print(io.open("", "r"))
print(io.open("/", "w")); print((select(2, io.open(name .. "/x")):gsub("^/tmp/lua_%w+", "NAME")))
print(io.open("/dev/null"):read("a") == "", io.open("/dev/null", "w"):write("x") ~= nil)
local dir = io.open("."); print(dir and dir:read(1)); print(dir and dir:read("a"))
print(dir and dir:read("n")); if dir then dir:close() end
-- Errors of a stream come as nil, message and number.
put("text"); local f = io.open(name, "r"); print(f:write("x")); print(f:write("x", "y"))
print(f:read("a")); f:close(); f = io.open(name, "w"); print(f:read()); print(f:read("a"))
print(f:read("n")); print(f:read(0)); print(f:read(5))
print(pcall(function() for l in f:lines() do end end)); f:close()
local full = io.open("/dev/full", "w")
if full then
  full:setvbuf("no"); print(full:write("x")); print(full:close()); full = io.open("/dev/full", "w")
  print(full:write("x") == full); print(full:flush()); print(full:close())
end
os.remove(name); f = io.open(name, "w"); f:close(); print(get() == "", pcall(f.seek, f))
print(pcall(f.lines, f)); print(pcall(f.flush, f)); print(pcall(f.close, f))
print(pcall(f.setvbuf, f, "no")); print(tostring(f), io.type(f), pcall(io.lines, name) ~= nil)
os.remove(name)
