-- coroutine.resume, yield and status (6.2).
-- expect: ok
--| in	running	2	1	nil
--| outer is	normal
--| suspended	true
--| got
--| suspended	true	nil	nil
--| got	x	nil
--| 4
--| dead	false	cannot resume dead coroutine
--| true
--| false	nil
--| true	false	cannot resume non-suspended coroutine
--| false	cannot resume non-suspended coroutine
--| true	false	cannot resume non-suspended coroutine
--| running	suspended
--| true	false	cannot resume non-suspended coroutine
--| dead
--| false	attempt to yield from outside a coroutine
--| false	attempt to yield from outside a coroutine
--| false	attempt to yield across a C-call boundary
--| false	attempt to yield across a C-call boundary
--| true	nil	attempt to yield across a C-call boundary
--| true	true	again
--| true	true	again
--| true
--| true	again
--| true	again
--| true	again
--| true	true
--| true	true	false
--| true	again	again	again
--| true	nil
--| true
--| true
--| false	attempt to yield across a C-call boundary
--| false	attempt to yield across a C-call boundary
--| false	attempt to yield across a C-call boundary
--| false	resume-yield.lua:94: attempt to call a string value (for iterator 'for iterator')
--| 1 2 11 201 5001 
--| 4002000
--| true	deep
--| true	out
--| C stack overflow	true
local create, resume, status, yield, running = coroutine.create, coroutine.resume, coroutine.status,
  coroutine.yield, coroutine.running
local co; co = create(function(...)
  print("in", status(co), select("#", ...), ...)
  local inner = create(function() print("outer is", status(co)) end); resume(inner)
  print("got", yield()); print("got", yield(nil, nil)); return nil, "end", nil
end)
print(status(co), resume(co, 1, nil)); print(status(co), resume(co))
print(select("#", resume(co, "x", nil))); print(status(co), resume(co))
print(resume(create(function() return end))); print(resume(create(error), nil))
print(resume(create(function() return resume(running()) end)))
print(resume(running())); local main = running()
print(resume(create(function() return resume(main) end)))
print(status(main), status(create(print)))
co = create(function() return resume(co) end); print(resume(co)); print(status(co))
-- Outside of a coroutine, and across native functions.
print(pcall(yield)); print(pcall(yield, 1))
local function inside(f, ...)
  local co = create(f); local r = table.pack(resume(co, ...))
  while status(co) ~= "dead" do r = table.pack(resume(co, "again")) end
  return table.unpack(r, 1, r.n)
end
print(inside(function() table.sort({ 2, 1 }, yield) end))
print(inside(function() ("x"):gsub("x", yield) end))
print(inside(function() return load(yield) end))
print(inside(function() return pcall(yield, 1) end))
print(inside(function() return xpcall(yield, print, 1) end))
print(inside(function() return select(2, yield(1, 2)) end))
print(inside(function() for i in yield do return i end end))
print(inside(function() return setmetatable({}, { __index = yield }).x end))
print(inside(function() return #setmetatable({}, { __len = yield }) end))
print(inside(function() return setmetatable({}, { __eq = yield }) == setmetatable({}, {}) end))
print(inside(function()
  return setmetatable({}, { __lt = yield }) < 1, not (setmetatable({}, { __le = yield }) <= 1)
end))
print(inside(function()
  return setmetatable({}, { __concat = yield }) .. "x" .. "y",
    1 + setmetatable({}, { __add = yield }), -setmetatable({}, { __unm = yield })
end))
print(inside(function()
  local t = setmetatable({}, { __newindex = yield }); t.x = 1; return rawget(t, "x")
end))
print(inside(function() return setmetatable({}, { __call = yield })() end) ~= nil)
print(inside(function() return dofile("../modules/arguments.lua") end) == true)
print(inside(function() return table.unpack(setmetatable({}, { __index = yield }), 1, 1) end))
print(inside(function() return tostring(setmetatable({}, { __tostring = yield })) end))
print(inside(function()
  return table.concat(setmetatable({}, { __index = yield, __len = function() return 1 end }))
end))
print(inside(function() for k in pairs(setmetatable({}, { __pairs = yield })) do end end))
-- Many values, and many coroutines.
co = create(function(...)
  local n = select("#", ...); while true do n = select("#", yield(table.unpack({}, 1, n))) end
end)
for _, n in ipairs({ 0, 1, 10, 200, 5000 }) do
  io.write(select("#", resume(co, table.unpack({}, 1, n))), " ")
end
print()
local all = {}
for i = 1, 2000 do
  all[i] = create(function(a) local b = yield(a + i); return a * b end)
  assert(select(2, resume(all[i], i)) == 2 * i)
end
local sum = 0 for i = 1, 2000 do sum = sum + select(2, resume(all[i], 2)) end print(sum)
local function deep(n) if n == 0 then return yield("deep") end return (deep(n - 1)) end
co = create(deep); print(resume(co, 3000)); print(resume(co, "out"))
-- Coroutines in coroutines end in an error that can be caught.
local levels = 0
local function nest() levels = levels + 1; local ok, e = resume(create(nest)); return e end
print(nest(), levels > 100)
