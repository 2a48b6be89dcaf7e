-- Functions have as many upvalues as debug.getinfo says (6.10).
-- expect: ok
--| pairs	0
--| ipairs	0
--| io.write	0
--| utf8.codes	0
--| select	0

local functions = {
  { "pairs", pairs }, { "ipairs", ipairs }, { "io.write", io.write },
  { "utf8.codes", utf8.codes }, { "select", select },
}
for _, f in ipairs(functions) do
  local n = debug.getinfo(f[2], "u").nups
  print(f[1], n)
  assert(debug.getupvalue(f[2], n + 1) == nil)
end
