-- collectgarbage's options and their results (2.5, 6.1).
-- expect: ok
--| 0	0
--| number	float
--| true
--| 0	false
--| 0	true
--| boolean
--| incremental
--| generational
--| incremental
--| false	bad argument #1 to 'collectgarbage' (invalid option 'unknown')
--| false	bad argument #1 to 'collectgarbage' (string expected, got table)

print(collectgarbage(), collectgarbage("collect"))
print(type(collectgarbage("count")), math.type(collectgarbage("count")))
print(collectgarbage("isrunning"))
print(collectgarbage("stop"), collectgarbage("isrunning"))
print(collectgarbage("restart"), collectgarbage("isrunning"))
print(type(collectgarbage("step")))
collectgarbage("incremental")
print(collectgarbage("generational"))
print(collectgarbage("incremental"))
print(collectgarbage("incremental", 100, 200, 10))
print(pcall(collectgarbage, "unknown"))
print(pcall(collectgarbage, {}))
