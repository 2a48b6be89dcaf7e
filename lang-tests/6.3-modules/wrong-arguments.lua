-- What the functions of package say of wrong arguments (6.3).
-- expect: ok
--| package.searchpath #1  wrong-arguments.lua:22: bad argument #1 to 'searchpath' (string expected, got nil): none nil; wrong-arguments.lua:22: bad argument #1 to 'searchpath' (string expected, got boolean): false; ok: 1.5 -1 1e100 'x' '10'; wrong-arguments.lua:22: bad argument #1 to 'searchpath' (string expected, got table): {}; wrong-arguments.lua:22: bad argument #1 to 'searchpath' (string expected, got function): print; wrong-arguments.lua:22: bad argument #1 to 'searchpath' (string expected, got thread): thread; wrong-arguments.lua:22: bad argument #1 to 'searchpath' (string expected, got FILE*): file
--| package.searchpath #2  ok: none nil false 1.5 -1 1e100 'x' '10'; wrong-arguments.lua:22: bad argument #2 to 'searchpath' (string expected, got table): {}; wrong-arguments.lua:22: bad argument #2 to 'searchpath' (string expected, got function): print; wrong-arguments.lua:22: bad argument #2 to 'searchpath' (string expected, got thread): thread; wrong-arguments.lua:22: bad argument #2 to 'searchpath' (string expected, got FILE*): file
--| package.searchpath #3  ok: none nil 1.5 -1 1e100 'x' '10'; wrong-arguments.lua:22: bad argument #3 to 'searchpath' (string expected, got boolean): false; wrong-arguments.lua:22: bad argument #3 to 'searchpath' (string expected, got table): {}; wrong-arguments.lua:22: bad argument #3 to 'searchpath' (string expected, got function): print; wrong-arguments.lua:22: bad argument #3 to 'searchpath' (string expected, got thread): thread; wrong-arguments.lua:22: bad argument #3 to 'searchpath' (string expected, got FILE*): file
--| package.searchpath #4  ok: none nil 1.5 -1 1e100 'x' '10'; wrong-arguments.lua:22: bad argument #4 to 'searchpath' (string expected, got boolean): false; wrong-arguments.lua:22: bad argument #4 to 'searchpath' (string expected, got table): {}; wrong-arguments.lua:22: bad argument #4 to 'searchpath' (string expected, got function): print; wrong-arguments.lua:22: bad argument #4 to 'searchpath' (string expected, got thread): thread; wrong-arguments.lua:22: bad argument #4 to 'searchpath' (string expected, got FILE*): file
--| package.loadlib #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| package.loadlib #2  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| 1
--| ? #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| 2
--| ? #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| 3
--| ? #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'
--| 4
--| ? #1  string expected: none nil false {} print thread file; ok: 1.5 -1 1e100 'x' '10'

local check = dofile("../modules/arguments.lua")
package.path, package.cpath = "?.none", "?.none"
-- With both missing, either may be named first.
check("package.searchpath", function(name, path, ...)
  return package.searchpath(name, path ~= nil and path or "?.none", ...)
end, "name", "?.none", ".", "/")
check("package.loadlib", package.loadlib, "/no/such/file.so", "*")
for i, searcher in ipairs(package.searchers) do
  print(i)
  check("?", searcher, "name")
end
