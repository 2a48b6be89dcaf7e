-- if, elseif and else choose one block (3.3.4).
-- expect: ok
--| -1	negative
--| 0	zero
--| 5	small
--| 10	large
--| else
--| inner else
--| short circuit
--| and or
--| first value
--| a c d taken
--| p q equal

local function classify(n)
  if n < 0 then return "negative"
  elseif n == 0 then return "zero"
  elseif n < 10 then return "small"
  else return "large" end
end
for _, n in ipairs({ -1, 0, 5, 10 }) do print(n, classify(n)) end
if nil then print("never") elseif false then print("never") else print("else") end
if 1 then if nil then print("never") else print("inner else") end end
if false then end
if true then else print("never") end
local x
if not x and (x == nil or x.y) then print("short circuit") end
if x or 5 > 3 and "yes" then print("and or") end
if (function() return nil, true end)() then print("never") else print("first value") end
local function side(v, name) io.write(name, " "); return v end
if side(false, "a") and side(true, "b") or side(true, "c") and not side(false, "d") then
  print("taken")
end
if not (side(1, "p") == side(1, "q")) then print("never") else print("equal") end
