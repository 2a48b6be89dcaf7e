-- Uses a module in Rust.
local counters = require "counters"

local c = counters.new "clicks"
for _ = 1, 1000 do c:add() end
print(c, #c, c.name, c:add(10), pcall(c.add, c, math.maxinteger))
print(pcall(c.add, {}, 1))
print(pcall(counters.new, {}))

local sorted = {}
for word, count in pairs(counters.words "a rose is a rose") do
  sorted[#sorted + 1] = word .. "=" .. count
end
table.sort(sorted)
print(table.concat(sorted, " "))

-- calls from Rust, which become hot, and errors through them
print(counters.sum(100000, function(x) return x * x end))
local ok, message = pcall(counters.sum, 10, function(x) return x > 3 and error "too many" or x end)
print(ok, (tostring(message):gsub("\n.*", "")))
local ok, message = pcall(counters.sum, 10, function() return nil end)
print(ok, (tostring(message):gsub("\n.*", "")))

local all = counters.yields(function() for i = 1, 5 do coroutine.yield(i) end return "end" end)
print(table.concat(all, ","))

-- a panic of the module passes Lua as an error
local ok, message = pcall(counters.panic)
print(ok, type(message))

-- objects are dropped by the collector
for _ = 1, 20000 do counters.new "none":add() end
collectgarbage()
print(c:add(), collectgarbage "count" < 4000)
