-- os.remove, rename, tmpname, getenv, setlocale (6.9).
-- expect: ok
--| true	15	true	true
--| true
--| NAME: No such file or directory	2
--| nil	/no/such/file: No such file or directory	2
--| 3
--| nil	: No such file or directory	2
--| true
--| NAME: Directory not empty	true	true
--| true	nil	moved
--| No such file or directory
--| nil	No such file or directory	2
--| No such file or directory	0
--| true	true
--| a value	nil	nil	a value	nil	false	bad argument #1 to 'os.getenv' (string expected, got no value)
--| false	bad argument #1 to 'os.getenv' (string expected, got table)
--| all	C	C	C	nil	C
--| collate	C	C	C	nil	C
--| ctype	C	C	C	nil	C
--| monetary	C	C	C	nil	C
--| numeric	C	C	C	nil	C
--| time	C	C	C	nil	C
--| C	C	C	C	false	bad argument #2 to 'os.setlocale' (invalid option 'none')
--| false	bad argument #1 to 'os.setlocale' (string expected, got table)
--| false	bad argument #2 to 'os.setlocale' (invalid option '5')
--| 1.5	2.5	1.5
--| clock date difftime execute exit getenv remove rename setlocale time tmpname

local name = os.tmpname()
print(name:find("^/tmp/lua_") ~= nil, #name, io.open(name) ~= nil, os.tmpname() ~= name)
print(os.remove(name))
print((select(2, os.remove(name)):gsub("^/tmp/lua_%w+", "NAME")), select(3, os.remove(name)))
print(os.remove("/no/such/file")); print(select("#", os.remove("/no/such/file")))
print(os.remove("")); print(os.execute("mkdir " .. name) and os.remove(name))
print(os.execute("mkdir -p " .. name .. "/sub")
  and (select(2, os.remove(name)):gsub("^/tmp/lua_%w+", "NAME")), (os.remove(name .. "/sub")),
  (os.remove(name)))
local f = io.open(name, "w"); f:write("moved"); f:close()
print(os.rename(name, name .. ".new"), io.open(name), io.open(name .. ".new"):read("a"))
print((select(2, os.rename(name, "x")):gsub("^/tmp/lua_%w+", "NAME")))
print(os.rename("/no/such", "/no/other"))
print(select(2, os.rename(name .. ".new", "/no/such/dir/x")):gsub("^/tmp/lua_%w+", "NAME"))
print(os.rename(name .. ".new", name .. ".new"), os.remove(name .. ".new"))
print(os.getenv("LANG_TEST"), os.getenv("LUA_NO_SUCH_VARIABLE"), os.getenv(""),
  os.getenv("LANG_TEST\0x"), os.getenv("A=B"), pcall(os.getenv))
print(pcall(os.getenv, {}))
for _, c in ipairs({ "all", "collate", "ctype", "monetary", "numeric", "time" }) do
  print(c, os.setlocale(nil, c), os.setlocale("C", c), os.setlocale("POSIX", c),
    os.setlocale("no such locale", c), os.setlocale("", c))
end
print(os.setlocale(), os.setlocale(nil), os.setlocale("C"), os.setlocale("C\0x"),
  pcall(os.setlocale, "C", "none"))
print(pcall(os.setlocale, {})); print(pcall(os.setlocale, nil, 5))
print(1.5, ("%.1f"):format(2.5), tonumber("1.5"))
local names = {} for k in pairs(os) do names[#names + 1] = k end table.sort(names)
print(table.concat(names, " "))
