-- A function needs at most 254 registers (implementation limit): the message names the token that
-- follows.
-- expect: ok

local function fails(source, near)
  local _, message = load(source, '=s')
  local line, text = message:match("^s:(%d+): "
    .. "function or expression needs too many registers near '(.*)'$")
  assert(text == near, message)
  assert(line == (source:find('\n') and '2' or '1'))
end
fails('return f(' .. ('x,'):rep(300) .. 'x)', 'x')
fails('return ' .. ('x,'):rep(300) .. 'x', 'x')
local locals = {}
for i = 1, 190 do locals[i] = 'a' .. i end
local many = 'local ' .. table.concat(locals, ',') .. '\n'
fails(many .. 'return ' .. ('a..'):rep(100) .. 'b', 'a')
fails(many .. 'return ' .. ('f('):rep(70) .. 'x' .. (')'):rep(70), '(')
fails(many .. 'return ' .. ('{'):rep(70) .. 'x' .. ('}'):rep(70), '{')
fails(many .. 'return ' .. ('x+('):rep(70) .. 'x' .. (')'):rep(70), '(')
fails(many .. 'f(function() end,' .. ('function() end,'):rep(70) .. 'x)', ',')
fails(many .. 'f(x:m(1),' .. ('x:m(2),'):rep(70) .. 'x)', ',')
fails(many .. 'f(x.y,' .. ('x[1],'):rep(70) .. 'x)', '[')
fails(many .. 'local b, c = ' .. ('nil,'):rep(70) .. 'x', 'nil')
fails(many .. 'x, y = ' .. ('nil,'):rep(70) .. '...', 'nil')

-- All registers may hold values that are returned.
local function results(n)
  local values = {}
  for i = 1, n do values[i] = 'v' .. i % 100 end
  return load('return ' .. table.concat(values, ','), '=s')
end
assert(select('#', results(254)()) == 254)
local f, message = results(255)
assert(not f and message == "s:1: function or expression needs too many registers near <eof>")

-- Debug information describes at most 32767 local variables of a function; the message has no
-- position.
local function described(n)
  return load('local function f() ' .. ('do local a end '):rep(n) .. 'end', '=s')
end
assert(described(32767))
local _, message = described(32768)
assert(message:find('too many local variables (limit is 32767)', 1, true) == 1)
