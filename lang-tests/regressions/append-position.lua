-- A file opened for appending stands at its end before the first write (6.8).
-- expect: ok
--| a	5
--| 6
--| ab	6
--| 7
--| a+	0
--| 8

local name = os.tmpname()
local f = io.open(name, "w"); f:write("12345"); f:close()
for _, mode in ipairs({ "a", "ab", "a+" }) do
  f = io.open(name, mode); print(mode, f:seek()); f:write("6"); print(f:seek()); f:close()
end
os.remove(name)
