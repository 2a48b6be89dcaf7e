-- The lexer and the parser of the linter.

local format = string.format
local find, sub, match = string.find, string.sub, string.match

------------------------------------------------------------------------------------------------
-- Lexer: driven by a list of patterns, tried by the first character

local KEYWORDS = {}
for word in ("and break do else elseif end false for function if in local nil not or repeat return "
  .. "then true until while"):gmatch("%a+") do
  KEYWORDS[word] = true
end

-- The kind, the class of the first character, and the pattern.
local LEXEMES = {
  { "name", "[%a_]", "^[%a_][%w_]*" },
  { "number", "0", "^0[xX]%x+" },
  { "number", "%d", "^%d+%.?%d*" },
  { "string", '"', '^"[^"\n]*"' },
  { "string", "'", "^'[^'\n]*'" },
  { "comment", "%-", "^%-%-[^\n]*" },
  { "operator", "%.", "^%.%.%." },
  { "operator", "%.", "^%.%." },
  { "operator", "[=~<>]", "^[=~<>]=" },
  { "operator", "%p", "^[-+*/%%#=<>(){}%[%];:,.]" },
}

-- The lexemes that can begin with each byte.
local BY_BYTE = {}
for c = 33, 126 do
  local list = {}
  for _, lexeme in ipairs(LEXEMES) do
    if find(string.char(c), lexeme[2]) then list[#list + 1] = lexeme end
  end
  BY_BYTE[c] = list
end

local Lexer = {}
Lexer.__index = Lexer

function Lexer.new(source)
  return setmetatable({ source = source, at = 1, line = 1, line_start = 1, tokens = {},
    comments = {} }, Lexer)
end

function Lexer:skip_blanks()
  local source = self.source
  while true do
    local _, stop = find(source, "^[ \t\r]+", self.at)
    if stop then self.at = stop + 1 end
    if sub(source, self.at, self.at) ~= "\n" then return end
    self.line = self.line + 1
    self.at = self.at + 1
    self.line_start = self.at
  end
end

function Lexer:run()
  local source, tokens = self.source, self.tokens
  while true do
    self:skip_blanks()
    local byte = source:byte(self.at)
    if not byte then break end
    local kind, text
    for _, lexeme in ipairs(BY_BYTE[byte] or {}) do
      text = match(source, lexeme[3], self.at)
      if text then
        kind = lexeme[1]
        break
      end
    end
    if not kind then
      error(format("line %d: unexpected '%s'", self.line, sub(source, self.at, self.at)))
    end
    local token = { kind = kind, text = text, line = self.line,
      column = self.at - self.line_start + 1 }
    if kind == "comment" then
      self.comments[#self.comments + 1] = token
    else
      if kind == "name" and KEYWORDS[text] then token.kind = "keyword" end
      tokens[#tokens + 1] = token
    end
    self.at = self.at + #text
  end
  tokens[#tokens + 1] = { kind = "end", text = "<end>", line = self.line, column = 1 }
  return tokens, self.comments
end

------------------------------------------------------------------------------------------------
-- Parser: makes nodes { type = ..., line = ..., column = ... }

local Parser = {}
Parser.__index = Parser

function Parser.new(tokens)
  return setmetatable({ tokens = tokens, at = 1 }, Parser)
end

function Parser:peek() return self.tokens[self.at].text end
function Parser:kind() return self.tokens[self.at].kind end

function Parser:next()
  local token = self.tokens[self.at]
  self.at = self.at + 1
  return token
end

function Parser:accept(text)
  local token = self.tokens[self.at]
  if token.text == text and token.kind ~= "string" then
    self.at = self.at + 1
    return token
  end
end

function Parser:expect(text)
  local token = self:accept(text)
  if not token then
    local near = self.tokens[self.at]
    error(format("line %d: '%s' expected near '%s'", near.line, text, near.text))
  end
  return token
end

function Parser:node(type, token, fields)
  fields = fields or {}
  fields.type, fields.line, fields.column = type, token.line, token.column
  return fields
end

function Parser:name()
  local token = self:next()
  if token.kind ~= "name" then error(format("line %d: a name expected", token.line)) end
  return self:node("Name", token, { name = token.text })
end

function Parser:block(...)
  local stops = { ... }
  local list = {}
  while true do
    local token = self.tokens[self.at]
    if token.kind == "end" then break end
    for _, stop in ipairs(stops) do
      if token.text == stop and token.kind == "keyword" then
        return self:node("Block", token, { body = list })
      end
    end
    list[#list + 1] = self:statement()
    self:accept(";")
  end
  return self:node("Block", self.tokens[self.at], { body = list })
end

function Parser:names()
  local list = { self:name() }
  while self:accept(",") do list[#list + 1] = self:name() end
  return list
end

function Parser:expressions()
  local list = { self:expression(0) }
  while self:accept(",") do list[#list + 1] = self:expression(0) end
  return list
end

local STATEMENTS = {}

STATEMENTS["local"] = function(self, token)
  if self:accept("function") then
    local name = self:name()
    return self:node("LocalFunction", token, { name = name, fn = self:function_body(token) })
  end
  local names = self:names()
  local values = self:accept("=") and self:expressions() or {}
  return self:node("Local", token, { names = names, values = values })
end

STATEMENTS["if"] = function(self, token)
  local clauses = {}
  repeat
    local condition = self:expression(0)
    self:expect("then")
    local body = self:block("elseif", "else", "end")
    clauses[#clauses + 1] = self:node("Clause", token, { condition = condition, body = body })
  until not self:accept("elseif")
  local otherwise = self:accept("else") and self:block("end") or nil
  self:expect("end")
  return self:node("If", token, { clauses = clauses, otherwise = otherwise })
end

STATEMENTS["while"] = function(self, token)
  local condition = self:expression(0)
  self:expect("do")
  local body = self:block("end")
  self:expect("end")
  return self:node("While", token, { condition = condition, body = body })
end

STATEMENTS["for"] = function(self, token)
  local names = self:names()
  if #names == 1 and self:accept("=") then
    local range = self:expressions()
    self:expect("do")
    local body = self:block("end")
    self:expect("end")
    return self:node("ForRange", token, { names = names, range = range, body = body })
  end
  self:expect("in")
  local values = self:expressions()
  self:expect("do")
  local body = self:block("end")
  self:expect("end")
  return self:node("ForIn", token, { names = names, values = values, body = body })
end

STATEMENTS["function"] = function(self, token)
  local target = self:name()
  while true do
    local separator = self:accept(".") or self:accept(":")
    if not separator then break end
    target = self:node("Field", separator,
      { object = target, name = self:name().name, method = separator.text == ":" })
  end
  return self:node("Function", token, { target = target, fn = self:function_body(token) })
end

STATEMENTS["return"] = function(self, token)
  local values = {}
  local following = self:peek()
  if following ~= "end" and following ~= "else" and following ~= "elseif" and following ~= ";"
    and self:kind() ~= "end" then
    values = self:expressions()
  end
  return self:node("Return", token, { values = values })
end

STATEMENTS["do"] = function(self)
  local body = self:block("end")
  self:expect("end")
  return body
end

STATEMENTS["break"] = function(self, token) return self:node("Break", token) end

function Parser:statement()
  local token = self.tokens[self.at]
  local parse = token.kind == "keyword" and STATEMENTS[token.text]
  if parse then return parse(self, self:next()) end
  local first = self:expression(10)
  if self:peek() == "=" or self:peek() == "," then
    local targets = { first }
    while self:accept(",") do targets[#targets + 1] = self:expression(10) end
    self:expect("=")
    return self:node("Assign", token, { targets = targets, values = self:expressions() })
  end
  return self:node("CallStatement", token, { call = first })
end

function Parser:function_body(token)
  local params = {}
  self:expect("(")
  if not self:accept(")") then
    repeat
      local dots = self:accept("...")
      if dots then
        params[#params + 1] = self:node("Dots", dots)
      else
        params[#params + 1] = self:name()
      end
    until not self:accept(",")
    self:expect(")")
  end
  local body = self:block("end")
  local stop = self:expect("end")
  return self:node("FunctionBody", token, { params = params, body = body, last = stop.line })
end

local BINARY = { ["or"] = 1, ["and"] = 2, ["<"] = 3, [">"] = 3, ["<="] = 3, [">="] = 3,
  ["~="] = 3, ["=="] = 3, [".."] = 4, ["+"] = 5, ["-"] = 5, ["*"] = 6, ["/"] = 6, ["%"] = 6 }
local UNARY = { ["not"] = true, ["-"] = true, ["#"] = true }

function Parser:expression(power)
  local token = self.tokens[self.at]
  local left
  if UNARY[token.text] and token.kind ~= "string" then
    self:next()
    left = self:node("Unary", token, { operator = token.text, operand = self:expression(7) })
  else
    left = self:suffixed()
  end
  while true do
    local operator = self.tokens[self.at]
    local binding = operator.kind ~= "string" and BINARY[operator.text]
    if not binding or binding <= power then return left end
    self:next()
    left = self:node("Binary", operator,
      { operator = operator.text, left = left, right = self:expression(binding) })
  end
end

function Parser:suffixed()
  local value = self:simple()
  while true do
    local token = self.tokens[self.at]
    if token.kind ~= "operator" then return value end
    if token.text == "." then
      self:next()
      value = self:node("Field", token, { object = value, name = self:name().name })
    elseif token.text == "[" then
      self:next()
      value = self:node("Index", token, { object = value, key = self:expression(0) })
      self:expect("]")
    elseif token.text == "(" then
      value = self:node("Call", token, { callee = value, arguments = self:arguments() })
    elseif token.text == ":" then
      self:next()
      local name = self:name().name
      value = self:node("MethodCall", token,
        { object = value, name = name, arguments = self:arguments() })
    else
      return value
    end
  end
end

function Parser:arguments()
  self:expect("(")
  if self:accept(")") then return {} end
  local list = self:expressions()
  self:expect(")")
  return list
end

function Parser:simple()
  local token = self:next()
  if token.kind == "name" then return self:node("Name", token, { name = token.text }) end
  if token.kind == "number" then
    return self:node("Number", token, { value = tonumber(token.text), text = token.text })
  elseif token.kind == "string" then
    local text = token.text
    return self:node("String", token, { value = sub(text, 2, -2), quote = sub(text, 1, 1) })
  elseif token.text == "nil" or token.text == "true" or token.text == "false" then
    return self:node("Constant", token, { value = token.text })
  elseif token.text == "..." then
    return self:node("Dots", token)
  elseif token.text == "function" then
    return self:function_body(token)
  elseif token.text == "(" then
    local inner = self:expression(0)
    self:expect(")")
    return self:node("Parenthesis", token, { inner = inner })
  elseif token.text == "{" then
    local items = {}
    while self:peek() ~= "}" do
      local start = self.tokens[self.at]
      local following = self.tokens[self.at + 1]
      if start.kind == "name" and following.text == "=" then
        self:next()
        self:next()
        items[#items + 1] =
          self:node("Pair", start, { name = start.text, value = self:expression(0) })
      else
        items[#items + 1] = self:expression(0)
      end
      if not self:accept(",") then break end
    end
    self:expect("}")
    return self:node("Table", token, { items = items })
  end
  error(format("line %d: unexpected '%s'", token.line, token.text))
end

return {
  tokenize = function(source) return Lexer.new(source):run() end,
  parse = function(tokens) return Parser.new(tokens):block() end,
}
