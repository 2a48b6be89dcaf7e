-- Variables without values are set to nil on the line of the last name, a goto jumps on the line of
-- its label's name, and a constant key is loaded on the line of the bracket (6.10).
-- expect: ok
--| 2
--| 4
--| 2 3
--| 1 2 3
--| 1 2 3
--| 1 6
--| 1 4 6

for _, source in ipairs {
  "local a,\nb\n", "\nlocal\na\n<close>\n", "goto\nl\n::l::", "::l:: if x then goto\nl\nend",
  "while x do\nbreak\nend", "local t = ...\nt\n=\nt[\nnil\n]", "local t = ...\nt[\ntrue\n]\n=\n1"
} do
  local lines = {}
  for line in pairs(debug.getinfo(load(source), "L").activelines) do lines[#lines + 1] = line end
  table.sort(lines)
  print(table.concat(lines, " "))
end
