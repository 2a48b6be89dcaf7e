-- CR, LF, CRLF and LFCR each end one line (3.1).
-- expect: ok
--| c:4: here
--| c:2: unexpected symbol near '='
--| true
--| c:4: here
--| c:2: unexpected symbol near '='
--| true
--| c:4: here
--| c:2: unexpected symbol near '='
--| true
--| c:4: here
--| c:2: unexpected symbol near '='
--| true
--| c:5: six
--| 1	2

for _, nl in ipairs({ "\n", "\r", "\r\n", "\n\r" }) do
  local chunk = load("local a = 1" .. nl .. nl .. "-- comment" .. nl .. "error('here')", "=c")
  print(select(2, pcall(chunk)))
  print((select(2, load("x = 1" .. nl .. "y = = 2", "=c"))))
  print(load("return '\\" .. nl .. "'")() == "\n")
end
print(select(2, pcall(load("\n\n\r\r\n\nerror('six')", "=c"))))
print(load("return\v1\f,\t2")())
