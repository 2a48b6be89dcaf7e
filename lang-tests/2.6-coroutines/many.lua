-- Many coroutines live at once and run interleaved (2.6).
-- expect: ok
--| 1	1830
--| 2	5490
--| 3	10980
--| true	end 6
--| true	end 360
--| dead	suspended

local cos = {}
for i = 1, 60 do
  cos[i] = coroutine.create(function(step)
    local sum = 0
    while true do
      sum = sum + i * step
      step = coroutine.yield(sum)
      if not step then return "end " .. sum end
    end
  end)
end
for round = 1, 3 do
  local total = 0
  for i = 1, 60 do total = total + select(2, coroutine.resume(cos[i], round)) end
  print(round, total)
end
print(coroutine.resume(cos[1]))
print(coroutine.resume(cos[60]))
print(coroutine.status(cos[1]), coroutine.status(cos[2]))
