-- Debuggers can set the hidden variables of a numeric loop to values of the same type only, since
-- the loop replaces their payloads alone. PUC interprets the payloads of all values as numbers, and
-- crashes.
-- skip(puc): crashes
-- expect: ok
--| (for state)	(for state)	(for state)
--| 10	3	10
--| 3

local function set(level, n, v) return debug.setlocal(level + 1, n, v) end

local function loop(variable, v, name)
  local rounds = 0
  for i = 1, 10 do
    rounds = rounds + 1
    if i == 2 then name[#name + 1] = set(1, variable, v) end
    if i % 4 == 0 then collectgarbage() end
  end
  return rounds
end

local names = {}
for n = 5, 7 do loop(n, {}, names) end
print(table.unpack(names))
for n = 5, 7 do
  for _, v in ipairs({ {}, "text", 1e308, print, true }) do assert(loop(n, v, {}) == 10) end
end
local function float(v)
  local rounds = 0
  for x = 1.0, 10.0 do
    rounds = rounds + 1
    if x == 2 then set(1, 4, v) end
    if x == 3 then set(1, 3, v) end
    collectgarbage("step")
  end
  return rounds
end
print(float({}), float(4.0), float("x"))
local function in_coroutine(co)
  for _ = 1, 3 do coroutine.yield() debug.setlocal(co, 1, 2, {}) debug.setlocal(co, 1, 3, co) end
end
local co = coroutine.create(in_coroutine)
local n = 0
while coroutine.resume(co, co) and coroutine.status(co) ~= "dead" do n = n + 1 collectgarbage() end
print(n)
