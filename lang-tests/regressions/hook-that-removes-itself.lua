-- A hook that moves the stack and removes itself: the instruction that it interrupted still runs
-- (manual 6.10).
-- expect: ok
--| 30	30
--| ok	ok	ok	ok

local function deep(n)
  if n > 0 then return 1 + deep(n - 1) end
  return 0
end

local function add(a, b) return a + b end
local done, right = 0, 0
for lines = 1, 30 do
  coroutine.wrap(function()
    local c = 0
    local function hook()
      c = c + 1
      if c == lines then deep(400) debug.sethook() end
    end
    debug.sethook(hook, "l")
    local a = 1
    local b = add(a, 2)
    local t = { a, b, x = add(b, a) }
    local s = tostring(t.x) .. a .. b
    for i = 1, 3 do
      a = add(a, i)
      t[#t + 1] = a
    end
    local k = select("#", a, b, s)
    debug.sethook()
    done = done + 1
    if s == "413" and a == 7 and #t == 5 and t[5] == 7 and k == 3 then right = right + 1 end
  end)()
end
print(done, right)

local results = {}
for _, kind in ipairs { "l", "c", "r", "" } do
  coroutine.wrap(function()
    local ok = true
    for at = 1, 20 do
      local c = 0
      local function hook()
        c = c + 1
        if c == at then deep(300 * at) debug.sethook() end
      end
      debug.sethook(hook, kind, kind == "" and 1 or 0)
      local x = add(add(1, 2), add(3, 4))
      local y = add(x, at) .. "!"
      debug.sethook()
      ok = ok and x == 10 and y == 10 + at .. "!"
    end
    results[#results + 1] = ok and "ok" or "wrong"
  end)()
end
print(table.unpack(results))
