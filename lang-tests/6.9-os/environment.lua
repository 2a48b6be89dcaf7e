-- os.getenv, remove, rename and tmpname (6.9).
-- expect: ok
--| a value	nil	false	bad argument #1 to 'os.getenv' (string expected, got no value)
--| true	true	x	true
--| nil	no such file: No such file or directory	2
--| nil	No such file or directory	2
--| string	false	bad argument #1 to 'os.remove' (string expected, got no value)
--| C	C	nil

print(os.getenv("LANG_TEST"), os.getenv("NO_SUCH_VARIABLE_HERE"), pcall(os.getenv))
local name = os.tmpname()
local f = io.open(name, "w"); f:write("x"); f:close()
local renamed = name .. ".renamed"
print(os.rename(name, renamed), io.open(name) == nil, io.open(renamed):read("a"),
  os.remove(renamed))
local ok, message, code = os.remove("no such file"); print(ok, message, code)
ok, message, code = os.rename("no such file", "other"); print(ok, message, code)
print(type(name), pcall(os.remove))
print(os.setlocale("C"), os.setlocale(nil, "all"), os.setlocale("no such locale"))
