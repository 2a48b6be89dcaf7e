-- package.searchpath, loadlib and loaded (6.3).
-- expect: ok
--| modules/simple.lua
--| modules/sub/inner.lua
--| nil	no file 'modules/sub.inner.lua'
--| modules/sub/inner.lua
--| nil	no file ''
--| nil	no file ''
--| 	no file ''
--| 	no file ''
--| nil	no file 'x'
--| nil	no file 'a//b//c'
--| 	no file 'a//b//c.a//b//c'
--| 	no file 'none'
--| modules/simple.lua
--| nil	no file 'x'
--| modules
--| nil	no file 'a-'
--| nil	no file '%1.none'
--| nil	no file '?.none'
--| 3	nil	string	string
--| function	modules/chunk.lua	true	1
--| other
--| function
--| 0
--| chunk:preload:	:preload:
--| false	raised
--| before the error
--| false
--| false	bad argument #1 to 'require' (string expected, got nil)
--| true	true
--| true

print(package.searchpath("simple", "modules/?.lua"))
print(package.searchpath("sub.inner", "modules/?.lua"))
print(package.searchpath("sub.inner", "modules/?.lua", ""))
print(package.searchpath("sub-inner", "modules/?.lua", "-"))
print(package.searchpath("x", "")); print(package.searchpath("x", ";;"))
print(package.searchpath("x", "?")); print(package.searchpath("a.b.c", "?;?.?;none", ".", "//"))
print(package.searchpath("simple", "none;modules/simple.lua;modules/?.lua"))
print(package.searchpath("", "?x?")); print(package.searchpath("modules", "?"))
print(package.searchpath("a.b", "?", ".b", "-")); print(package.searchpath("%1", "?.none"))
print(package.searchpath("?", "?.none"))
print(select("#", package.loadlib("/no/such/file.so", "*")),
  (package.loadlib("/no/such/file.so", "*")),
  type(select(2, package.loadlib("/no/such/file.so", "f"))),
  type(select(3, package.loadlib("/no/such/file.so", "f"))))
-- The value in package.loaded counts, whatever it is; false means not loaded.
package.path = "modules/?.lua"
local f, where = require("chunk")
print(type(f), where, require("chunk") == f, select("#", require("chunk")))
package.loaded.chunk = "other"; print(require("chunk")); package.loaded.chunk = false
print(type(require("chunk"))); package.loaded["no.such"] = 0; print(require("no.such"))
package.loaded.chunk = nil; package.preload.chunk = function(name, extra) return name .. extra end
print(require("chunk"))
package.preload.raises = function()
  package.loaded.raises = "before the error"; error("raised", 0)
end
print(pcall(require, "raises")); print(require("raises"))
package.preload.loop = function() return require("loop") or "inner" end
print((pcall(require, "loop")))
print(pcall(require, nil)); print(pcall(require, 5) == false, require ~= nil)
local loaded = package.loaded; package.loaded = {}; print(require("string") == string)
package.loaded = loaded
