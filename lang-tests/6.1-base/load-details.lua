-- load's environment, mode, name and pieces, beyond the usual (6.1).
-- expect: ok
--| false	e:1: attempt to index a nil value (upvalue '_ENV')
--| 5
--| false	e:1: attempt to index a number value (upvalue '_ENV')
--| 1
--| 2
--| false	no x
--| env	nil
--| in env
--| name:1: unexpected symbol near <eof>
--| file.lua:1: unexpected symbol near <eof>
--| [string "one line"]:1: unexpected symbol near <eof>
--| [string "line 1..."]:1: unexpected symbol near <eof>
--| [string "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."]:1: unexpected symbol near <eof>
--| yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy:1: unexpected symbol near <eof>
--| ...zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz:1: unexpected symbol near <eof>
--| [string ""]:1: unexpected symbol near <eof>
--| :1: unexpected symbol near <eof>
--| :1: unexpected symbol near <eof>
--| [string "..."]:1: unexpected symbol near <eof>
--| [string "x ="]:1: unexpected symbol near <eof>
--| true
--| 12
--| ab
--|
--| true	nil	(load):1: syntax error near <eof>
--| true
--| 7
--| pieces:1: unexpected symbol near '='
--| binary pieces
--| nil	attempt to load a binary chunk (mode is 't')
--| t	true	false	nil
--| b	false	true	attempt to load a text chunk (mode is 'b')
--| bt	true	true	nil
--| tb	true	true	nil
--| 	false	false	attempt to load a text chunk (mode is '')
--| x	false	false	attempt to load a text chunk (mode is 'x')
--| true
--| nil	binary string: bad binary format (truncated chunk)
--| nil	binary string: bad binary format (version mismatch)
--| nil	[string "#not a comment"]:1: unexpected symbol near '#'
--| 1	nil	3
--| true	nil	attempt to yield across a C-call boundary
--|
--| true	false	r:1: attempt to index a nil value (upvalue '_ENV')

-- The environment is the first upvalue, also nil or any value.
print(pcall(load("return x", "=e", "t", nil))); print(load("return x", "=e", "t", { x = 5 })())
print(pcall(load("return x", "=e", "t", 7)))
print(load("x = 1; return _ENV.x", "=e", "t", {})())
print(load("local _ENV <const> = { y = 2 }; return y")())
print(pcall(load("x = 1", "=e", "t", setmetatable({}, { __newindex = function(_, k)
  error("no " .. k, 0)
end }))))
-- A dumped function with several upvalues gets the environment in the first only.
local a, b = 1, 2
local two = load(string.dump(function() return a, b end), "=two", "b", "env"); print(two())
print(load(string.dump(load("return x")), "=d", "b", { x = "in env" })())
-- Names of chunks in messages.
for _, name in ipairs({ "=name", "@file.lua", "one line", "line 1\nline 2", ("x"):rep(100),
  "=" .. ("y"):rep(100), "@" .. ("z"):rep(100), "", "=", "@", "\nsecond" }) do
  print(select(2, load("x =", name)))
end
print(select(2, load("x ="))); print(select(2, load(function() return nil end)) == nil)
-- Pieces: an empty string or nil ends them; anything else but a string is an error.
local function pieces(...)
  local list, i = { ... }, 0; return function() i = i + 1; return list[i] end
end
print(load(pieces("return", " 1", "2", "", "3"))())
print(load(pieces("ret", "urn ", "'a", "b'"))()); print(load(pieces())())
print(pcall(load, pieces("x", 5))); print(load(pieces("x", false)) == nil)
print(load(pieces("return ", 7))()); print(select(2, load(pieces("x = = 2"), "=pieces")))
local dumped = string.dump(function() return "binary pieces" end)
print(load(pieces(dumped:sub(1, 1), dumped:sub(2, 10), dumped:sub(11)), "=p", "b")())
print(load(pieces(dumped), "=p", "t"))
for _, mode in ipairs({ "t", "b", "bt", "tb", "", "x" }) do
  print(mode, load("return 1", "=m", mode) ~= nil, load(dumped, "=m", mode) ~= nil,
    (select(2, load("return 1", "=m", mode))))
end
print(load("") ~= nil); print(load("\27")); print(load("\27Luanonsense"))
print(load("#not a comment")); print(load("return ...", "=v")(1, nil, 3))
-- The reader is called in the running coroutine but may not yield.
print(coroutine.wrap(function() return pcall(load, function() coroutine.yield() end) end)())
print(pcall(load, print) == true, pcall(load(pieces("return x"), "=r", "t", nil)))
