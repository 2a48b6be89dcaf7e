-- require runs a preloaded module once and keeps its value (6.3).
-- expect: ok
--| loading	virtual.module	:preload:
--| virtual	:preload:
--| true	1	true
--| loading	virtual.module	:preload:
--| false	2
--| true	true
--| set by itself	:preload:
--| false	cannot load
--| false	false	:preload:
--| true	true	true
--| false	bad argument #1 to 'require' (string expected, got no value)
--| false	bad argument #1 to 'require' (string expected, got table)
--| lazy	:preload:
--| 3	a	true

local loads = 0
package.preload["virtual.module"] = function(...)
  loads = loads + 1
  print("loading", ...)
  return { name = "virtual" }
end
local m, extra = require("virtual.module")
print(m.name, extra)
print(require("virtual.module") == m, loads, package.loaded["virtual.module"] == m)
package.loaded["virtual.module"] = nil
print(require("virtual.module") == m, loads)
package.preload.noresult = function() end
print(require("noresult"), package.loaded.noresult)
package.preload.setsloaded = function(name) package.loaded[name] = "set by itself" end
print(require("setsloaded"))
package.preload.fails = function() error("cannot load", 0) end
print(pcall(require, "fails"))
package.preload.falsy = function() return false end
print(require("falsy"), require("falsy"))
print(require("string") == string, require("_G") == _G, package.loaded.math == math)
print(pcall(require)); print(pcall(require, {}))
setmetatable(package.preload, { __index = function(_, name)
  if name == "lazy" then return function(...) return ... end end
end })
print(require("lazy"))
package.preload.a = function(name) return #name end
print((require("a\0b")), package.loaded.a == 3 and "a", package.loaded["a\0b"] == nil)
