-- local function sees itself; local f = function does not (3.3.7, 3.4.11).
-- expect: ok
--| 3628800
--| false	local-function.lua:17: attempt to call a nil value (global 'f')
--| true	true
--| field	nested 1	true	2
--| 3
--| s:1: '(' expected near '.'
--| s:1: '(' expected near '.'
--| s:1: <name> expected near '('
--| s:1: '(' expected near 'end'
--| s:1: '(' expected near '['
--| s:1: 'end' expected near 'x'

local function fact(n) return n <= 1 and 1 or n * fact(n - 1) end
print(fact(10))
print(pcall(function() local f = function(n) return n == 0 and 0 or f(n - 1) end; return f(1) end))
local even, odd
function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
print(even(100), odd(7))
local t = { inner = {} }
function t.f() return "field" end
function t.inner.g(x) return "nested " .. x end
function t.inner:m(x) return self == t.inner, x end
print(t.f(), t.inner.g(1), t.inner:m(2))
function t:fluent() self.n = (self.n or 0) + 1; return self end
print(t:fluent():fluent():fluent().n)
local function try(s) print(select(2, load(s, "=s"))) end
try("local function t.f() end")
try("function t:f.g() end")
try("function () end")
try("function f end")
try("function t[1]() end")
try("local function f() return 1 x = 2 end")
