-- What require says when it cannot find or load a module (6.3).
-- expect: ok
--| module 'not.there' not found:
--| 	no field package.preload['not.there']
--| 	no file 'modules/not/there.lua'
--| 	no file './not/there.none'
--| false	error loading module 'broken' from file 'modules/broken.lua':
--| 	modules/broken.lua:2: unexpected symbol near '='
--| false	modules/raises.lua:2: raised while loading
--| false	'package.path' must be a string
--| false	'package.searchers' must be a table

package.path, package.cpath = "modules/?.lua;./?.none", ""
local ok, message = pcall(require, "not.there")
local lines = 0
for line in message:gmatch("[^\n]+") do
  lines = lines + 1
  if lines <= 4 then print(line) end
end
print(pcall(require, "broken"))
print(pcall(require, "raises"))
package.path = nil
print(pcall(require, "x"))
package.path = "modules/?.lua"
package.searchers = nil
print(pcall(require, "x"))
