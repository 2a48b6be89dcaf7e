-- Operands and arguments with side effects are all evaluated (3.4).
-- expect: ok
--| true	7
--| f a b c
--| fn x y
--| 1 2 3 4 5
--| t k
--| p q r
--| l m
--| g h
--| u

local log = {}
local function v(name, value) log[#log + 1] = name; return value end
local function flush() print(table.concat(log, " ")); log = {} end
print(v("f", print) == print, v("a", 1) + v("b", 2) * v("c", 3)); flush()
v("fn", function(...) return ... end)(v("x", 1), v("y", 2)); flush()
local t = { v("1", 1), v("2", 2), k = v("3", 3), [v("4", "x")] = v("5", 5) }; flush()
local _ = v("t", t)[v("k", "k")]; flush()
_ = v("p", 1) .. v("q", 2) .. v("r", 3); flush()
_ = v("l", 1) < v("m", 2); flush()
_ = v("g", 1) > v("h", 2); flush()
return v("u", 1), flush()
