-- Errors stop at the innermost protected call, and unwinding restores the callers (2.3).
-- expect: ok
--| false	bottom1234
--| in4 in3 in2 in1 in0 out1 out2 out3 out4
--| done	3
--| nil	failed

local log = {}
local function level(n)
  log[#log + 1] = "in" .. n
  if n == 0 then error("bottom", 0) end
  local ok, e = pcall(level, n - 1)
  log[#log + 1] = "out" .. n
  error(e .. n, 0)
end
print(pcall(level, 4))
print(table.concat(log, " "))
local function retry(times, f)
  for i = 1, times do
    local ok, v = pcall(f, i)
    if ok then return v, i end
  end
  return nil, "failed"
end
print(retry(5, function(i) if i < 3 then error() end return "done" end))
print(retry(2, function(i) error() end))
