-- Errors with the texts of errors of the system; that of memory is the system's again (6.2).
-- expect: ok
--| not enough memory
--| errors-that-only-look-alike.lua:12: stack overflow
--| errors-that-only-look-alike.lua:12: interrupted!
--| errors-that-only-look-alike.lua:12: error in error handling
--| [string "local x = 1 = 'not enough memory'"]:1: unexpected symbol near '='
--| false	not enough memory

local function again(text)
  local f = coroutine.wrap(function() error(text, 0) end)
  local _, message = pcall(function() f() end)
  print(message)
end
for _, text in ipairs({
  "not enough memory", "stack overflow", "interrupted!", "error in error handling",
}) do
  again(text)
end
print(select(2, load("local x = 1 = 'not enough memory'")))
print(xpcall(error, function(e) return "handled: " .. e end, "not enough memory", 0))
