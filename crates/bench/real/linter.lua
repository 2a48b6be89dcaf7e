-- covers: a linter: lexer, syntax tree, visitors with rule callbacks, scopes, sorted warnings
-- memory: yes
-- Checks generated modules of a scripting language with two dozen rules, each of which registers
-- callbacks for the kinds of nodes that it looks at. Comments in the modules disable rules for a
-- line or from a line on, warnings are sorted, counted, and fixed where a rule knows how.

package.path = arg[0]:gsub("[^/\\]*$", "") .. "?.lua;" .. package.path

local syntax = require("linter.syntax")

local scale = tonumber(arg and arg[1]) or 1
local MODULES = math.max(1, math.floor(24 * scale))

local format, concat, sort = string.format, table.concat, table.sort
local find, sub, match = string.find, string.sub, string.match

------------------------------------------------------------------------------------------------
-- Walking: each kind of node lists the fields with its children

local CHILDREN = {
  Block = { "*body" }, Local = { "*values", "*names" }, LocalFunction = { "name", "fn" },
  If = { "*clauses", "otherwise" }, Clause = { "condition", "body" },
  While = { "condition", "body" }, ForRange = { "*range", "*names", "body" },
  ForIn = { "*values", "*names", "body" }, Function = { "target", "fn" }, Return = { "*values" },
  Assign = { "*values", "*targets" }, CallStatement = { "call" },
  FunctionBody = { "*params", "body" }, Unary = { "operand" }, Binary = { "left", "right" },
  Field = { "object" }, Index = { "object", "key" }, Call = { "callee", "*arguments" },
  MethodCall = { "object", "*arguments" }, Parenthesis = { "inner" }, Table = { "*items" },
  Pair = { "value" }, Name = {}, Number = {}, String = {}, Constant = {}, Dots = {}, Break = {},
}
for kind, fields in pairs(CHILDREN) do
  local list = {}
  for i, field in ipairs(fields) do
    local many = sub(field, 1, 1) == "*"
    list[i] = { name = many and sub(field, 2) or field, many = many }
  end
  CHILDREN[kind] = list
end

local function walk(node, parent, enter, leave, context)
  local callbacks = enter[node.type]
  if callbacks then
    for i = 1, #callbacks do callbacks[i](context, node, parent) end
  end
  for _, field in ipairs(CHILDREN[node.type]) do
    local child = node[field.name]
    if child then
      if field.many then
        for i = 1, #child do walk(child[i], node, enter, leave, context) end
      else
        walk(child, node, enter, leave, context)
      end
    end
  end
  callbacks = leave[node.type]
  if callbacks then
    for i = 1, #callbacks do callbacks[i](context, node, parent) end
  end
end

------------------------------------------------------------------------------------------------
-- Scopes: a walk of their own, which gives each name its variable

local GLOBALS = {}
for name in ("print pairs ipairs type error assert tostring string table math"):gmatch("%a+") do
  GLOBALS[name] = true
end

local Scopes = {}
Scopes.__index = Scopes

local function resolve(tree)
  local self = setmetatable({ scope = nil, variables = {}, globals = {} }, Scopes)
  self:push()
  self:visit(tree)
  self:pop()
  return self.variables, self.globals
end

function Scopes:push()
  self.scope = { parent = self.scope, names = {} }
end

function Scopes:pop()
  self.scope = self.scope.parent
end

