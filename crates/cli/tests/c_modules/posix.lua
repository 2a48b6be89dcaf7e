-- Processes, directories, and files that C code makes.
-- needs: posix.unistd, posix.stdio
-- package: luarocks; luarocks install luaposix
local unistd, wait = require "posix.unistd", require "posix.sys.wait"
local stdio, fcntl, stat = require "posix.stdio", require "posix.fcntl", require "posix.sys.stat"
local dirent, stdlib = require "posix.dirent", require "posix.stdlib"

-- a pipe as files of the library
local r, w = unistd.pipe()
local pid = unistd.fork()
if pid == 0 then
  unistd.close(r)
  local out = stdio.fdopen(w, "w")
  out:write("from the child\n", 42, "\n")
  out:close()
  unistd._exit(7)
end
unistd.close(w)
local into = stdio.fdopen(r, "r")
print(into:read "l", into:read "n", into:read "a" == "\n", io.type(into))
print(into:close(), io.type(into))
print(select(2, wait.wait(pid)), select(3, wait.wait(-1)) ~= nil)

-- files and directories
local folder = stdlib.mkdtemp(os.tmpname() .. "XXXXXX")
local fd = fcntl.open(folder .. "/a", fcntl.O_CREAT + fcntl.O_RDWR, 384)
print(unistd.write(fd, "text"), stat.fstat(fd).st_size)
unistd.lseek(fd, 0, unistd.SEEK_SET)
print(unistd.read(fd, 100), unistd.close(fd))
local names = {}
for name in dirent.files(folder) do names[#names + 1] = name end
table.sort(names)
print(table.concat(names, " "))
print(stdio.fileno(io.stdout), (select(2, fcntl.open("/no/such/file", fcntl.O_RDONLY))))
os.remove(folder .. "/a")
print(unistd.rmdir(folder))
print(pcall(unistd.read, "x", 1))
