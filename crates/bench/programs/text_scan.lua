-- covers: string searching, patterns, gsub, splitting
-- Makes a web server's log, then reads it the way log tools do: split, find,
-- match, gmatch, gsub with a string, a table and a function.

local scale = tonumber(arg and arg[1]) or 1
local LINES = math.max(10, math.floor(38000 * scale))

local METHODS = { "GET", "POST", "PUT", "DELETE" }
local PATHS = { "/index.html", "/api/v1/users", "/api/v1/orders/%d", "/static/app.js", "/login" }
local AGENTS = { "Mozilla/5.0 (X11; Linux)", "curl/7.88.1", "bot (+http://example.org/bot)" }

local seed = 2024
local function pick(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local function make_line(i)
  local path = PATHS[pick(#PATHS)]:gsub("%%d", function() return tostring(pick(900)) end)
  return string.format(
    '10.%d.%d.%d - - [%02d/Mar/2024:%02d:%02d:%02d] "%s %s?id=%d&tag=t%d" %d %d "%s"',
    pick(4), pick(200), pick(200), i % 28 + 1, pick(23), pick(59), pick(59),
    METHODS[pick(#METHODS)], path, pick(1000), pick(50),
    pick(10) == 1 and 404 or 200, pick(50000), AGENTS[pick(#AGENTS)])
end

local function split(text, separator)
  local parts, from = {}, 1
  while true do
    local first, last = text:find(separator, from, true)
    if not first then break end
    parts[#parts + 1] = text:sub(from, first - 1)
    from = last + 1
  end
  parts[#parts + 1] = text:sub(from)
  return parts
end

local function trim(text)
  return (text:gsub("^%s+", ""):gsub("%s+$", ""))
end

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
local function escape(text)
  return (text:gsub('[&<>"]', ENTITIES))
end

local function percent_encode(text)
  return (text:gsub("[^%w%-_./]", function(c) return string.format("%%%02X", c:byte()) end))
end

local lines = {}
for i = 1, LINES do lines[i] = make_line(i) end
local log = table.concat(lines, "\n")

local hits, bytes, missing, fields, bots = 0, 0, 0, 0, 0
local by_tag = {}
for line in log:gmatch("[^\n]+") do
  local ip, day, hour, method, target, status, size =
    line:match('^(%S+) %S+ %S+ %[(%d+)/%a+/%d+:(%d+)[^%]]*%] "(%u+) (%S+)" (%d+) (%d+)')
  assert(ip and day and hour and method, "a line does not parse")
  hits = hits + tonumber(hour)
  bytes = bytes + tonumber(size)
  if status == "404" then missing = missing + 1 end
  local query = target:sub((target:find("?", 1, true) or 0) + 1)
  for key, value in query:gmatch("(%w+)=(%w+)") do
    if key == "tag" then by_tag[value] = (by_tag[value] or 0) + 1 end
  end
  if line:find("bot", 1, true) then bots = bots + 1 end
end

local words = split(log:gsub("[%[%]\"]", ""), " ")
for _, word in ipairs(words) do
  if trim(word) ~= "-" then fields = fields + 1 end
end

local escaped, encoded = 0, 0
for i = 1, #lines, 3 do
  escaped = escaped + #escape(lines[i])
  encoded = encoded + #percent_encode(lines[i])
end

local tags, most = 0, 0
for _, count in pairs(by_tag) do
  tags = tags + 1
  if count > most then most = count end
end
print(string.format("text_scan hours %d bytes %d missing %d bots %d", hits, bytes, missing, bots))
print(string.format("fields %d escaped %d encoded %d tags %d most %d",
  fields, escaped, encoded, tags, most))
