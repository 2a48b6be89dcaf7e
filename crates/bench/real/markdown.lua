-- covers: Markdown to HTML: patterns, gsub with functions and tables, lists of blocks
-- memory: yes
-- Converts generated documents: headings, nested lists, quotes, code, tables, links by reference,
-- emphasis, footnotes and a table of contents; then makes a search index of the HTML.

local scale = tonumber(arg and arg[1]) or 1
local DOCUMENTS = math.max(1, math.floor(250 * scale))

local format, concat, insert = string.format, table.concat, table.insert

------------------------------------------------------------------------------------------------
-- Escaping, and places for text that later patterns must not touch

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escape(text)
  return (text:gsub('[&<>"]', ENTITIES))
end

local function trim(text)
  return (text:gsub("^%s+", ""):gsub("%s+$", ""))
end

local function slug(text)
  return (text:lower():gsub("<[^>]*>", ""):gsub("[^%w%s-]", ""):gsub("%s+", "-"))
end

-- Text is put aside under a number between two control characters, and put back at the end.
local Vault = {}
Vault.__index = Vault

local function new_vault()
  return setmetatable({ items = {} }, Vault)
end

function Vault:keep(text)
  insert(self.items, text)
  return "\1" .. #self.items .. "\2"
end

function Vault:restore(text)
  local count
  repeat
    text, count = text:gsub("\1(%d+)\2", function(number)
      return self.items[tonumber(number)]
    end)
  until count == 0
  return text
end

------------------------------------------------------------------------------------------------
-- Spans

local Converter = {}
Converter.__index = Converter

local function new_converter()
  return setmetatable({ vault = new_vault(), links = {}, footnotes = {}, footnote_order = {},
    headings = {}, used_slugs = {}, counts = {} }, Converter)
end

function Converter:count(what)
  self.counts[what] = (self.counts[what] or 0) + 1
end

local ESCAPABLE = "([\\`*_{}%[%]()#+%-.!|~])"

function Converter:code_spans(text)
  return (text:gsub("(`+)(.-[^`])%1", function(_, code)
    self:count("code span")
    return self.vault:keep("<code>" .. escape(trim(code)) .. "</code>")
  end))
end

function Converter:images(text)
  return (text:gsub('!%[([^%]]*)%]%(([^%s)]+)%s*"?([^")]*)"?%)', function(alt, source, title)
    self:count("image")
    local attribute = title ~= "" and format(' title="%s"', escape(title)) or ""
    return self.vault:keep(format('<img src="%s" alt="%s"%s>', escape(source), escape(alt),
      attribute))
  end))
end

function Converter:anchor(target, title, text)
  self:count("link")
  local attribute = title and title ~= "" and format(' title="%s"', escape(title)) or ""
  return self.vault:keep(format('<a href="%s"%s>', escape(target), attribute)) .. text
    .. self.vault:keep("</a>")
end

function Converter:link_spans(text)
  text = text:gsub("%[%^([%w-]+)%]", function(name)
    local note = self.footnotes[name]
    if not note then return nil end
    if not note.number then
      insert(self.footnote_order, name)
      note.number = #self.footnote_order
    end
    self:count("footnote")
    return self.vault:keep(format('<sup><a href="#note-%s">%d</a></sup>', name, note.number))
  end)
  text = text:gsub('%[([^%]%[]+)%]%(([^%s)]+)%s*"?([^")]*)"?%)', function(inner, target, title)
    return self:anchor(target, title, inner)
  end)
  text = text:gsub("%[([^%]%[]+)%]%[([^%]]*)%]", function(inner, name)
    local link = self.links[(name ~= "" and name or inner):lower()]
    if not link then return nil end
    return self:anchor(link.target, link.title, inner)
  end)
  return (text:gsub("<(https?://[^%s>]+)>", function(target)
    return self:anchor(target, nil, self.vault:keep(escape(target)))
  end))
end

local EMPHASIS = {
  { "%*%*%*([^%s*][^*]-)%*%*%*", "<strong><em>%1</em></strong>" },
  { "%*%*([^%s*].-)%*%*", "<strong>%1</strong>" },
  { "__([^%s_].-)__", "<strong>%1</strong>" },
  { "%*([^%s*][^*]*)%*", "<em>%1</em>" },
  { "%f[%w_]_([^%s_][^_]*)_%f[^%w_]", "<em>%1</em>" },
  { "~~([^~]+)~~", "<del>%1</del>" },
}

