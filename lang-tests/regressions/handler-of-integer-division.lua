-- A message handler is named after what the instruction called only if it may call: a division of
-- integers calls no metamethod.
-- The name of a variable whose block ends with its declaration.
-- expect: ok

local function handler(m)
  local info = debug.getinfo(1, 'n')
  return string.format('%s: %s %s', m:gsub('^.-:%d+: ', ''), info.namewhat, info.name)
end
local function shown(f, ...) return (select(2, xpcall(f, handler, ...))) end

assert(shown(function(a, b) return a // b end, 1, 0) == "attempt to divide by zero:  nil")
assert(shown(function(a, b) return a % b end, 1, 0) == "attempt to perform 'n%0':  nil")
assert(shown(function(a) return a // 0 end, 1) == "attempt to divide by zero:  nil")
assert(shown(function(a) return a % 0 end, 1) == "attempt to perform 'n%0':  nil")
assert(shown(function(a) a = a // a end, 0) == "attempt to divide by zero:  nil")
-- These would have called one.
assert(shown(function(a) return a // 0 end)
  == "attempt to perform arithmetic on a nil value (local 'a'): metamethod idiv")
assert(shown(function(a) return a % 0 end, {})
  == "attempt to perform arithmetic on a table value (local 'a'): metamethod mod")
assert(shown(function(a) return a % 1.5 end, true)
  == "attempt to perform arithmetic on a boolean value (local 'a'): metamethod mod")
local inner = setmetatable({}, { __idiv = function() return debug.getinfo(1, 'n').name end })
assert(inner // 0 == 'idiv' and 0 // inner == 'idiv')
-- The traceback says it in the same way.
local _, text = xpcall(function(a) return a // 0 end, function()
  return debug.traceback('m', 1)
end, 1)
assert(text:find('^m\nstack traceback:\n[^\n]* in function <[^\n]*\n[^\n]* in function <'))

assert(shown(function(a)
  do local c <close> = a end
end, 1) == "variable 'c' got a non-closable value:  nil")
assert(shown(function(a)
  local b <close> = nil; do local c <close> = a end
end, 1) == "variable 'c' got a non-closable value:  nil")
