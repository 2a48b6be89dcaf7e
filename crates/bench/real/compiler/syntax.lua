-- The lexer and the Pratt parser.

local report = require("compiler.report").add

local format = string.format
local find, sub, byte = string.find, string.sub, string.byte

local KEYWORDS = {}
for word in ("type fn let if else while for in return new nil true false"):gmatch("%a+") do
  KEYWORDS[word] = true
end

local OPERATORS = {
  ["->"] = true, ["=="] = true, ["!="] = true, ["<="] = true, [">="] = true, ["&&"] = true,
  ["||"] = true, ["++"] = true, [".."] = true,
}

local function tokenize(source)
  local tokens, count, line, at, length = {}, 0, 1, 1, #source
  local function push(kind, value)
    count = count + 1
    tokens[count] = { kind = kind, value = value, line = line }
  end
  while at <= length do
    local c = byte(source, at)
    if c == 10 then
      line = line + 1
      at = at + 1
    elseif c == 32 or c == 9 or c == 13 then
      at = at + 1
    elseif c == 35 then -- a comment
      at = find(source, "\n", at, true) or length + 1
    elseif c >= 97 and c <= 122 or c >= 65 and c <= 90 or c == 95 then
      local _, stop = find(source, "^[%w_]+", at)
      local word = sub(source, at, stop)
      if KEYWORDS[word] then push(word, word) else push("name", word) end
      at = stop + 1
    elseif c >= 48 and c <= 57 then
      local _, stop = find(source, "^%d+", at)
      local _, fraction = find(source, "^%.%d+", stop + 1)
      if fraction then
        push("float", tonumber(sub(source, at, fraction)))
        stop = fraction
      else
        push("int", tonumber(sub(source, at, stop)))
      end
      at = stop + 1
    elseif c == 34 then
      local stop = find(source, '"', at + 1, true)
      if not stop then
        report(line, "unfinished string")
        stop = length
      end
      push("string", sub(source, at + 1, stop - 1))
      at = stop + 1
    else
      local two = sub(source, at, at + 1)
      if OPERATORS[two] then
        push(two, two)
        at = at + 2
      else
        local one = sub(source, at, at)
        if not find(one, "[-+*/%%<>=!|?:;,.(){}%[%]]") then
          report(line, "unexpected character '%s'", one)
        else
          push(one, one)
        end
        at = at + 1
      end
    end
  end
  push("end", "end")
  return tokens
end

------------------------------------------------------------------------------------------------
-- Parser

local Parser = {}
Parser.__index = Parser

local function new_parser(tokens)
  return setmetatable({ tokens = tokens, at = 1, token = tokens[1] }, Parser)
end

function Parser:advance()
  local token = self.token
  self.at = self.at + 1
  self.token = self.tokens[self.at] or token
  return token
end

function Parser:check(kind)
  return self.token.kind == kind
end

function Parser:accept(kind)
  if self.token.kind == kind then return self:advance() end
end

function Parser:expect(kind)
  local token = self.token
  if token.kind == kind then return self:advance() end
  error({ line = token.line, text = format("'%s' expected near '%s'", kind, token.value) }, 0)
end

function Parser:node(kind, fields)
  fields.kind = kind
  fields.line = fields.line or self.token.line
  return fields
end

-- Type expressions

