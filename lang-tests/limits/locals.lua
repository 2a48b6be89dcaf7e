-- A function has at most 200 local variables (3.3.7, implementation limit).
-- expect: ok
--| 1	100	200
--| nil	s:1: too many local variables (limit is 200) in main function near <eof>
--| nil	s:3: too many local variables (limit is 200) in main function near <eof>
--| nil	s:3: too many local variables (limit is 200) in function at line 1 near 'end'
--| nil	s:1: too many local variables (limit is 200) in main function near '='
--| nil	s:201: too many local variables (limit is 200) in main function near '='
--| 6
--| true
--| nil	s:1: too many local variables (limit is 200) in function at line 1 near ')'

local function declare(n, prefix)
  local names = {}
  for i = 1, n do names[i] = prefix .. i end
  return table.concat(names, ", ")
end
local f = load("local " .. declare(200, "a") .. " = ... return a1, a100, a200")
local args = {}
for i = 1, 200 do args[i] = i end
print(f(table.unpack(args)))
print(load("local " .. declare(201, "a"), "=s"))
print(load("\nlocal " .. declare(150, "a") .. "\nlocal " .. declare(51, "b"), "=s"))
print(load("function f()\nlocal " .. declare(201, "a") .. "\nend", "=s"))
print(load("local " .. declare(199, "a") .. " for i = 1, 2 do end", "=s"))
local statements = {}
for i = 1, 201 do statements[i] = "local x" .. i .. " = " .. i end
print(load(table.concat(statements, "\n"), "=s"))
-- Blocks give their locals back.
local blocks = {}
for i = 1, 3 do
  blocks[i] = "do local " .. declare(150, "b") .. " = " .. i .. "; x = (x or 0) + b1 end"
end
load(table.concat(blocks, " "))()
print(x)
print(load("function f(" .. declare(200, "p") .. ") return p200 end", "=s") ~= nil)
print(load("function f(" .. declare(201, "p") .. ") end", "=s"))
