-- A function that string.format or string.gsub calls may replace their arguments: the library
-- continued in the new string, and crashed if that was shorter.
-- expect: ok
--| true	x 1
--| true		6
--| true		6
--| true	wxyz	3
--| true	-a-b-c-a-b-c-	7
local function replace(s) debug.setlocal(3, 1, s) end
local x = setmetatable({}, {__tostring = function() replace "" return "x" end})
print(pcall(string.format, "%s %d", x, 1))
print(pcall(string.gsub, "abcabc", ".", function() replace "" return "" end))
print(pcall(string.gsub, "abcabc", ".", setmetatable({}, {__index = function()
  replace ""
  return ""
end})))
local parts = {"w", "xy", "z"}
print(pcall(string.gsub, "abcabc", "..", function()
  replace "wxyz"
  return table.remove(parts, 1)
end))
print(pcall(string.gsub, "abcabc", "()", function() replace "wx" return "-" end))
