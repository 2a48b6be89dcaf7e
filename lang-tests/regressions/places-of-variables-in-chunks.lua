-- The place of a variable in the debug information of a binary chunk may be wrong, and then lie in
-- the frame of another function, which debuggers must not change.
-- expect: ok

local source = "local g = ... local zzzz = 1 local r = g(zzzz, 2, 3) return r, zzzz"
local chunk = string.dump(load(source))
local _, last = chunk:find("\4zzzz", 1, true) -- PUC's chunks have another format

local function debugged(a)
  for n = 1, 10 do
    debug.getlocal(2, n)
    debug.setlocal(2, n, 42)
  end
  collectgarbage()
  return a
end
for register = 0, last and 20 or -1 do
  local changed = chunk:sub(1, last + 2) .. string.char(register) .. chunk:sub(last + 4)
  local f = load(changed, "=changed", "b")
  if f then pcall(f, debugged) end
end
