-- What the mathematical functions say of wrong arguments (6.7).
-- expect: ok
--| math.abs #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.acos #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.asin #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.ceil #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.cos #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.deg #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.exp #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.floor #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.log #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.modf #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.rad #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.sin #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.sqrt #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.tan #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.tointeger #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| math.type #1  value expected!: none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| math.fmod #1  bad argument #2 to 'math.fmod' (number expected, got no value): none; number expected: nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.fmod #2  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.fmod #1  bad argument #2 to 'math.fmod' (number expected, got no value): none; number expected: nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.fmod #2  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.log #1  number expected: none nil false 'x' {} print thread file; ok: 1.5 -1 1e100 '10'
--| math.log #2  ok: none nil 1.5 -1 1e100 '10'; number expected: false 'x' {} print thread file
--| math.max #1  value expected!: none; attempt to compare nil with number: nil; attempt to compare boolean with number: false; ok: 1.5 -1 1e100; attempt to compare string with number: 'x' '10'; attempt to compare table with number: {}; attempt to compare function with number: print; attempt to compare thread with number: thread; attempt to compare FILE* with number: file
--| math.max #2  ok: none 1.5 -1 1e100; attempt to compare number with nil: nil; attempt to compare number with boolean: false; attempt to compare number with string: 'x' '10'; attempt to compare number with table: {}; attempt to compare number with function: print; attempt to compare number with thread: thread; attempt to compare number with FILE*: file
--| math.min #1  value expected!: none; attempt to compare number with nil: nil; attempt to compare number with boolean: false; ok: 1.5 -1 1e100; attempt to compare number with string: 'x' '10'; attempt to compare number with table: {}; attempt to compare number with function: print; attempt to compare number with thread: thread; attempt to compare number with FILE*: file
--| math.min #2  ok: none 1.5 -1 1e100; attempt to compare nil with number: nil; attempt to compare boolean with number: false; attempt to compare string with number: 'x' '10'; attempt to compare table with number: {}; attempt to compare function with number: print; attempt to compare thread with number: thread; attempt to compare FILE* with number: file
--| math.random #1  ok: none '10'; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; interval is empty!: -1
--| math.random #1  ok: none -1; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; interval is empty!: '10'
--| math.random #2  ok: none '10'; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; bad argument #1 to 'math.random' (interval is empty): -1
--| math.randomseed #1  ok: none -1 '10'; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| math.randomseed #1  ok: none -1 '10'; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| math.randomseed #2  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| math.ult #1  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| math.ult #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'

local check = dofile("../modules/arguments.lua")
for _, name in ipairs({ "abs", "acos", "asin", "ceil", "cos", "deg", "exp", "floor", "log", "modf",
  "rad", "sin", "sqrt", "tan", "tointeger", "type" }) do
  check("math." .. name, math[name], 0)
end
check("math.fmod", math.fmod, 7, 3)
check("math.fmod", math.fmod, 7, 3.5)
check("math.log", math.log, 8, 2)
check("math.max", math.max, 1, 2)
check("math.min", math.min, 1, 2)
check("math.random", math.random, 5)
check("math.random", math.random, 1, 5)
check("math.randomseed", math.randomseed, 5)
check("math.randomseed", math.randomseed, 5, 6)
check("math.ult", math.ult, 1, 2)
