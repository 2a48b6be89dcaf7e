-- covers: concatenation, table.concat, string.format, string.rep
-- Renders reports as HTML, CSV and aligned text, with short concatenations by
-- `..` and long ones through a buffer, and wraps paragraphs to a width.

local scale = tonumber(arg and arg[1]) or 1
local ROWS = math.max(5, math.floor(65000 * scale))

local seed = 77
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n
end

local NAMES = { "tycho", "kepler", "copernicus", "plato", "clavius", "grimaldi", "aristarchus" }

local function make_rows(count)
  local rows = {}
  for i = 1, count do
    rows[i] = {
      id = i,
      name = NAMES[random(#NAMES) + 1] .. "-" .. random(100),
      depth = random(5000),
      note = random(3) == 0 and "deep \"rim\"" or "plain",
    }
  end
  return rows
end

local function tag(name, content)
  return "<" .. name .. ">" .. content .. "</" .. name .. ">"
end

local function html(rows)
  local out = { "<table>" }
  for _, row in ipairs(rows) do
    local cells = tag("td", row.id) .. tag("td", row.name) .. tag("td", row.depth)
    out[#out + 1] = tag("tr", cells .. tag("td", row.note))
  end
  out[#out + 1] = "</table>"
  return table.concat(out, "\n")
end

local function csv_field(value)
  value = tostring(value)
  if value:find('[,"]') then
    return '"' .. value:gsub('"', '""') .. '"'
  end
  return value
end

local function csv(rows)
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = table.concat({
      csv_field(row.id), csv_field(row.name), csv_field(row.depth), csv_field(row.note),
    }, ",")
  end
  return table.concat(out, "\r\n") .. "\r\n"
end

local function pad(text, width)
  return text .. string.rep(" ", width - #text)
end

local function aligned(rows)
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = string.format("%6d | %s | %05d | %-12s",
      row.id, pad(row.name, 16), row.depth, row.note)
  end
  return table.concat(out, "\n")
end

local function wrap(rows, width)
  local lines, line = {}, ""
  for _, row in ipairs(rows) do
    local word = row.name
    if #line + 1 + #word > width then
      lines[#lines + 1] = line
      line = word
    elseif line == "" then
      line = word
    else
      line = line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

local function roman(n)
  local values = { 1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1 }
  local digits = { "M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I" }
  local text = ""
  for i, value in ipairs(values) do
    while n >= value do
      text = text .. digits[i]
      n = n - value
    end
  end
  return text
end

local function checksum(text)
  local sum = 0
  for i = 1, #text, 7 do sum = (sum * 33 + text:byte(i)) % 1000003 end
  return sum
end

local rows = make_rows(ROWS)
local numerals = {}
for _, row in ipairs(rows) do numerals[#numerals + 1] = roman(row.depth) end
for _, text in ipairs({ html(rows), csv(rows), aligned(rows), wrap(rows, 72),
  table.concat(numerals, " ") }) do
  print(string.format("string_build %d %d", #text, checksum(text)))
end
