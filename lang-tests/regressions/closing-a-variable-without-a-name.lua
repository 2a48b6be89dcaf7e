-- A variable that cannot be closed has no name where debug information was stripped (3.3.8).
-- expect: ok
--| false	?:-1: variable '(temporary)' got a non-closable value
--| false	c:1: variable 'a' got a non-closable value
--| false	?:-1: variable '(temporary)' got a non-closable value
--| false	c:1: variable 'b' got a non-closable value

for _, source in ipairs { "local a <close> = 5", "local a, b <close> = 1, {}" } do
  print(pcall(load(string.dump(load(source, "=c"), true))))
  print(pcall(load(string.dump(load(source, "=c")))))
end