function Parser:type_list(close)
  local list = {}
  while not self:check(close) do
    list[#list + 1] = self:type_expression()
    if not self:accept(",") then break end
  end
  self:expect(close)
  return list
end

function Parser:simple_type()
  if self:accept("[") then
    local element = self:type_expression()
    self:expect("]")
    return self:node("ArrayType", { element = element })
  elseif self:accept("fn") then
    self:expect("(")
    local params = self:type_list(")")
    self:expect("->")
    return self:node("FnType", { params = params, result = self:type_expression() })
  elseif self:accept("nil") then
    return self:node("NamedType", { name = "nil" })
  elseif self:accept("{") then
    local fields = {}
    while not self:check("}") do
      local name = self:expect("name")
      self:expect(":")
      fields[#fields + 1] = { name = name.value, type = self:type_expression() }
      if not self:accept(",") then break end
    end
    self:expect("}")
    return self:node("RecordType", { fields = fields })
  end
  local name = self:expect("name")
  return self:node("NamedType", { name = name.value, line = name.line })
end

function Parser:type_expression()
  local left = self:simple_type()
  if self:accept("?") then
    left = self:node("UnionType",
      { members = { left, self:node("NamedType", { name = "nil" }) } })
  end
  if self:check("|") then
    local members = { left }
    while self:accept("|") do members[#members + 1] = self:simple_type() end
    left = self:node("UnionType", { members = members })
  end
  return left
end

-- Expressions, by binding power

local POWERS = {
  ["||"] = 1, ["&&"] = 2, ["=="] = 3, ["!="] = 3, ["<"] = 4, ["<="] = 4, [">"] = 4, [">="] = 4,
  ["++"] = 5, ["+"] = 6, ["-"] = 6, ["*"] = 7, ["/"] = 7, ["%"] = 7,
}
local UNARY_POWER, POSTFIX_POWER = 8, 9

local prefix = {}

function prefix.int(self, token) return self:node("Int", { value = token.value }) end
function prefix.float(self, token) return self:node("Float", { value = token.value }) end
function prefix.string(self, token) return self:node("String", { value = token.value }) end
prefix["true"] = function(self) return self:node("Bool", { value = true }) end
prefix["false"] = function(self) return self:node("Bool", { value = false }) end
prefix["nil"] = function(self) return self:node("Nil", {}) end

function prefix.name(self, token)
  return self:node("Name", { name = token.value, line = token.line })
end

prefix["("] = function(self)
  local inner = self:expression(0)
  self:expect(")")
  return inner
end

prefix["["] = function(self, token)
  local items = self:arguments("]")
  return self:node("Array", { items = items, line = token.line })
end

prefix["-"] = function(self, token)
  return self:node("Unary",
    { op = "-", operand = self:expression(UNARY_POWER), line = token.line })
end

prefix["!"] = function(self, token)
  return self:node("Unary",
    { op = "!", operand = self:expression(UNARY_POWER), line = token.line })
end

function prefix.new(self, token)
  local name = self:expect("name").value
  local fields = {}
  self:expect("{")
  while not self:check("}") do
    local field = self:expect("name")
    self:expect(":")
    fields[#fields + 1] = { name = field.value, value = self:expression(0), line = field.line }
    if not self:accept(",") then break end
  end
  self:expect("}")
  return self:node("Record", { name = name, fields = fields, line = token.line })
end

prefix["fn"] = function(self, token)
  return self:fn_rest(nil, token.line)
end

-- A short lambda, |x, y| x + y, whose types are inferred.
prefix["|"] = function(self, token)
  local params = {}
  while not self:check("|") do
    params[#params + 1] = { name = self:expect("name").value }
    if not self:accept(",") then break end
  end
  self:expect("|")
  local value = self:expression(0)
  local body = { self:node("Return", { value = value, line = token.line }) }
  return self:node("Fn", { params = params, body = body, generics = {}, line = token.line })
end

function Parser:arguments(close)
  local list = {}
  while not self:check(close) do
    list[#list + 1] = self:expression(0)
    if not self:accept(",") then break end
  end
  self:expect(close)
  return list
end

function Parser:postfix(left)
  local token = self:advance()
  if token.kind == "(" then
    return self:node("Call",
      { callee = left, arguments = self:arguments(")"), line = token.line })
  elseif token.kind == "[" then
    local index = self:expression(0)
    self:expect("]")
    return self:node("Index", { object = left, index = index, line = token.line })
  end
  local name = self:expect("name").value
  return self:node("Field", { object = left, name = name, line = token.line })
end

local POSTFIX = { ["("] = true, ["["] = true, ["."] = true }

function Parser:expression(power)
  local token = self:advance()
  local parse = prefix[token.kind]
  if not parse then
    error({ line = token.line, text = format("unexpected '%s'", token.value) }, 0)
  end
  local left = parse(self, token)
  while true do
    local kind = self.token.kind
    if POSTFIX[kind] and power < POSTFIX_POWER then
      left = self:postfix(left)
    else
      local binding = POWERS[kind]
      if not binding or binding <= power then return left end
      local operator = self:advance()
      local right = self:expression(binding)
      left = self:node("Binary",
        { op = kind, left = left, right = right, line = operator.line })
    end
  end
end

-- Statements

function Parser:block()
  self:expect("{")
  local list = {}
  while not self:check("}") do list[#list + 1] = self:statement() end
  self:expect("}")
  return list
end

function Parser:fn_rest(name, line)
  local generics, params = {}, {}
  if self:accept("<") then
    repeat generics[#generics + 1] = self:expect("name").value until not self:accept(",")
    self:expect(">")
  end
  self:expect("(")
  while not self:check(")") do
    local param = { name = self:expect("name").value }
    if self:accept(":") then param.type = self:type_expression() end
    params[#params + 1] = param
    if not self:accept(",") then break end
  end
  self:expect(")")
  local result = self:accept("->") and self:type_expression() or nil
  local body = self:block()
  return self:node("Fn", { name = name, generics = generics, params = params, result = result,
    body = body, line = line })
end

local statement = {}

function statement.let(self, token)
  local name = self:expect("name").value
  local declared = self:accept(":") and self:type_expression() or nil
  self:expect("=")
  local value = self:expression(0)
  self:expect(";")
  return self:node("Let", { name = name, type = declared, value = value, line = token.line })
end

statement["if"] = function(self, token)
  local condition = self:expression(0)
  local yes = self:block()
  local no
  if self:accept("else") then
    if self:check("if") then
      no = { statement["if"](self, self:advance()) }
    else
      no = self:block()
    end
  end
  return self:node("If", { condition = condition, yes = yes, no = no, line = token.line })
end

statement["while"] = function(self, token)
  local condition = self:expression(0)
  return self:node("While", { condition = condition, body = self:block(), line = token.line })
end

statement["for"] = function(self, token)
  local name = self:expect("name").value
  self:expect("in")
  local first = self:expression(5)
  self:expect("..")
  local last = self:expression(5)
  return self:node("For",
    { name = name, first = first, last = last, body = self:block(), line = token.line })
end

statement["return"] = function(self, token)
  local value
  if not self:check(";") then value = self:expression(0) end
  self:expect(";")
  return self:node("Return", { value = value, line = token.line })
end

function Parser:statement()
  local token = self.token
  local parse = statement[token.kind]
  if parse then return parse(self, self:advance()) end
  local target = self:expression(0)
  if self:accept("=") then
    local value = self:expression(0)
    self:expect(";")
    return self:node("Assign", { target = target, value = value, line = token.line })
  end
  self:expect(";")
  return self:node("Do", { value = target, line = token.line })
end

function Parser:program()
  local items = {}
  while not self:check("end") do
    local ok, problem = pcall(function()
      local token = self.token
      if self:accept("type") then
        local name = self:expect("name").value
        self:expect("=")
        local definition = self:type_expression()
        self:expect(";")
        items[#items + 1] =
          self:node("Type", { name = name, definition = definition, line = token.line })
      else
        self:expect("fn")
        local name = self:expect("name").value
        items[#items + 1] = self:fn_rest(name, token.line)
      end
    end)
    if not ok then
      if type(problem) ~= "table" then error(problem, 0) end
      report(problem.line, "%s", problem.text)
      -- Continue with the next declaration.
      repeat self:advance() until self:check("fn") or self:check("type") or self:check("end")
    end
  end
  return items
end

return {
  tokenize = tokenize,
  parse = function(tokens) return new_parser(tokens):program() end,
}
