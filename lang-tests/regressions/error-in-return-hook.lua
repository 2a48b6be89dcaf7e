-- An error in the hook for the return of pcall is not caught by that pcall (manual 6.10).
-- expect: ok
--| pcall	true	1	false	hooked sethook
--| xpcall	true	1	false	handled hooked sethook
--| pcall	true	1	false	hooked sethook
--| xpcall	true	1	false	handled hooked sethook
--| pcall	true	1	false	hooked ?
--| xpcall	true	1	false	handled hooked ?
--| pcall	false	hooked pcall
--| xpcall	true	1	false	handled hooked ?
--| pcall	false	hooked pcall
--| xpcall	false	hooked xpcall
--| pcall	false	hooked ?
--| xpcall	false	hooked xpcall
--| pcall	false	hooked ?
--| xpcall	false	hooked ?
--| ended by	hooked pcall
--| xpcall	false	hooked ?
--| ended by	hooked pcall
--| ended by	hooked pcall
--| pcall	true	1	false	inside
--| ended by	hooked print
--| ended by	hooked pcall

local function try(name, at, body)
  local c = 0
  local function hook()
    c = c + 1
    if c == at then debug.sethook() error("hooked " .. (debug.getinfo(2, "n").name or "?"), 0) end
  end
  print(name, pcall(function()
    if name == "xpcall" then
      return 1, xpcall(body, function(m) return "handled " .. m end, hook)
    end
    return 1, pcall(body, hook)
  end))
  debug.sethook()
end
local function set(hook) debug.sethook(hook, "r") end
local function fail(hook) debug.sethook(hook, "r") error("inside", 0) end
-- The error in the hook for the return of the outer pcall ends the coroutine.
local function run(...)
  local ok, e = coroutine.resume(coroutine.create(try), ...)
  if not ok then print("ended by", e) end
end
for at = 1, 5 do
  run("pcall", at, set); run("xpcall", at, set)
  run("pcall", at, fail)
  run("xpcall", at, fail)
end
