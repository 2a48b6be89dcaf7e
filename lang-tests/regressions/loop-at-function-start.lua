-- A loop whose first instruction is the function's is entered with the frame's registers, not with
-- fresh parameters.
-- expect: ok
--| 0
--| done

local function count(i)
  while true do
    if i > 0 then i = i - 1 else return i end
  end
end
print(count(5000))
local function drain(list)
  while list.n > 0 do list.n = list.n - 1 end
  return "done"
end
print(drain({ n = 5000 }))
