-- covers: debug.setlocal on every temporary of a function that is in the middle of a concatenation
-- expect: ok
--| x
--| ax
--| ax

-- Counts the values of the function that concatenates, and overwrites its integers.
local function overwrite()
  local n = 1
  local name, v = debug.getlocal(3, n)
  while name do
    if math.type(v) == "integer" then debug.setlocal(3, n, 100000) end
    n = n + 1
    name, v = debug.getlocal(3, n)
  end
end

local object = setmetatable({}, { __concat = function() overwrite() return "x" end })

local function join2(a, b) local s = a .. b return s end
local function join3(a, b, c) local s = a .. b .. c return s end
local function join4(a, b, c, d) local s = a .. b .. c .. d return s end

print(join2("a", object))
print(join3("a", "b", object))
print(join4("a", object, object, "b"))
