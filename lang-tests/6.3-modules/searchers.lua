-- package.searchers, one after the other (6.3).
-- expect: ok
--| 4	/
--| ;
--| ?
--| !
--| -
--|
--| modules/?.lua	modules/?.so
--| 1 no field package.preload['absent.module']
--| 2 no file 'modules/absent/module.lua'
--| 3 no file 'modules/absent/module.so'
--| 4 no file 'modules/absent.so'
--| 1 true | no field package.preload['simple']
--| 2 true | function | modules/simple.lua
--| 3 true | no file 'modules/simple.so'
--| 4 true
--| no field package.preload['string']
--| function | :preload:
--| false	error loading module 'broken' from file 'modules/broken.lua':
--| 	modules/broken.lua:2: unexpected symbol near '='
--| mine+extra	extra
--| mine+extra
--| 2nil	nil
--| mine no.extra
--| module 'absent' not found:
--| 	5
--| 	 no mine
--| 	no field package.preload['absent']
--| 	no file 'modules/absent.lua'
--| 	no file 'modules/absent.so'
--| false	in searcher
--| false	module 'another' not found:
--| false	'package.searchers' must be a table
--| false	'package.searchers' must be a table
--| true	mine+extra

package.path, package.cpath = "modules/?.lua", "modules/?.so"
print(#package.searchers, package.config); print(package.path, package.cpath)
local function shown(...)
  local r = table.pack(...)
  for i = 1, r.n do r[i] = type(r[i]) == "function" and "function" or tostring(r[i]) end
  print(table.concat(r, " | "))
end
for i, searcher in ipairs(package.searchers) do
  io.write(i, " "); shown(searcher("absent.module"))
end
for i, searcher in ipairs(package.searchers) do
  io.write(i, " "); shown(pcall(searcher, "simple"))
end
shown(package.searchers[1]("string")); package.preload.pre = print
shown(package.searchers[1]("pre")); print(pcall(package.searchers[2], "broken"))
package.preload.pre = nil
-- A searcher of one's own; what is neither a function nor a string is passed over.
local asked = {}
table.insert(package.searchers, 1, function(...)
  asked[#asked + 1] = table.concat({ ... }, ","); return 5
end)
table.insert(package.searchers, 2, function(name)
  if name == "mine" then return function(...) return table.concat({ ... }, "+") end, "extra" end
  return " no mine"
end)
table.insert(package.searchers, 3, function(name)
  if name == "no.extra" then
    return function(...) return select("#", ...) .. tostring(select(2, ...)) end
  end
end)
print(require("mine")); print(require("mine")); print(require("no.extra"))
print(table.concat(asked, " "))
print(select(2, pcall(require, "absent")))
package.searchers = { function() error("in searcher", 0) end }; print(pcall(require, "another"))
package.searchers = {}; print(pcall(require, "another")); package.searchers = 5
print(pcall(require, "another"))
package.path = 5; package.searchers = nil; print(pcall(require, "another"))
print(pcall(require, "mine"))
