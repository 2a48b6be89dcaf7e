-- The message of a search lists the files of the path in order, with the name in each place; a name
-- may contain separators itself.
-- expect: ok

local function message(...)
  local found, text = package.searchpath(...)
  assert(found == nil)
  return text
end
assert(message("x.y", "?/no;./?.no") == "no file 'x/y/no'\n\tno file './x/y.no'")
assert(message("x.y", "?/?.no", "", "") == "no file 'x.y/x.y.no'")
assert(message("a-b", "?.no", "-", "+") == "no file 'a+b.no'")
assert(message("p;q", "?.no") == "no file 'p'\n\tno file 'q.no'")
assert(message("x", "/no/1;/no/2") == "no file '/no/1'\n\tno file '/no/2'")
assert(not pcall(require, "no.such.module"))
