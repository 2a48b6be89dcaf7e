-- covers: a template engine: a compiler to Lua source, load with environments, filters, blocks
-- memory: yes
-- Compiles templates with inheritance, includes, loops, macros and filters to Lua functions, and
-- renders pages of a shop with them. Some templates are compiled anew for each page, as an engine
-- without a cache does; mistakes in templates are reported with their lines.

local scale = tonumber(arg and arg[1]) or 1
local PAGES = math.max(3, math.floor(1200 * scale))

local format, concat, insert = string.format, table.concat, table.insert

------------------------------------------------------------------------------------------------
-- Filters

local filters = {}

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
  ["'"] = "&#39;" }

-- Text that is already safe is marked by a metatable and not escaped again.
local Safe = {}
Safe.__index = Safe
Safe.__tostring = function(self) return self.text end

local function safe(text) return setmetatable({ text = text }, Safe) end

function filters.escape(value)
  if getmetatable(value) == Safe then return value end
  if value == nil then return "" end
  return safe((tostring(value):gsub("[&<>\"']", ENTITIES)))
end

function filters.raw(value) return safe(tostring(value)) end
function filters.upper(value) return tostring(value):upper() end
function filters.lower(value) return tostring(value):lower() end

function filters.title(value)
  return (tostring(value):gsub("(%a)([%w']*)", function(first, rest)
    return first:upper() .. rest:lower()
  end))
end

function filters.trim(value) return (tostring(value):match("^%s*(.-)%s*$")) end

function filters.truncate(value, size)
  value = tostring(value)
  if #value <= size then return value end
  return value:sub(1, size - 3):gsub("%s+%S*$", "") .. "..."
end

function filters.money(value, sign)
  local whole, cents = math.floor(value / 100), value % 100
  local text = format("%d", whole):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return format("%s%s.%02d", sign or "$", text, cents)
end

function filters.join(list, separator) return concat(list, separator or ", ") end
function filters.length(value) return #value end
function filters.default(value, other)
  if value == nil or value == "" then return other end
  return value
end
function filters.replace(value, what, with)
  return (tostring(value):gsub(what:gsub("%p", "%%%0"), (with:gsub("%%", "%%%%"))))
end
function filters.first(list) return list[1] end

function filters.sort(list, key)
  local copy = {}
  for i, item in ipairs(list) do copy[i] = item end
  table.sort(copy, key and function(a, b)
    if a[key] ~= b[key] then return a[key] < b[key] end
    return a.id < b.id
  end or nil)
  return copy
end

function filters.indent(value, width)
  return (tostring(value):gsub("\n", "\n" .. (" "):rep(width)))
end

function filters.url(value)
  return (tostring(value):gsub("[^%w%-_.~]", function(c) return format("%%%02X", c:byte()) end))
end

