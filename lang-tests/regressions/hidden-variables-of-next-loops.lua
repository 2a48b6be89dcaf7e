-- Hidden variables of an inlined loop, read and set by `debug` (6.10).
-- expect: ok
--| 1	true	1:10 2:20
--| 2	true	1:10 2:20 3:3 4:a 5:b
--| 3	true	1:10 2:20 c=2
--| 4	false	hidden-variables-of-next-loops.lua:20: bad argument #1 to 'for iterator' (table expected, got number)
--| 5	true	1:10 2:20 4:40
--| 6	true	1:10 2:20 function table 2 3:30 4:40
local function hidden()
  local found = {}
  for n = 1, 20 do
    local name = debug.getlocal(2, n)
    if not name then break end
    if name == "(for state)" then found[#found + 1] = n end
  end
  return found
end
local function loop(mode)
  local out = {}
  for k, v in next, {10, 20, 30, 40} do
    out[#out + 1] = k .. ":" .. tostring(v)
    if k == 2 then
      local at = hidden()
      if mode == 1 then
        debug.setlocal(1, at[1], function() return nil end)
      elseif mode == 2 then
        debug.setlocal(1, at[2], {1, 2, 3, "a", "b"})
      elseif mode == 3 then
        debug.setlocal(1, at[1], function(_, c) out[#out + 1] = "c=" .. tostring(c) return nil end)
        debug.setlocal(1, at[2], 5)
      elseif mode == 4 then
        debug.setlocal(1, at[2], 5)
      elseif mode == 5 then
        debug.setlocal(1, at[3], 3)
      elseif mode == 6 then
        for n = 1, 3 do
          local _, value = debug.getlocal(1, at[n])
          out[#out + 1] = type(value) == "number" and value or type(value)
        end
      end
    end
    if #out > 12 then break end
  end
  return table.concat(out, " ")
end
for _ = 1, 100 do loop(0) end
for mode = 1, 6 do print(mode, pcall(loop, mode)) end
