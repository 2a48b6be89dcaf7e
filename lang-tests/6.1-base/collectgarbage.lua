-- collectgarbage's options and what they return (6.1).
-- expect: ok
--| 0	0	0	float	true
--| true	0	false	0	true
--| boolean	boolean
--| incremental	generational	generational	incremental
--| incremental	generational
--| 148	300
--| 0 0 4 1000 1020 0 904 1016 
--| false	bad argument #1 to 'collectgarbage' (invalid option '')
--| false	bad argument #1 to 'collectgarbage' (invalid option 'x')
--| false	bad argument #1 to 'collectgarbage' (invalid option 'Count')
--| false	bad argument #1 to 'collectgarbage' (invalid option 'collect ')
--| false	bad argument #1 to 'collectgarbage' (invalid option '5')
--| true	true

print(collectgarbage(), collectgarbage("collect"), collectgarbage(nil),
  math.type(collectgarbage("count")), collectgarbage("count") > 1)
print(collectgarbage("isrunning"), collectgarbage("stop"), collectgarbage("isrunning"),
  collectgarbage("restart"), collectgarbage("isrunning"))
print(type(collectgarbage("step")), type(collectgarbage("step", 100)))
-- The modes answer the mode before, the parameters their value before.
print(collectgarbage("generational"), collectgarbage("generational"), collectgarbage("incremental"),
  collectgarbage("incremental"))
print(collectgarbage("generational", 20, 100), collectgarbage("incremental", 200, 100, 13))
local pause, multiplier = collectgarbage("setpause", 151), collectgarbage("setstepmul", 300)
print(collectgarbage("setpause", pause), collectgarbage("setstepmul", multiplier))
for _, n in ipairs({ 0, 3, 4, 1000, 1023, 1024, 5000, -8 }) do
  collectgarbage("setpause", n); io.write(collectgarbage("setpause", pause), " ")
end
print()
for _, option in ipairs({ "", "x", "Count", "collect ", 5 }) do
  print(pcall(collectgarbage, option))
end
-- Memory that is not reachable goes away.
local before = collectgarbage("count")
local full
do local t = {} for i = 1, 1000 do t[i] = { i } end full = collectgarbage("count"); t[1] = nil end
collectgarbage(); collectgarbage()
print(full - before > 40, collectgarbage("count") - before < 30)
-- In a finalizer only "count" and the like do something.
setmetatable({}, { __gc = function()
  print("finalizer", collectgarbage("collect"), collectgarbage("count") > 1)
end })
collectgarbage(); collectgarbage()
