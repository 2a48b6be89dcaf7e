-- Checks what the library `io` does with the files of files.c.
local files = require "files"

local function same(got, want)
  if got ~= want then error(("%s instead of %s"):format(got, want), 2) end
end

local name = os.tmpname()
local f = files.open(name, "w+")
same(io.type(f), "file")
same(tostring(f):match "^file %(0x%x+%)$" ~= nil, true)
same(f:write("first\n", 12, " ", 0.5, "\nthird"), f)
same(f:seek "cur", 18)
same(f:seek "set", 0)
same(f:read(), "first")
-- C code goes on where Lua code was, and the other way around
same(files.next_byte(f), ("1"):byte())
same(f:read "n", 2)
same(f:read "n", 0.5)
same(f:read "L", "\n")
same(f:read(0), "")
same(f:read(2), "th")
same(f:read "a", "ird")
same(f:read "a", "")
same(f:read(0), nil)
same(f:read(), nil)
same(f:seek("set", 6), 6)
same(files.next_byte(f), ("1"):byte())
same(table.concat({ f:read("n", "l", 3) }, "|"), "2| 0.5|thi")
same(f:seek("end", -1), 17)
same(f:setvbuf "no", true)
same(f:setvbuf("full", 1024), true)
same(f:write "D!", f)
same(f:flush(), f.flush and true)
f:seek "set"
local all = {}
for line in f:lines "L" do all[#all + 1] = line end
same(table.concat(all), "first\n12 0.5\nthirD!")
local a, b = f:close()
same(a .. b, "closed by C1")
same(io.type(f), "closed file")
same(tostring(f), "file (closed)")
same(select(2, pcall(f.read, f)), "attempt to use a closed file")
same(select(2, pcall(f.close, f)), "attempt to use a closed file")

-- errors of the file
f = files.open(name, "r")
local ok, message, number = f:write "x"
same(ok, nil)
same(message, "Bad file descriptor")
same(number, 9)
-- as default files
io.input(f)
same(io.read(), "first")
same(io.read "n", 12)
same(io.input(), f)
io.close(f)
same(pcall(io.read), false)
io.input(io.stdin)
io.output(files.open(name, "a"))
io.write("!")
io.close()
io.output(io.stdout)
same(io.open(name):read "a", "first\n12 0.5\nthirD!!")

-- closed by the collector, and by a variable
do
  local other <close> = files.open(name, "r")
  same(other:read(5), "first")
end
same(files.count_closed(), 4)
files.open(name, "r")
collectgarbage()
collectgarbage()
same(files.count_closed(), 5)
same(io.type(files.never_opened()), "closed file")
same(io.type(setmetatable({}, getmetatable(io.stdout))), nil)
os.remove(name)

-- a pipe: a line arrives before the end is closed
local out, into = files.pipe()
into:write "one\ntwo\nthr"
into:flush()
same(out:read(), "one")
into:write "ee"
same(into:close(), "closed by C")
same(out:read "a", "two\nthree")
out:close()

-- a child process has the files, and what is in their buffers
name = os.tmpname()
local lines = {}
for _, open in ipairs { files.open, io.open } do
  local file = open(name, "a")
  file:write("before ")
  if open == io.open then file:flush() end
  local child = files.fork()
  if child == 0 then
    file:write("child ")
    file:close()
    os.exit(true)
  end
  same(files.wait(child), 0)
  file:write("after\n")
  same((file:close()), open == files.open and "closed by C" or true)
end
for line in io.lines(name) do lines[#lines + 1] = line end
same(lines[1], "before child before after")
same(lines[2], "before child after")
os.remove(name)

-- the memory of a file is a luaL_Stream
for _, file in ipairs { io.stdout, assert(io.tmpfile()), files.open("/dev/null", "r") } do
  same(files.raw_length(file), 16)
end

-- the status of loading a file does not depend on what its name looks like
local status, message, of_missing, missing = files.load_file "x = = 1"
same(status .. message, "3cannot be:1: unexpected symbol near '='")
same(of_missing .. missing, "6cannot open cannot be: No such file or directory")

-- what both write appears in this order
io.write "o"
files.print ""
io.write "k"
files.print "\n"
os.exit(true, true)
