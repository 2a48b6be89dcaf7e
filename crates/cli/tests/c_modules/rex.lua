-- needs: rex_pcre2, rex_posix, rex_onig, rex_gnu, rex_tre
-- package: lua-rex-pcre2 lua-rex-posix lua-rex-onig lua-rex-gnu lua-rex-tre
for _, flavour in ipairs { "pcre2", "posix", "onig", "gnu", "tre" } do
  local rex = require("rex_" .. flavour)
  print(flavour, rex.match("key = value", "([a-z]+) = ([a-z]+)"))
  print(rex.find("xx123yy", "[0-9]+"))
  print((rex.gsub("one two three", "[a-z]+", function(w) return w:upper() end)))
  local words = {}
  for w in rex.gmatch("a bb ccc", "[a-z]+") do words[#words + 1] = w end
  print(table.concat(words, ","))
  for part in rex.split("a1b22c", "[0-9]+") do io.write(part, ";") end
  print()
  print((pcall(rex.new, "(")))
  print(pcall(rex.gsub, "abc", "b", function() error("inside", 0) end))
end
local rex = require "rex_pcre2"
print(rex.match("2026-11", "(?<y>\\d+)-(?<m>\\d+)"))
print(select(3, rex.new("(a)(b)?"):exec "ab")[2])
