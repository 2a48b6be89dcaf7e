-- expect: ok
--| bad argument #2 to 'searchpath' (string expected, got no value)
--| bad argument #4 to 'searchpath' (string expected, got table)
--| bad argument #3 to 'searchpath' (string expected, got table)
--| bad argument #1 to 'searchpath' (string expected, got table)
--| nil	no file 'b'

-- PUC, compiled with GCC, checks the last argument first.
local searchpath = package.searchpath

local function check(...)
  local values = table.pack(...)
  local ok, message = pcall(function()
    local _ = searchpath(table.unpack(values, 1, values.n))
  end)
  print((message:gsub("^.-: ", "", 1)))
end

check()
check({}, {}, {}, {})
check({}, {}, {})
check({}, "b")
print(searchpath("a", "b"))
