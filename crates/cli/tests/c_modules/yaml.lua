-- needs: lyaml
-- package: lua-yaml
local yaml = require "lyaml"
local t = yaml.load [[
name: perilune
list: [1, 2.5, true, ~]
nested:
  - a: x
  - &anchor {b: y}
  - *anchor
]]
print(t.name, t.list[1], t.list[2], t.list[3], t.nested[1].a, t.nested[3].b)
io.write(yaml.dump { { 1, "two", { k = "v" } } })
print(pcall(yaml.load, "a: [1, 2"))