------------------------------------------------------------------------------------------------
-- Scanning a template into pieces: text, {{ output }}, {% statement %}, {# comment #}

local function scan(source)
  local pieces, at, line = {}, 1, 1
  local function advance(text)
    local _, count = text:gsub("\n", "")
    line = line + count
  end
  while true do
    local first, _, kind = source:find("{([{%%#])", at)
    local text = source:sub(at, (first or #source + 1) - 1)
    if text ~= "" then
      -- A statement alone on its line leaves no line.
      pieces[#pieces + 1] = { kind = "text", text = text, line = line }
      advance(text)
    end
    if not first then return pieces end
    local close = kind == "{" and "}}" or kind .. "}"
    local stop = source:find(close, first + 2, true)
    if not stop then error(format("line %d: '%s' is missing", line, close), 0) end
    local body = source:sub(first + 2, stop - 1)
    local trimmed = body:match("^%-?%s*(.-)%s*%-?$")
    if kind ~= "#" then
      pieces[#pieces + 1] = { kind = kind == "{" and "output" or "statement", text = trimmed,
        line = line }
    end
    if body:sub(1, 1) == "-" then
      local before = pieces[#pieces - 1]
      if before and before.kind == "text" then before.text = before.text:gsub("%s+$", "") end
    end
    advance(body)
    at = stop + 2
    if body:sub(-1) == "-" then
      local _, blanks = source:find("^%s+", at)
      if blanks then
        advance(source:sub(at, blanks))
        at = blanks + 1
      end
    elseif kind == "%" and source:sub(at, at) == "\n" then
      at = at + 1
      line = line + 1
    end
  end
end

------------------------------------------------------------------------------------------------
-- Expressions are Lua expressions with filters: name | filter(arguments) | filter

local function split_filters(text)
  local parts, depth, from, at = {}, 0, 1, 1
  while at <= #text do
    local c = text:sub(at, at)
    if c == '"' or c == "'" then
      at = text:find(c, at + 1, true) or #text
    elseif c == "(" or c == "[" or c == "{" then
      depth = depth + 1
    elseif c == ")" or c == "]" or c == "}" then
      depth = depth - 1
    elseif c == "|" and depth == 0 then
      parts[#parts + 1] = text:sub(from, at - 1)
      from = at + 1
    end
    at = at + 1
  end
  parts[#parts + 1] = text:sub(from)
  return parts
end

local function expression(text, line)
  local parts = split_filters(text)
  local code = parts[1]
  for i = 2, #parts do
    local name, arguments = parts[i]:match("^%s*([%a_]+)%s*%((.*)%)%s*$")
    name = name or parts[i]:match("^%s*([%a_]+)%s*$")
    if not name then error(format("line %d: bad filter '%s'", line, parts[i]), 0) end
    if not filters[name] then error(format("line %d: no filter '%s'", line, name), 0) end
    if arguments and arguments:find("%S") then
      code = format("filters.%s(%s, %s)", name, code, arguments)
    else
      code = format("filters.%s(%s)", name, code)
    end
  end
  return code
end

------------------------------------------------------------------------------------------------
-- The compiler: emits a Lua function that appends to a list

local Compiler = {}
Compiler.__index = Compiler

local statements = {}

local function new_compiler(name, engine)
  return setmetatable({ name = name, engine = engine, code = {}, depth = 1, blocks = {},
    stack = {}, loops = 0 }, Compiler)
end

function Compiler:emit(text, ...)
  if select("#", ...) > 0 then text = format(text, ...) end
  insert(self.code, ("  "):rep(self.depth) .. text)
end

function Compiler:fail(line, message, ...)
  error(format("%s: line %d: " .. message, self.name, line, ...), 0)
end

function Compiler:open(kind, line)
  insert(self.stack, { kind = kind, line = line })
  self.depth = self.depth + 1
end

function Compiler:close(kind, line)
  local top = table.remove(self.stack)
  if not top or top.kind ~= kind then
    self:fail(line, "'end%s' does not match %s", kind, top and "'" .. top.kind .. "'" or "anything")
  end
  self.depth = self.depth - 1
end

statements["if"] = function(self, rest, line)
  self:emit("if %s then", expression(rest, line))
  self:open("if", line)
end

statements["elseif"] = function(self, rest, line)
  self.depth = self.depth - 1
  self:emit("elseif %s then", expression(rest, line))
  self.depth = self.depth + 1
end

statements["else"] = function(self)
  self.depth = self.depth - 1
  self:emit("else")
  self.depth = self.depth + 1
end

function statements.endif(self, _, line)
  self:close("if", line)
  self:emit("end")
end

statements["for"] = function(self, rest, line)
  local names, list = rest:match("^([%a_][%w_]*%s*,?%s*[%w_]*)%s+in%s+(.+)$")
  if not names then self:fail(line, "bad loop '%s'", rest) end
  self.loops = self.loops + 1
  local key, value = names:match("^([%w_]+)%s*,%s*([%w_]+)$")
  self:emit("local list%d = %s", self.loops, expression(list, line))
  self:emit("local loop%d = { size = #list%d, outer = loop }", self.loops, self.loops)
  self:emit("for %s, %s in each(list%d) do", key or "_", value or names, self.loops)
  self:open("for", line)
  self:emit("local loop = loop%d", self.loops)
  self:emit("loop.index = (loop.index or 0) + 1")
  self:emit("loop.first, loop.last = loop.index == 1, loop.index == loop.size")
  self:emit("loop.even = loop.index %% 2 == 0", nil)
end

function statements.endfor(self, _, line)
  self:close("for", line)
  self:emit("end")
end

function statements.set(self, rest, line)
  local name, value = rest:match("^([%a_][%w_]*)%s*=%s*(.+)$")
  if not name then self:fail(line, "bad assignment '%s'", rest) end
  self:emit("local %s = %s", name, expression(value, line))
end

function statements.include(self, rest, line)
  local name, with = rest:match('^"([^"]+)"%s*(.*)$')
  if not name then self:fail(line, "bad include '%s'", rest) end
  local values = with:match("^with%s+(.+)$")
  self:emit("put(engine:render_part(%q, env, %s))", name, values or "nil")
end

function statements.extends(self, rest) self.parent = rest:match('^"([^"]+)"$') end

function statements.block(self, rest, line)
  self.blocks[rest] = true
  self:emit("blocks[%q] = blocks[%q] or function(super)", rest, rest)
  self:open("block", line)
  self.stack[#self.stack].name = rest
end

function statements.endblock(self, _, line)
  local top = self.stack[#self.stack]
  self:close("block", line)
  self:emit("end")
  if not self.parent then self:emit("blocks[%q]()", top.name) end
end

function statements.macro(self, rest, line)
  local name, parameters = rest:match("^([%a_][%w_]*)%s*%((.-)%)$")
  if not name then self:fail(line, "bad macro '%s'", rest) end
  self:emit("local function %s(%s)", name, parameters)
  self:open("macro", line)
  self:emit("local out, outer = {}, put")
  self:emit("local function put(text) out[#out + 1] = text end")
end

function statements.endmacro(self, _, line)
  self:emit("return filters.raw(concat(out))")
  self:close("macro", line)
  self:emit("end")
end

function Compiler:compile(source)
  local pieces = scan(source)
  for _, piece in ipairs(pieces) do
    if piece.kind == "text" then
      if piece.text ~= "" then self:emit("put(%s)", (format("%q", piece.text))) end
    elseif piece.kind == "output" then
      self:emit("put(tostring(filters.escape(%s)))", expression(piece.text, piece.line))
    else
      local word, rest = piece.text:match("^(%a+)%s*(.-)$")
      local statement = statements[word]
      if not statement then self:fail(piece.line, "unknown statement '%s'", piece.text) end
      statement(self, rest, piece.line)
    end
  end
  if #self.stack > 0 then
    local open = self.stack[#self.stack]
    self:fail(open.line, "'%s' is not closed", open.kind)
  end
  insert(self.code, 1, "local engine, env, blocks, put, filters, concat, each = ...")
  insert(self.code, 2, "local loop")
  if self.parent then self:emit("return %q", self.parent) end
  return concat(self.code, "\n")
end

------------------------------------------------------------------------------------------------
-- The engine: sources, a cache of functions, environments

local Engine = {}
Engine.__index = Engine

local function new_engine(sources)
  return setmetatable({ sources = sources, cache = {}, compiled = 0, bytes = 0, hits = 0,
    globals = { ipairs = ipairs, pairs = pairs, tostring = tostring, math = math, string = string },
  }, Engine)
end

function Engine:compile(name, source)
  local code = new_compiler(name, self):compile(source)
  self.compiled = self.compiled + 1
  self.bytes = self.bytes + #code
  -- Names that are no locals of the template are looked up in what is rendered at the moment.
  local environment = setmetatable({}, { __index = function(_, key) return self.current[key] end })
  local chunk, problem = load(code, "=" .. name, "t", environment)
  if not chunk then error(problem, 0) end
  return function(...) return chunk(self, ...) end
end

function Engine:get(name)
  local template = self.cache[name]
  if template then
    self.hits = self.hits + 1
    return template
  end
  local source = self.sources[name]
  if not source then error("no template '" .. name .. "'", 0) end
  template = self:compile(name, source)
  self.cache[name] = template
  return template
end

local function each(list)
  if #list > 0 or next(list) == nil then return ipairs(list) end
  local keys, at = {}, 0
  for key in pairs(list) do keys[#keys + 1] = key end
  table.sort(keys)
  return function()
    at = at + 1
    if keys[at] ~= nil then return keys[at], list[keys[at]] end
  end
end

function Engine:run(template, env)
  local out, blocks = {}, {}
  local function put(text) out[#out + 1] = text end
  local outer, depth = self.current, 0
  self.current = env
  while template do
    local parent = template(env, blocks, put, filters, concat, each)
    template = parent and self:get(parent)
    -- What a child prints outside of its blocks is dropped.
    if parent then out = {} end
    depth = depth + 1
    if depth > 10 then error("templates extend each other in a circle", 0) end
  end
  self.current = outer
  return concat(out)
end

function Engine:environment(values)
  return setmetatable(values, { __index = self.globals })
end

function Engine:render(name, values)
  return self:run(self:get(name), self:environment(values))
end

function Engine:render_part(name, env, values)
  if values then env = setmetatable(values, { __index = env }) end
  return self:run(self:get(name), env)
end

function Engine:render_text(text, values)
  return self:run(self:compile("text", text), self:environment(values))
end

------------------------------------------------------------------------------------------------
-- The shop

local SOURCES = {
  ["base"] = [[
<!DOCTYPE html>
<html>
<head><title>{% block title %}Shop{% endblock %}</title></head>
<body class="{{ theme | default("light") }}">
{# the navigation is the same everywhere #}
{% include "nav" with { active = section } %}
<main>
{% block main %}
  <p>Nothing here.</p>
{% endblock %}
</main>
{% block footer %}<footer>{{ year }} &copy; {{ shop.name }}</footer>{% endblock %}
</body>
</html>
]],
  ["nav"] = [[
<nav><ul>
{%- for link in shop.links -%}
  <li{% if link.name == active %} class="active"{% endif %}>
    <a href="/{{ link.name | lower | url }}">{{ link.name | title }}</a></li>
{%- endfor -%}
</ul></nav>
]],
  ["product"] = [[
{% extends "base" %}
{% macro badge(text, kind) %}<span class="badge {{ kind }}">{{ text | upper }}</span>{% endmacro %}
{% block title %}{{ product.name }} - {{ shop.name }}{% endblock %}
{% block main %}
<h1>{{ product.name | title }}</h1>
{% if product.stock == 0 %}
  {{ badge("sold out", "red") }}
{% elseif product.stock < 5 %}
  {{ badge("only " .. product.stock .. " left", "orange") }}
{% else %}
  {{ badge("in stock", "green") }}
{% endif %}
<p class="price">{{ product.price | money("&euro;") | raw }}</p>
<p>{{ product.description | truncate(60) }}</p>
<dl>
{% for key, value in product.properties %}
  <dt>{{ key }}</dt><dd>{{ value }}</dd>
{% endfor %}
</dl>
{% set related = product.related | sort("name") %}
{% if #related > 0 %}
<ul>
{% for other in related %}
  <li class="{% if loop.even %}even{% else %}odd{% endif %}">{{ loop.index }}/{{ loop.size }}
    {{ other.name }}{% if not loop.last %},{% endif %}</li>
{% endfor %}
</ul>
{% endif %}
{% include "reviews" %}
{% endblock %}
]],
  ["reviews"] = [[
<section>{{ product.reviews | length }} reviews
{% for review in product.reviews %}
  <article><h3>{{ review.author | trim }} ({{ ("*"):rep(review.stars) }})</h3>
  <p>{{ review.text | replace("bad", "good") | indent(2) }}</p>
  {% for answer in review.answers %}<p>{{ loop.index }}. {{ answer }} to
    {{ review.author }}</p>{% endfor %}
  </article>
{% endfor %}
</section>
]],
  ["list"] = [[
{% extends "base" %}
{% block title %}{{ section | title }}{% endblock %}
{% block main %}
<table>
{% for product in products | sort("price") %}
{% set cheap = product.price < 2000 %}
<tr{% if cheap %} class="cheap"{% endif %}><td>{{ loop.index }}</td><td>{{ product.name }}</td>
<td>{{ product.price | money }}</td><td>{{ product.tags | join(" + ") | default("none") }}</td></tr>
{% endfor %}
</table>
<p>total {{ total(products) | money }}, average {{ math.floor(total(products) / #products) }}</p>
{% endblock %}
{% block footer %}<footer>{{ #products }} products</footer>{% endblock %}
]],
}

local seed = 606
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local function choose(list) return list[random(#list)] end

local WORDS = { "lamp", "chair", "desk & drawer", "rug", "\"antique\" clock", "vase", "<b>bowl</b>",
  "mirror", "shelf", "candle's glow" }

local function text(words)
  local parts = {}
  for i = 1, words do parts[i] = choose(WORDS) end
  return concat(parts, " ")
end

local products = {}
for i = 1, 40 do
  local product = { id = i, name = text(2), price = random(300000), stock = random(12) - 1,
    description = text(12), properties = { color = choose({ "red", "green", "blue" }),
      weight = random(40) .. " kg", size = random(90) }, related = {}, reviews = {}, tags = {} }
  for r = 1, random(5) - 1 do
    local answers = {}
    for a = 1, random(3) - 1 do answers[a] = text(3) end
    product.reviews[r] = { author = " " .. choose({ "Ada", "Bob & Eve", "O'Hara" }) .. " ",
      stars = random(5), text = "not bad:\n" .. text(6), answers = answers }
  end
  for t = 1, random(4) - 1 do product.tags[t] = choose(WORDS) end
  products[i] = product
end
for _, product in ipairs(products) do
  for r = 1, random(4) - 1 do product.related[r] = choose(products) end
end

local shop = { name = "Moon & Sons", links = {} }
for i, name in ipairs({ "FURNITURE", "light", "Odds & ends", "sale" }) do
  shop.links[i] = { name = name }
end

local function total(list)
  local sum = 0
  for _, product in ipairs(list) do sum = sum + product.price end
  return sum
end

-- A letter to a customer: its template is made for the customer and compiled each time.
local function make_letter(i)
  local parts = { "Dear {{ name | title }},\n" }
  for p = 1, 3 + random(6) do
    parts[#parts + 1] = choose({
      "{% if amount > " .. random(90) * 100 .. " %}you spent {{ amount | money }}{% else %}"
        .. "thank you{% endif %} for order " .. i .. ".\n",
      "{% for item in items %}{{ loop.index }}: {{ item | lower }}{% if not loop.last %}; "
        .. "{% endif %}{% endfor %}\n",
      "{% set part" .. p .. " = amount % " .. random(50) .. " %}{{ part" .. p .. " + " .. p
        .. " }}\n",
      "We have {{ items | length }} items for you, {{ name | upper }}.\n",
      "{# internal note " .. p .. " #}{% include \"nav\" with { active = \"sale\" } %}",
    })
  end
  return concat(parts)
end

local engine = new_engine(SOURCES)
local bytes, checksum = 0, 0
local function add(html)
  bytes = bytes + #html
  for i = 1, #html, 29 do checksum = (checksum * 31 + html:byte(i)) % 1000000007 end
end

for page = 1, PAGES do
  local product = products[page % #products + 1]
  add(engine:render("product", { product = product, shop = shop, section = "light", year = 2026,
    theme = page % 3 == 0 and "dark" or nil }))
  if page % 4 == 0 then
    add(engine:render("list", { products = products, shop = shop, section = choose(shop.links).name,
      year = 2026, total = total }))
  end
  for letter = 1, 3 do
    add(engine:render_text(make_letter(page * 10 + letter),
      { name = choose({ "ada lovelace", "<eve>" }), amount = random(20000), shop = shop,
        items = { choose(WORDS), choose(WORDS), "X" } }))
  end
  -- A change of a template empties the cache.
  if page % 25 == 0 then engine.cache = {} end
end

print(format("template pages %d bytes %d checksum %d", PAGES, bytes, checksum))
print(format("compiled %d code %d hits %d", engine.compiled, engine.bytes, engine.hits))
local BAD = { "{% if x %}", "a\n{{ x | nofilter }}", "{% for in y %}", "{% endif %}", "\n\n{{ x",
  "{% set = 1 %}", "{% block a %}{% if x %}{% endblock %}", "{% jump %}", "{{ x | (1) }}" }
for _, source in ipairs(BAD) do
  local ok, problem = pcall(engine.render_text, engine, source, {})
  print(ok, problem)
end
print(engine:render_text("{{ name }} {{ name | raw }} {{ 123456789 | money }} {{ none }}",
  { name = "<i>" }))