local TYPOGRAPHY = { ["..."] = "\226\128\166", ["--"] = "\226\128\147", ["(c)"] = "\194\169" }

function Converter:span(text)
  text = text:gsub("\\" .. ESCAPABLE, function(c) return self.vault:keep(escape(c)) end)
  text = self:code_spans(text)
  text = self:images(text)
  text = self:link_spans(text)
  text = escape(text)
  for _, rule in ipairs(EMPHASIS) do
    local count
    text, count = text:gsub(rule[1], rule[2])
    if count > 0 then self.counts.emphasis = (self.counts.emphasis or 0) + count end
  end
  text = text:gsub("%.%.%.", TYPOGRAPHY):gsub("%-%-", TYPOGRAPHY):gsub("%(c%)", TYPOGRAPHY)
  return (text:gsub("  \n", "<br>\n"))
end

------------------------------------------------------------------------------------------------
-- Blocks: each kind tries to begin at a line, and returns the line after it

local function is_blank(line) return not line or line:find("^%s*$") ~= nil end

local blocks = {}

-- # Heading
function blocks.heading(self, lines, at, out)
  local level, text = lines[at]:match("^(#+)%s+(.-)%s*#*$")
  if not level or #level > 6 then
    if not lines[at + 1] or is_blank(lines[at]) then return nil end
    local underline = lines[at + 1]:match("^(=+)%s*$") or lines[at + 1]:match("^(%-%-%-+)%s*$")
    if not underline then return nil end
    level, text = underline:sub(1, 1) == "=" and "#" or "##", trim(lines[at])
    at = at + 1
  end
  local html = self:span(text)
  local id = slug(self.vault:restore(html))
  local used = self.used_slugs[id]
  self.used_slugs[id] = (used or 0) + 1
  if used then id = id .. "-" .. used end
  insert(self.headings, { level = #level, id = id, html = html })
  self:count("heading")
  insert(out, format('<h%d id="%s">%s</h%d>', #level, id, html, #level))
  return at + 1
end

function blocks.rule(_, lines, at, out)
  local line = lines[at]:gsub("%s", "")
  if #line < 3 or not (line:find("^%*+$") or line:find("^%-+$") or line:find("^_+$")) then
    return nil
  end
  insert(out, "<hr>")
  return at + 1
end

local KEYWORDS = {}
for word in ("and do else end for function if in local not or return then while"):gmatch("%a+") do
  KEYWORDS[word] = '<b class="k">' .. word .. "</b>"
end

local function highlight(code)
  code = escape(code)
  code = code:gsub("%-%-[^\n]*", function(comment)
    return "<i>" .. comment:gsub("%a+", "%0\3") .. "</i>"
  end)
  code = code:gsub("%f[%w_]([%a_][%w_]*)(\3?)", function(word, mark)
    if mark == "" then return KEYWORDS[word] end
  end)
  return (code:gsub("\3", ""))
end

-- ``` fenced code
function blocks.fence(self, lines, at, out)
  local fence, language = lines[at]:match("^(```+)%s*([%w+-]*)%s*$")
  if not fence then return nil end
  local code = {}
  at = at + 1
  while lines[at] and not lines[at]:find("^" .. fence .. "%s*$") do
    insert(code, lines[at])
    at = at + 1
  end
  local text = concat(code, "\n")
  local html = language == "lua" and highlight(text) or escape(text)
  self:count("code block")
  local class = language ~= "" and format(' class="language-%s"', language) or ""
  insert(out, self.vault:keep(format("<pre><code%s>%s\n</code></pre>", class, html)))
  return at + 1
end

-- Four blanks
function blocks.indented(self, lines, at, out)
  if not lines[at]:find("^    %S") then return nil end
  local code = {}
  while lines[at] and (lines[at]:find("^    ") or is_blank(lines[at])) do
    insert(code, (lines[at]:gsub("^    ", "")))
    at = at + 1
  end
  while code[#code] == "" do table.remove(code) end
  self:count("code block")
  insert(out, self.vault:keep("<pre><code>" .. escape(concat(code, "\n")) .. "\n</code></pre>"))
  return at
end

-- > quoted
function blocks.quote(self, lines, at, out)
  if not lines[at]:find("^>") then return nil end
  local inner = {}
  while lines[at] and (lines[at]:find("^>") or not is_blank(lines[at])) do
    insert(inner, (lines[at]:gsub("^>%s?", "")))
    at = at + 1
  end
  self:count("quote")
  insert(out, "<blockquote>")
  self:blocks(inner, out)
  insert(out, "</blockquote>")
  return at
end

-- Lists: items may hold blocks, which are indented.
local function list_marker(line)
  local indent, marker, rest = line:match("^(%s*)([-+*])%s+(.*)$")
  if marker then return #indent, "ul", rest, #indent + 2 end
  local number
  indent, number, rest = line:match("^(%s*)(%d+)[.)]%s+(.*)$")
  if number then return #indent, "ol", rest, #indent + #number + 2, tonumber(number) end
end

function blocks.list(self, lines, at, out)
  local indent, kind, _, _, start = list_marker(lines[at])
  if not indent or indent > 3 then return nil end
  local items, loose = {}, false
  while lines[at] do
    local here, same, rest, width = list_marker(lines[at])
    if not here or here ~= indent or same ~= kind then break end
    local item = { rest }
    at = at + 1
    while lines[at] do
      local line = lines[at]
      if is_blank(line) then
        if not lines[at + 1] or not lines[at + 1]:find("^" .. (" "):rep(width)) then break end
        insert(item, "")
        loose = true
      elseif line:find("^" .. (" "):rep(width)) then
        insert(item, line:sub(width + 1))
      elseif list_marker(line) or line:find("^#") then
        break
      else
        insert(item, trim(line))
      end
      at = at + 1
    end
    insert(items, item)
    if is_blank(lines[at]) and lines[at + 1] and list_marker(lines[at + 1]) then
      loose = true
      at = at + 1
    end
  end
  local numbered = kind == "ol" and start ~= 1
  insert(out, numbered and format('<ol start="%d">', start) or "<" .. kind .. ">")
  for _, item in ipairs(items) do
    self:count("item")
    local done, text = item[1]:match("^%[([ x])%]%s+(.*)$")
    if done then
      item[1] = text
      insert(out, format('<li class="task"><input type="checkbox"%s>',
        done == "x" and " checked" or ""))
    else
      insert(out, "<li>")
    end
    local inner = {}
    self:blocks(item, inner)
    if not loose then
      for i, html in ipairs(inner) do inner[i] = html:match("^<p>(.*)</p>$") or html end
    end
    for _, html in ipairs(inner) do insert(out, html) end
    insert(out, "</li>")
  end
  insert(out, "</" .. kind .. ">")
  return at
end

-- | a | table |
local function cells_of(line)
  local cells = {}
  for cell in line:gsub("^%s*|", ""):gsub("|%s*$", ""):gmatch("([^|]*)|?") do
    insert(cells, trim(cell))
  end
  while #cells > 0 and cells[#cells] == "" do table.remove(cells) end
  return cells
end

function blocks.table(self, lines, at, out)
  local head, ruler = lines[at], lines[at + 1]
  if not head:find("|", 1, true) or not ruler or not ruler:find("^[%s|:-]+$")
    or not ruler:find("---", 1, true) then
    return nil
  end
  local align = {}
  for i, cell in ipairs(cells_of(ruler)) do
    local left, right = cell:find("^:"), cell:find(":$")
    align[i] = left and right and "center" or right and "right" or left and "left" or nil
  end
  local function row(line, tag)
    local parts = {}
    for i, cell in ipairs(cells_of(line)) do
      local style = align[i] and format(' style="text-align: %s"', align[i]) or ""
      parts[i] = format("<%s%s>%s</%s>", tag, style, self:span(cell), tag)
    end
    return "<tr>" .. concat(parts) .. "</tr>"
  end
  self:count("table")
  insert(out, "<table><thead>" .. row(head, "th") .. "</thead><tbody>")
  at = at + 2
  while lines[at] and lines[at]:find("|", 1, true) do
    insert(out, row(lines[at], "td"))
    at = at + 1
  end
  insert(out, "</tbody></table>")
  return at
end

function blocks.paragraph(self, lines, at, out)
  local text = { trim(lines[at]) }
  at = at + 1
  while not is_blank(lines[at]) and not lines[at]:find("^[#>]") and not lines[at]:find("^```")
    and not (list_marker(lines[at]) and list_marker(lines[at]) < 4) do
    insert(text, (lines[at]:gsub("^%s+", "")))
    at = at + 1
  end
  self:count("paragraph")
  insert(out, "<p>" .. self:span(concat(text, "\n")) .. "</p>")
  return at
end

local ORDER = { "fence", "rule", "heading", "quote", "list", "indented", "table", "paragraph" }

function Converter:blocks(lines, out)
  local at = 1
  while at <= #lines do
    if is_blank(lines[at]) then
      at = at + 1
    else
      for _, kind in ipairs(ORDER) do
        local after = blocks[kind](self, lines, at, out)
        if after then
          at = after
          break
        end
      end
    end
  end
end

------------------------------------------------------------------------------------------------
-- Documents

-- Takes definitions of links and footnotes out of the text.
function Converter:definitions(text)
  text = text:gsub('\n%[([^%]^]+)%]:%s*(%S+)%s*"?([^"\n]*)"?', function(name, target, title)
    self.links[name:lower()] = { target = target, title = title }
    return ""
  end)
  return (text:gsub("\n%[%^([%w-]+)%]:%s*([^\n]+)", function(name, note)
    self.footnotes[name] = { text = note }
    return ""
  end))
end

local function lines_of(text)
  local lines = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    lines[#lines + 1] = line:gsub("\t", "    ")
  end
  return lines
end

function Converter:contents()
  local out, depth = {}, 0
  for _, heading in ipairs(self.headings) do
    while depth < heading.level do
      insert(out, "<ul>")
      depth = depth + 1
    end
    while depth > heading.level do
      insert(out, "</ul>")
      depth = depth - 1
    end
    insert(out, format('<li><a href="#%s">%s</a></li>', heading.id, heading.html))
  end
  for _ = 1, depth do insert(out, "</ul>") end
  return concat(out, "\n")
end

local function convert(text)
  local self = new_converter()
  local front, body = text:match("^%-%-%-\n(.-)\n%-%-%-\n(.*)$")
  local meta = {}
  if front then
    for key, value in front:gmatch("(%w+):%s*([^\n]*)") do meta[key] = value end
    text = body
  end
  local out = {}
  self:blocks(lines_of(self:definitions("\n" .. text)), out)
  if #self.footnote_order > 0 then
    insert(out, '<ol class="notes">')
    for _, name in ipairs(self.footnote_order) do
      insert(out, format('<li id="note-%s">%s</li>', name, self:span(self.footnotes[name].text)))
    end
    insert(out, "</ol>")
  end
  local html = concat(out, "\n"):gsub("%[%[toc%]%]", function() return self:contents() end)
  return self.vault:restore(html), meta, self.counts
end

-- Which words are how often in the text of a page.
local function index_words(html, index)
  local text = html:gsub("<pre>.-</pre>", " "):gsub("<[^>]*>", " "):gsub("&%a+;", " ")
  for word in text:lower():gmatch("%f[%a]%a%a%a+") do index[word] = (index[word] or 0) + 1 end
end

------------------------------------------------------------------------------------------------
-- Generated documents

local seed = 8080
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local function choose(list) return list[random(#list)] end

local WORDS = {}
do
  local syllables = { "or", "bit", "lu", "nar", "cra", "ter", "ma", "re", "sol", "ris", "en", "ta" }
  for i = 1, 150 do
    WORDS[i] = choose(syllables) .. choose(syllables)
    if random(3) == 1 then WORDS[i] = WORDS[i] .. choose(syllables) end
  end
end

local INLINE = {
  function(word) return "*" .. word .. "*" end,
  function(word) return "**" .. word .. " " .. choose(WORDS) .. "**" end,
  function(word) return "_" .. word .. "_" end,
  function(word) return "`" .. word .. " < " .. choose(WORDS) .. "`" end,
  function(word) return "[" .. word .. "](https://example.org/" .. word .. "?a=1&b=2)" end,
  function(word) return "[" .. word .. "][ref" .. random(6) .. "]" end,
  function(word) return "![" .. word .. "](img/" .. word .. '.png "A ' .. word .. '")' end,
  function(word) return "~~" .. word .. "~~ --" end,
  function(word) return word .. "[^n" .. random(5) .. "]" end,
  function(word) return "\\*" .. word .. "\\* & <" .. word .. ">" end,
  function(word) return "<https://example.org/" .. word .. ">..." end,
}

local function sentence(words)
  local parts = {}
  for i = 1, words do
    local word = choose(WORDS)
    parts[i] = random(9) == 1 and choose(INLINE)(word) or word
    if random(14) == 1 then parts[i] = parts[i] .. "," end
  end
  return (concat(parts, " "):gsub("^%l", string.upper)) .. "."
end

local function paragraph(out)
  for _ = 1, 2 + random(4) do insert(out, sentence(6 + random(9))) end
  insert(out, "")
end

local function list(out)
  local ordered = random(3) == 1
  for i = 1, 2 + random(4) do
    local task = not ordered and random(4) == 1 and (random(2) == 1 and "[x] " or "[ ] ") or ""
    insert(out, (ordered and i .. ". " or "- ") .. task .. sentence(4 + random(5)))
    if random(4) == 1 then
      for _ = 1, random(3) do insert(out, (ordered and "   * " or "  * ") .. sentence(4)) end
    end
  end
  insert(out, "")
end

local function code(out)
  insert(out, "```lua")
  for i = 1, 2 + random(5) do
    insert(out, format('local %s = function(a, b) return a < b and "%s" end -- for %d',
      choose(WORDS), choose(WORDS), i))
  end
  insert(out, "```")
  insert(out, "")
end

local function table_block(out)
  insert(out, "| name | amount | note |")
  insert(out, "|:-----|------:|:----:|")
  for _ = 1, 2 + random(5) do
    insert(out, format("| %s | %d | %s |", choose(WORDS), random(1000), sentence(3)))
  end
  insert(out, "")
end

local function quote(out)
  for _ = 1, 1 + random(3) do insert(out, "> " .. sentence(8)) end
  insert(out, random(2) == 1 and "> - " .. sentence(4) or ">")
  insert(out, "")
end

local PARTS = { paragraph, paragraph, paragraph, paragraph, list, list, code, table_block, quote }

local function make_document(number)
  local out = { "---", "title: Document " .. number, "author: " .. choose(WORDS), "---", "",
    "Document " .. number, "=======", "", "[[toc]]", "" }
  for section = 1, 5 do
    insert(out, ("#"):rep(1 + random(3)) .. " " .. choose(WORDS) .. " *" .. choose(WORDS) .. "*")
    insert(out, "")
    for _ = 1, 2 + random(4) do choose(PARTS)(out) end
    if section == 3 then insert(out, "* * *\n") end
  end
  for i = 1, 6 do
    insert(out, format('[ref%d]: https://example.org/%s "%s"', i, choose(WORDS), choose(WORDS)))
  end
  for i = 1, 4 do insert(out, format("[^n%d]: %s", i, sentence(6))) end
  return concat(out, "\n")
end

local totals, index, bytes, html_bytes, checksum = {}, {}, 0, 0, 0
local last
for number = 1, DOCUMENTS do
  local text = make_document(number)
  local html, meta, counts = convert(text)
  assert(meta.title == "Document " .. number and not html:find("[\1\2\3]"))
  bytes, html_bytes = bytes + #text, html_bytes + #html
  for what, count in pairs(counts) do totals[what] = (totals[what] or 0) + count end
  index_words(html, index)
  for i = 1, #html, 37 do checksum = (checksum * 31 + html:byte(i)) % 1000000007 end
  last = html
end

print(format("markdown documents %d bytes %d html %d checksum %d", DOCUMENTS, bytes, html_bytes,
  checksum))
local names = {}
for what in pairs(totals) do names[#names + 1] = what end
table.sort(names)
for i, what in ipairs(names) do names[i] = what .. " " .. totals[what] end
print(concat(names, ", "))
local words = {}
for word in pairs(index) do words[#words + 1] = word end
table.sort(words, function(a, b)
  if index[a] ~= index[b] then return index[a] > index[b] end
  return a < b
end)
print(#words, words[1], index[words[1]], words[2], index[words[2]])
print(last:sub(1, 200))
