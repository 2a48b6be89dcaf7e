-- A yield crosses pcall, and errors after it are still caught (2.6).
-- expect: ok
--| in pcall x
--| got	y
--| again
--| false	after z
--| nested
--| true	true	n1	n2
--| in xpcall
--| false	handled e
--| done

local co = coroutine.wrap(function()
  print(pcall(function(x)
    local y = coroutine.yield("in pcall " .. x)
    print("got", y)
    local z = coroutine.yield("again")
    error("after " .. z, 0)
  end, "x"))
  print(pcall(pcall, coroutine.yield, "nested"))
  print(xpcall(function() coroutine.yield("in xpcall"); error("e", 0) end, function(m)
    return "handled " .. m
  end))
  return "done"
end)
print(co())
print(co("y"))
print(co("z"))
print(co("n1", "n2"))
print(co())
