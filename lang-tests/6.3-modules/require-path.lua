-- require finds Lua files through package.path (6.3).
-- expect: ok
--| hello you	modules/simple.lua
--| true
--| sub.inner
--| package_with_init init
--| modules/simple.lua	modules/sub/inner.lua
--| nil	no file 'a_b.x'
--| 	no file 'dir/a_b.y'
--| nil	no file 'a+b.x'
--| /	string	table

package.path = "modules/?.lua;modules/?/init.lua"
local m, where = require("simple")
print(m.greet("you"), where)
print(require("simple") == m)
print(require("sub.inner").name)
print(require("package_with_init").name)
print(package.searchpath("simple", package.path), package.searchpath("sub.inner", package.path))
print(package.searchpath("a.b", "?.x;dir/?.y", ".", "_"))
print(package.searchpath("a-b", "?.x", "-", "+"))
print(package.config:sub(1, 1), type(package.cpath), type(package.searchers))
