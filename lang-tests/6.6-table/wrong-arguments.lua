-- What the table functions say of wrong arguments (6.6).
-- expect: ok
--| table.concat #1  table expected: none nil false 1.5 -1 1e100 'x' '10' print thread file; invalid value (nil) at index 1 in table for 'concat': {}
--| table.concat #2  ok: none nil 1.5 -1 1e100 'x' '10'; string expected: false {} print thread file
--| table.concat #3  ok: none nil '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; invalid value (nil) at index -1 in table for 'concat': -1
--| table.concat #4  ok: none nil -1; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; invalid value (nil) at index 3 in table for 'concat': '10'
--| table.insert #1  table expected: none nil false 1.5 -1 1e100 'x' '10' print thread file; ok: {}
--| table.insert #2  wrong number of arguments to 'insert': none; ok: nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| table.insert #1  table expected: none nil false 1.5 -1 1e100 'x' '10' print thread file; ok: {}
--| table.insert #2  wrong number of arguments to 'insert': none; number expected: nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; position out of bounds!: -1 '10'
--| table.insert #3  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| table.move #1  bad argument #2 to 'table.move' (number expected, got no value): none; table expected: nil false 1.5 -1 1e100 print thread; ok: 'x' '10' {} file
--| table.move #2  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| table.move #3  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| table.move #4  number expected: none nil false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; ok: -1 '10'
--| table.move #5  ok: none nil {}; table expected: false 1.5 -1 1e100 'x' '10' print thread file
--| table.remove #1  table expected: none nil false 1.5 -1 1e100 'x' '10' print thread file; ok: {}
--| table.remove #2  ok: none nil; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100; position out of bounds!: -1 '10'
--| table.sort #1  table expected: none nil false 1.5 -1 1e100 'x' '10' print thread file; ok: {}
--| 2	1
--| table.sort #2  ok: none nil print; function expected: false 1.5 -1 1e100 'x' '10' {} thread file
--| table.unpack #1  attempt to get length of a nil value: none; attempt to index a nil value: nil; attempt to index a boolean value: false; attempt to index a number value: 1.5 -1 1e100; ok: 'x' '10' {} file; attempt to index a function value: print; attempt to index a thread value: thread
--| table.unpack #2  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| table.unpack #3  ok: none nil -1 '10'; number expected: false 'x' {} print thread file; number has no integer representation!: 1.5 1e100
--| 	concat	false	bad argument #1 to 'table.concat' (table expected, got number)
--| 	insert	false	bad argument #1 to 'table.insert' (table expected, got number)
--| 	move	false	bad argument #1 to 'table.move' (table expected, got number)
--| 	remove	false	bad argument #1 to 'table.remove' (table expected, got number)
--| 	sort	false	bad argument #1 to 'table.sort' (table expected, got number)
--| 	unpack	false	attempt to index a number value
--| index	concat	false	bad argument #1 to 'table.concat' (table expected, got number)
--| index	insert	false	bad argument #1 to 'table.insert' (table expected, got number)
--| index	move	false	bad argument #1 to 'table.move' (table expected, got number)
--| index	remove	false	bad argument #1 to 'table.remove' (table expected, got number)
--| index	sort	false	bad argument #1 to 'table.sort' (table expected, got number)
--| index	unpack	true	
--| len	concat	false	bad argument #1 to 'table.concat' (table expected, got number)
--| len	insert	false	bad argument #1 to 'table.insert' (table expected, got number)
--| len	move	false	bad argument #1 to 'table.move' (table expected, got number)
--| len	remove	false	bad argument #1 to 'table.remove' (table expected, got number)
--| len	sort	false	bad argument #1 to 'table.sort' (table expected, got number)
--| len	unpack	false	attempt to index a number value
--| newindex	concat	false	bad argument #1 to 'table.concat' (table expected, got number)
--| newindex	insert	false	bad argument #1 to 'table.insert' (table expected, got number)
--| newindex	move	false	bad argument #1 to 'table.move' (table expected, got number)
--| newindex	remove	false	bad argument #1 to 'table.remove' (table expected, got number)
--| newindex	sort	false	bad argument #1 to 'table.sort' (table expected, got number)
--| newindex	unpack	false	attempt to index a number value
--| index len	concat	true	
--| index len	insert	false	bad argument #1 to 'table.insert' (table expected, got number)
--| index len	move	false	bad argument #1 to 'table.move' (table expected, got number)
--| index len	remove	false	bad argument #1 to 'table.remove' (table expected, got number)
--| index len	sort	false	bad argument #1 to 'table.sort' (table expected, got number)
--| index len	unpack	true	
--| index newindex	concat	false	bad argument #1 to 'table.concat' (table expected, got number)
--| index newindex	insert	false	bad argument #1 to 'table.insert' (table expected, got number)
--| index newindex	move	true	
--| index newindex	remove	false	bad argument #1 to 'table.remove' (table expected, got number)
--| index newindex	sort	false	bad argument #1 to 'table.sort' (table expected, got number)
--| index newindex	unpack	true	
--| index newindex len	concat	true	
--| index newindex len	insert	false	wrong number of arguments to 'insert'
--| index newindex len	move	true	
--| index newindex len	remove	true	
--| index newindex len	sort	true	
--| index newindex len	unpack	true	

local check = dofile("../modules/arguments.lua")
check("table.concat", table.concat, { 1, 2 }, ",", 1, 2)
check("table.insert", table.insert, { 1, 2 }, 1)
check("table.insert", table.insert, { 1, 2 }, 1, 2)
check("table.move", table.move, { 1, 2 }, 1, 2, 3, {})
check("table.remove", table.remove, { 1, 2 }, 1)
check("table.sort", table.sort, { 1, 2 }, rawequal)
check("table.unpack", table.unpack, { 1, 2 }, 1, 2)
-- Not tables, but with the metamethods that the functions need.
local function proxy(events)
  local meta = {}
  for event in events:gmatch("%a+") do
    meta["__" .. event] = function(...) return event == "len" and 2 or ... end
  end
  return meta
end
for _, events in ipairs({ "", "index", "len", "newindex", "index len", "index newindex",
  "index newindex len" }) do
  debug.setmetatable(1, proxy(events))
  for _, name in ipairs({ "concat", "insert", "move", "remove", "sort", "unpack" }) do
    local ok, message = pcall(table[name], 5, name == "move" and 1 or nil, 1, 1)
    print(events, name, ok, not ok and message or "")
  end
end
