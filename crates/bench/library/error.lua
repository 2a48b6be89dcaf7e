-- covers: errors with values and messages, caught by pcall
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local pcall, error = pcall, error
local function throw(value) error(value) end
local function deep(n) if n == 0 then error("bottom", 2) end return (deep(n - 1)) end
local function index(t) return t.field.missing end
local record, sum = { code = 7 }, 0
for i = 1, 290000 * scale // 1 do
  local _, e = pcall(throw, record)
  local _, m = pcall(throw, "message")
  local _, d = pcall(deep, 5)
  local _, n = pcall(index, record)
  sum = sum + e.code + #m - #m + #d - #d + #n - #n
end
print(sum)
