-- needs: lfs
-- package: lua-filesystem
local lfs = require "lfs"
local folder = os.tmpname()
os.remove(folder)
assert(lfs.mkdir(folder))
for i = 1, 5 do
  local f = assert(io.open(folder .. "/f" .. i, "w"))
  f:write(("x"):rep(i))
  f:close()
end
local names = {}
for name in lfs.dir(folder) do names[#names + 1] = name end
table.sort(names)
print(table.concat(names, " "))
for i = 1, 5 do
  local a = assert(lfs.attributes(folder .. "/f" .. i))
  io.write(a.mode, " ", a.size, "; ")
end
print()
local missing = select(2, lfs.attributes(folder .. "/none"))
print(lfs.attributes(folder, "mode"), (missing:gsub("'.*'", "F")))
print(lfs.touch(folder .. "/f1", 1000, 2000), lfs.attributes(folder .. "/f1", "modification"))
print(lfs.symlinkattributes(folder, "mode"))
-- a file of the library io in C code
local f = assert(io.open(folder .. "/lock", "w+"))
f:write "before"
print(lfs.setmode(f, "binary"))
print(lfs.lock(f, "w"))
print(lfs.unlock(f))
f:write " after"
f:seek("set")
print(f:read "a")
f:close()
print(pcall(lfs.lock, f, "w"))
for name in lfs.dir(folder) do
  if name:sub(1, 1) ~= "." then os.remove(folder .. "/" .. name) end
end
print(lfs.rmdir(folder), (select(2, lfs.rmdir(folder))))
local ok, message = pcall(lfs.dir, "/no/such/folder")
print(ok, message)