function Scopes:declare(node, kind)
  local variable = { name = node.name, node = node, kind = kind, reads = 0, writes = 0,
    shadows = self:find(node.name), same_scope = self.scope.names[node.name] ~= nil }
  self.scope.names[node.name] = variable
  self.variables[#self.variables + 1] = variable
  node.variable = variable
end

function Scopes:find(name)
  local scope = self.scope
  while scope do
    local variable = scope.names[name]
    if variable then return variable end
    scope = scope.parent
  end
end

function Scopes:use(node, writes)
  local variable = self:find(node.name)
  if variable then
    node.variable = variable
    local field = writes and "writes" or "reads"
    variable[field] = variable[field] + 1
  else
    self.globals[#self.globals + 1] = { node = node, writes = writes }
  end
end

local SCOPE_VISITORS = {}

function Scopes:visit(node)
  local visitor = SCOPE_VISITORS[node.type]
  if visitor then return visitor(self, node) end
  for _, field in ipairs(CHILDREN[node.type]) do
    local child = node[field.name]
    if child and field.many then
      for _, each in ipairs(child) do self:visit(each) end
    elseif child then
      self:visit(child)
    end
  end
end

function Scopes:visit_all(list)
  for _, node in ipairs(list) do self:visit(node) end
end

function SCOPE_VISITORS.Name(self, node) self:use(node, false) end

function SCOPE_VISITORS.Block(self, node)
  self:push()
  self:visit_all(node.body)
  self:pop()
end

function SCOPE_VISITORS.Local(self, node)
  self:visit_all(node.values)
  for _, name in ipairs(node.names) do self:declare(name, "local") end
end

function SCOPE_VISITORS.LocalFunction(self, node)
  self:declare(node.name, "function")
  self:visit(node.fn)
end

function SCOPE_VISITORS.Assign(self, node)
  self:visit_all(node.values)
  for _, target in ipairs(node.targets) do
    if target.type == "Name" then self:use(target, true) else self:visit(target) end
  end
end

function SCOPE_VISITORS.Function(self, node)
  if node.target.type == "Name" then self:use(node.target, true) else self:visit(node.target) end
  self:visit(node.fn)
end

function SCOPE_VISITORS.FunctionBody(self, node)
  self:push()
  for _, param in ipairs(node.params) do
    if param.type == "Name" then self:declare(param, "parameter") end
  end
  self:visit(node.body)
  self:pop()
end

function SCOPE_VISITORS.ForRange(self, node)
  self:visit_all(node.range)
  self:push()
  for _, name in ipairs(node.names) do self:declare(name, "loop") end
  self:visit(node.body)
  self:pop()
end

function SCOPE_VISITORS.ForIn(self, node)
  self:visit_all(node.values)
  self:push()
  for _, name in ipairs(node.names) do self:declare(name, "loop") end
  self:visit(node.body)
  self:pop()
end

------------------------------------------------------------------------------------------------
-- Rules

local rules = {}

-- A rule has a code, a severity, and functions by the name of the event they want.
local function rule(code, severity, events)
  rules[#rules + 1] = { code = code, severity = severity, events = events }
end

local function text_of(node)
  if node.type == "Name" then return node.name end
  if node.type == "Field" then return text_of(node.object) .. "." .. node.name end
  if node.type == "Number" then return node.text end
  if node.type == "Constant" then return node.value end
  return "(" .. node.type .. ")"
end

local function equal(a, b)
  if a.type ~= b.type then return false end
  if a.type == "Name" or a.type == "Field" then
    return a.name == b.name and (not a.object or equal(a.object, b.object))
  end
  return (a.type == "Number" or a.type == "Constant" or a.type == "String") and a.value == b.value
end

rule("unused-variable", 2, { variable = function(context, variable)
  if variable.reads == 0 and sub(variable.name, 1, 1) ~= "_" and variable.kind ~= "parameter" then
    context:warn(variable.node, "%s '%s' is never used", variable.kind, variable.name)
  end
end })

rule("unused-parameter", 1, { variable = function(context, variable)
  if variable.reads == 0 and variable.kind == "parameter" and sub(variable.name, 1, 1) ~= "_" then
    context:warn(variable.node, "parameter '%s' is never used", variable.name)
  end
end })

rule("shadowing", 1, { variable = function(context, variable)
  if variable.shadows and not variable.same_scope then
    context:warn(variable.node, "'%s' shadows the %s of line %d", variable.name,
      variable.shadows.kind, variable.shadows.node.line)
  end
end })

rule("redeclared", 2, { variable = function(context, variable)
  if variable.same_scope then
    context:warn(variable.node, "'%s' is declared again", variable.name)
  end
end })

rule("undefined-global", 3, { global = function(context, use)
  if not use.writes and not GLOBALS[use.node.name] and not context.defined[use.node.name] then
    context:warn(use.node, "global '%s' is not defined", use.node.name)
  end
end })

rule("global-assignment", 2, { global = function(context, use)
  if use.writes then context:warn(use.node, "assignment to global '%s'", use.node.name) end
end })

rule("empty-block", 1, { If = function(context, node)
  for _, clause in ipairs(node.clauses) do
    if #clause.body.body == 0 then context:warn(clause, "empty branch") end
  end
  if node.otherwise and #node.otherwise.body == 0 then
    context:warn(node, "empty else", "remove")
  end
end, While = function(context, node)
  if #node.body.body == 0 then context:warn(node, "empty loop") end
end })

rule("constant-condition", 2, { Clause = function(context, node)
  local condition = node.condition
  if condition.type == "Constant" or condition.type == "Number" then
    context:warn(condition, "the condition is always %s", text_of(condition))
  end
end })

rule("self-comparison", 3, { Binary = function(context, node)
  if (node.operator == "==" or node.operator == "~=" or node.operator == "<")
    and equal(node.left, node.right) then
    context:warn(node, "'%s' is compared with itself", text_of(node.left))
  end
end })

rule("negated-comparison", 1, { Unary = function(context, node)
  local operand = node.operand
  if node.operator == "not" and operand.type == "Parenthesis" and operand.inner.type == "Binary"
    and operand.inner.operator == "==" then
    context:warn(node, "use ~= instead of not ==", "rewrite")
  end
end })

rule("double-negation", 1, { Unary = function(context, node, parent)
  if node.operator == "not" and parent.type == "Unary" and parent.operator == "not" then
    context:warn(node, "not not is a conversion to a boolean")
  end
end })

rule("self-assignment", 3, { Assign = function(context, node)
  for i, target in ipairs(node.targets) do
    if node.values[i] and equal(target, node.values[i]) then
      context:warn(target, "'%s' is assigned to itself", text_of(target))
    end
  end
end })

rule("value-count", 2, { Local = function(context, node)
  local last = node.values[#node.values]
  if #node.values > #node.names then
    context:warn(node, "%d values for %d variables", #node.values, #node.names)
  elseif last and #node.values < #node.names and last.type ~= "Call"
    and last.type ~= "MethodCall" and last.type ~= "Dots" then
    context:warn(node, "%d values for %d variables", #node.values, #node.names)
  end
end })

rule("unreachable", 3, { Block = function(context, node)
  for i, statement in ipairs(node.body) do
    if (statement.type == "Return" or statement.type == "Break") and node.body[i + 1] then
      context:warn(node.body[i + 1], "this is never reached")
    end
  end
end })

rule("duplicate-key", 3, { Table = function(context, node)
  local seen = {}
  for _, item in ipairs(node.items) do
    if item.type == "Pair" then
      if seen[item.name] then context:warn(item, "key '%s' appears twice", item.name) end
      seen[item.name] = true
    end
  end
end })

rule("magic-number", 1, { Binary = function(context, node)
  for _, side in ipairs({ node.left, node.right }) do
    if side.type == "Number" and side.value > 100 and side.value % 10 ~= 0 then
      context:warn(side, "give %s a name", side.text)
    end
  end
end })

rule("naming", 1, { variable = function(context, variable)
  if find(variable.name, "%u") and find(variable.name, "_") then
    context:warn(variable.node, "'%s' mixes two styles", variable.name)
  end
end, Function = function(context, node)
  if node.target.type == "Field" and find(node.target.name, "^%u") then
    context:warn(node.target, "method '%s' begins with a capital", node.target.name)
  end
end })

rule("too-many-parameters", 1, { FunctionBody = function(context, node)
  if #node.params > 5 then context:warn(node, "%d parameters", #node.params) end
end })

rule("long-function", 1, { FunctionBody = function(context, node)
  if node.last - node.line > 40 then
    context:warn(node, "a function of %d lines", node.last - node.line)
  end
end })

-- Rules that keep state while the tree is walked.
rule("nesting", 2, {
  start = function(context) context.nesting = 0 end,
  If = function(context, node)
    context.nesting = context.nesting + 1
    if context.nesting > 3 then context:warn(node, "nested %d deep", context.nesting) end
  end,
  ["If:leave"] = function(context) context.nesting = context.nesting - 1 end,
})

rule("complexity", 2, {
  start = function(context) context.functions = {} end,
  FunctionBody = function(context)
    context.functions[#context.functions + 1] = { branches = 1 }
  end,
  Clause = function(context)
    local fn = context.functions[#context.functions]
    if fn then fn.branches = fn.branches + 1 end
  end,
  While = function(context)
    local fn = context.functions[#context.functions]
    if fn then fn.branches = fn.branches + 1 end
  end,
  Binary = function(context, node)
    local fn = context.functions[#context.functions]
    if fn and (node.operator == "and" or node.operator == "or") then
      fn.branches = fn.branches + 1
    end
  end,
  ["FunctionBody:leave"] = function(context, node)
    local fn = table.remove(context.functions)
    if fn.branches > 9 then context:warn(node, "%d paths", fn.branches) end
  end,
})

rule("concatenation-in-loop", 2, {
  start = function(context) context.loops = 0 end,
  While = function(context) context.loops = context.loops + 1 end,
  ForRange = function(context) context.loops = context.loops + 1 end,
  ["While:leave"] = function(context) context.loops = context.loops - 1 end,
  ["ForRange:leave"] = function(context) context.loops = context.loops - 1 end,
  Assign = function(context, node)
    local target, value = node.targets[1], node.values[1]
    if context.loops > 0 and value.type == "Binary" and value.operator == ".."
      and equal(target, value.left) then
      context:warn(node, "'%s' grows by concatenation in a loop", text_of(target))
    end
  end,
})

rule("quotes", 1, {
  start = function(context) context.quotes = { ['"'] = 0, ["'"] = 0 } end,
  String = function(context, node)
    context.quotes[node.quote] = context.quotes[node.quote] + 1
    if node.quote == "'" and not find(node.value, '"', 1, true) then
      context:warn(node, "use double quotes", "requote")
    end
  end,
})

rule("line-length", 1, { line = function(context, text, number)
  if #text > 90 then
    context:warn({ line = number, column = 91 }, "%d columns", #text)
  end
end })

rule("trailing-blanks", 1, { line = function(context, text, number)
  local at = find(text, "[ \t]+$")
  if at then context:warn({ line = number, column = at }, "blanks at the end", "strip") end
end })

rule("todo", 1, { comment = function(context, token)
  local who, what = match(token.text, "TODO%(?(%w*)%)?:%s*(.*)")
  if what then
    context:warn(token, "open: %s%s", what, who ~= "" and " (" .. who .. ")" or "")
  end
end })

------------------------------------------------------------------------------------------------
-- Running rules over a module

local Context = {}
Context.__index = Context

function Context:warn(node, message, ...)
  local fix = nil
  local count = select("#", ...)
  local text = message
  if find(message, "%", 1, true) then
    text = format(message, ...)
  elseif count > 0 then
    fix = ...
  end
  self.warnings[#self.warnings + 1] = { code = self.rule.code, severity = self.rule.severity,
    line = node.line, column = node.column, text = text, fix = fix }
end

-- Wraps the callbacks so that the context knows which rule is at work.
local function bind(rule_of, callback)
  return function(context, ...)
    context.rule = rule_of
    return callback(context, ...)
  end
end

local enter, leave, on = {}, {}, {}
for _, each in ipairs(rules) do
  for event, callback in pairs(each.events) do
    local base = event:match("^(%w+):leave$")
    local target = base and leave or CHILDREN[event] and enter or on
    local name = base or event
    target[name] = target[name] or {}
    table.insert(target[name], bind(each, callback))
  end
end

-- Directives: "lint: ignore CODE" for the line, "lint: disable CODE" and "lint: enable CODE".
local function directives(comments)
  local ignored, ranges, open = {}, {}, {}
  for _, comment in ipairs(comments) do
    local what, codes = match(comment.text, "lint:%s*(%a+)%s+([%w%-, ]+)")
    if what then
      for code in codes:gmatch("[%w%-]+") do
        if what == "ignore" then
          ignored[comment.line .. code] = true
        elseif what == "disable" then
          open[code] = comment.line
        elseif what == "enable" and open[code] then
          ranges[#ranges + 1] = { code = code, first = open[code], last = comment.line }
          open[code] = nil
        end
      end
    end
  end
  for code, first in pairs(open) do
    ranges[#ranges + 1] = { code = code, first = first, last = math.huge }
  end
  return function(warning)
    if ignored[warning.line .. warning.code] then return true end
    for _, range in ipairs(ranges) do
      if range.code == warning.code and warning.line >= range.first
        and warning.line <= range.last then
        return true
      end
    end
    return false
  end
end

local function emit(event, context, ...)
  for _, callback in ipairs(on[event] or {}) do callback(context, ...) end
end

local function lint(source)
  local tokens, comments = syntax.tokenize(source)
  local tree = syntax.parse(tokens)
  local variables, globals = resolve(tree)
  local context = setmetatable({ warnings = {}, defined = {} }, Context)
  for _, use in ipairs(globals) do
    if use.writes then context.defined[use.node.name] = true end
  end
  emit("start", context)
  for _, variable in ipairs(variables) do emit("variable", context, variable) end
  for _, use in ipairs(globals) do emit("global", context, use) end
  for _, comment in ipairs(comments) do emit("comment", context, comment) end
  local number = 0
  for line in source:gmatch("([^\n]*)\n") do
    number = number + 1
    emit("line", context, line, number)
  end
  walk(tree, { type = "None" }, enter, leave, context)

  local is_disabled = directives(comments)
  local kept, disabled = {}, 0
  for _, warning in ipairs(context.warnings) do
    if is_disabled(warning) then
      disabled = disabled + 1
    else
      kept[#kept + 1] = warning
    end
  end
  sort(kept, function(a, b)
    if a.line ~= b.line then return a.line < b.line end
    if a.column ~= b.column then return a.column < b.column end
    if a.code ~= b.code then return a.code < b.code end
    return a.text < b.text
  end)
  return kept, disabled, #tokens, number
end

-- Applies the fixes that are plain edits of a line.
local function fix(source, warnings)
  local lines = {}
  for line in source:gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
  local count = 0
  for i = #warnings, 1, -1 do
    local warning = warnings[i]
    local line = lines[warning.line]
    if warning.fix == "strip" then
      lines[warning.line] = line:gsub("%s+$", "")
      count = count + 1
    elseif warning.fix == "requote" then
      lines[warning.line] = sub(line, 1, warning.column - 1)
        .. sub(line, warning.column):gsub("^'([^']*)'", '"%1"')
      count = count + 1
    elseif warning.fix == "rewrite" then
      lines[warning.line] = line:gsub("not %(([^()]-) == ([^()]-)%)", "%1 ~= %2", 1)
      count = count + 1
    end
  end
  return concat(lines, "\n") .. "\n", count
end

------------------------------------------------------------------------------------------------
-- Modules to check

local seed = 555
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local function choose(list) return list[random(#list)] end

local WORDS = { "count", "total", "index", "value", "result", "item", "buffer", "offset", "state",
  "userName", "max_Size", "_unused", "key", "limit" }

local function make_module(number)
  local lines, names, depth = {}, {}, 0
  local function put(text, ...)
    local line = ("  "):rep(depth) .. format(text, ...)
    if random(40) == 1 then line = line .. "  " end
    if random(60) == 1 then line = line .. " -- lint: ignore " .. choose(rules).code end
    lines[#lines + 1] = line
  end
  local function name() return #names > 0 and choose(names) or "print" end

  local function value(level)
    local kind = random(level > 0 and 13 or 5)
    if kind == 1 then return tostring(random(200)) end
    if kind == 2 then return '"' .. choose(WORDS) .. '"' end
    if kind == 3 then return random(4) == 1 and "'" .. choose(WORDS) .. "'" or name() end
    if kind <= 5 then return name() end
    if kind == 6 then
      return value(level - 1) .. choose({ " + ", " - ", " * " }) .. value(level - 1)
    end
    if kind == 7 then return name() .. "." .. choose(WORDS) end
    if kind == 8 then return format("%s[%s]", name(), value(level - 1)) end
    if kind == 9 then return format("%s(%s, %s)", name(), value(level - 1), value(level - 1)) end
    if kind == 10 then return format("%s:%s(%s)", name(), choose(WORDS), value(level - 1)) end
    if kind == 11 then
      return format("{ %s = %s, %s = %s, %s }", choose(WORDS), value(level - 1), choose(WORDS),
        value(level - 1), value(level - 1))
    end
    if kind == 12 then return "#" .. name() end
    return "(" .. value(level - 1) .. " .. " .. value(level - 1) .. ")"
  end

  local function condition()
    local kind = random(8)
    if kind == 1 then return format("not (%s == %s)", name(), name()) end
    if kind == 2 then return format("%s and %s ~= nil", name(), name()) end
    if kind == 3 then return "not not " .. name() end
    if kind == 4 and random(5) == 1 then return "true" end
    return format("%s %s %s", name(), choose({ "<", "==", "~=", ">=" }), value(1))
  end

  local statement
  local function block(count)
    depth = depth + 1
    local visible = #names
    for _ = 1, count do statement() end
    while #names > visible do table.remove(names) end
    depth = depth - 1
  end

  function statement()
    local kind = random(depth > 5 and 6 or 13)
    if kind <= 2 then
      local new = choose(WORDS)
      put("local %s = %s", new, value(2))
      names[#names + 1] = new
    elseif kind == 3 then
      put("%s = %s", name(), value(2))
    elseif kind == 4 then
      put("%s(%s)", name(), value(2))
    elseif kind == 5 then
      local target = name()
      put("%s = %s .. %s", target, target, value(1))
    elseif kind == 6 then
      put("-- %s", choose({ "TODO(ada): check the limit", "see above", "TODO: remove",
        "lint: disable " .. choose(rules).code, "lint: enable " .. choose(rules).code }))
    elseif kind <= 9 then
      put("if %s then", condition())
      block(random(3) - (random(10) == 1 and 1 or 0))
      if random(3) == 1 then
        put("elseif %s then", condition())
        block(random(2))
      end
      if random(2) == 1 then
        put("else")
        block(random(2) - (random(6) == 1 and 1 or 0))
      end
      put("end")
    elseif kind == 10 then
      put("while %s do", condition())
      block(random(3))
      put("end")
    elseif kind == 11 then
      put("for i = 1, %s do", value(0))
      names[#names + 1] = "i"
      block(random(3))
      table.remove(names)
      put("end")
    elseif kind == 12 then
      put("for %s, %s in pairs(%s) do", choose(WORDS), choose(WORDS), name())
      block(random(3))
      put("end")
    else
      put("local a%d, b%d = %s", random(9), random(9), value(1))
    end
  end

  put("-- module %d", number)
  put("local M = {}")
  names[1] = "M"
  for i = 1, 12 do
    local params = {}
    for p = 1, random(7) - 1 do params[p] = choose(WORDS) end
    put("")
    put("function M.%s%d(%s)", choose({ "run", "check", "Make", "update" }), i,
      concat(params, ", "))
    local visible = #names
    for _, param in ipairs(params) do names[#names + 1] = param end
    block(4 + random(8))
    depth = 1
    put("return %s", value(2))
    depth = 0
    while #names > visible do table.remove(names) end
    put("end")
  end
  put("")
  put("return M")
  return concat(lines, "\n") .. "\n"
end

------------------------------------------------------------------------------------------------
-- Checking them

local counts, severities = {}, { 0, 0, 0 }
local total_lines, total_tokens, total_disabled, fixed, after_fix = 0, 0, 0, 0, 0
local checksum, samples = 0, {}
for number = 1, MODULES do
  local source = make_module(number)
  local warnings, disabled, tokens, lines = lint(source)
  total_lines, total_tokens = total_lines + lines, total_tokens + tokens
  total_disabled = total_disabled + disabled
  for i, warning in ipairs(warnings) do
    counts[warning.code] = (counts[warning.code] or 0) + 1
    severities[warning.severity] = severities[warning.severity] + 1
    checksum = (checksum * 31 + warning.line * 7 + warning.column + #warning.text) % 1000000007
    if i == 3 and #samples < 5 then
      samples[#samples + 1] = format("module%d:%d:%d: %s: %s", number, warning.line,
        warning.column, warning.code, warning.text)
    end
  end
  local better, count = fix(source, warnings)
  fixed = fixed + count
  after_fix = after_fix + #lint(better)
end

print(format("linter modules %d lines %d tokens %d checksum %d", MODULES, total_lines,
  total_tokens, checksum))
print(format("notes %d warnings %d errors %d disabled %d fixed %d after %d", severities[1],
  severities[2], severities[3], total_disabled, fixed, after_fix))
local codes = {}
for code in pairs(counts) do codes[#codes + 1] = code end
sort(codes, function(a, b)
  if counts[a] ~= counts[b] then return counts[a] > counts[b] end
  return a < b
end)
for i, code in ipairs(codes) do codes[i] = code .. " " .. counts[code] end
print(concat(codes, ", "))
print(concat(samples, "\n"))
