-- needs: lxp
-- package: lua-expat
local lxp = require "lxp"
local depth, out = 0, {}
local parser = lxp.new {
  StartElement = function(_, name, attributes)
    out[#out + 1] = ("%s<%s %d>"):format((" "):rep(depth), name, #attributes)
    depth = depth + 1
  end,
  EndElement = function() depth = depth - 1 end,
  CharacterData = function(p, s) out[#out + 1] = s .. "@" .. p:pos() end,
}
assert(parser:parse "<a x='1' y='2'><b>text</b>")
assert(parser:parse "<c/></a>")
assert(parser:parse())
parser:close()
print(table.concat(out, "\n"))
print(lxp.new({}):parse "<a></b>")
-- an error in a handler passes expat
local bad = lxp.new { StartElement = function(_, name) error("at " .. name, 0) end }
print(pcall(bad.parse, bad, "<x/>"))
local lom = require "lxp.lom"
local t = lom.parse "<r><i k='v'>1</i><i>2</i></r>"
print(t.tag, #t, t[1].attr.k, t[2][1])
