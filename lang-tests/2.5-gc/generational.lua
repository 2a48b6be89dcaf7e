-- Both modes keep old objects that point to young ones (2.5.2).
-- expect: ok
--| generational	4071
--| incremental	4071
--| generational	4071
--| incremental	4071

for _, mode in ipairs({ "generational", "incremental", "generational", "incremental" }) do
  collectgarbage(mode)
  local old = { list = {} }
  collectgarbage(); collectgarbage()
  for i = 1, 60 do
    old.list[i] = { value = i, text = "text " .. i }
    old["key" .. i] = function() return i end
    if i % 20 == 0 then collectgarbage("step") end
  end
  local sum = 0
  for i = 1, 60 do sum = sum + old.list[i].value + old["key" .. i]() + #old.list[i].text end
  print(mode, sum)
end
collectgarbage("incremental")
