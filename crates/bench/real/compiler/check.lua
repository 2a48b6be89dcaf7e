-- Types, scopes and the type checker, which infers the types of variables and lambdas.

local report = require("compiler.report").add

local format, concat = string.format, table.concat

------------------------------------------------------------------------------------------------
-- Types

local INT, FLOAT, BOOL, STRING, NIL, ANY =
  { tag = "int" }, { tag = "float" }, { tag = "bool" }, { tag = "string" }, { tag = "nil" },
  { tag = "any" }
local BASIC = { int = INT, float = FLOAT, bool = BOOL, string = STRING, ["nil"] = NIL, any = ANY }

local variables = 0
local function fresh()
  variables = variables + 1
  return { tag = "var", id = variables }
end

local function resolve(kind)
  while kind.tag == "var" and kind.bound do kind = kind.bound end
  return kind
end

local function array_of(element) return { tag = "array", element = element } end
local function function_of(params, result)
  return { tag = "fn", params = params, result = result }
end

local function show(kind)
  kind = resolve(kind)
  local tag = kind.tag
  if tag == "array" then return "[" .. show(kind.element) .. "]" end
  if tag == "record" or tag == "param" then return kind.name end
  if tag == "var" then return "_" end
  if tag == "fn" then
    local params = {}
    for i, param in ipairs(kind.params) do params[i] = show(param) end
    return "fn(" .. concat(params, ", ") .. ") -> " .. show(kind.result)
  end
  if tag == "union" then
    local members = {}
    for i, member in ipairs(kind.members) do members[i] = show(member) end
    return concat(members, " | ")
  end
  return tag
end

local function occurs(variable, kind)
  kind = resolve(kind)
  if kind == variable then return true end
  if kind.tag == "array" then return occurs(variable, kind.element) end
  if kind.tag == "fn" then
    for _, param in ipairs(kind.params) do
      if occurs(variable, param) then return true end
    end
    return occurs(variable, kind.result)
  end
  return false
end

local function same(a, b)
  a, b = resolve(a), resolve(b)
  if a == b then return true end
  if a.tag ~= b.tag then return false end
  if a.tag == "array" then return same(a.element, b.element) end
  if a.tag == "fn" then
    if #a.params ~= #b.params then return false end
    for i = 1, #a.params do
      if not same(a.params[i], b.params[i]) then return false end
    end
    return same(a.result, b.result)
  end
  return false
end

-- A union without duplicates and without unions inside.
local function union_of(list)
  local members = {}
  local function add(kind)
    kind = resolve(kind)
    if kind.tag == "union" then
      for _, member in ipairs(kind.members) do add(member) end
      return
    end
    for _, member in ipairs(members) do
      if same(member, kind) then return end
    end
    members[#members + 1] = kind
  end
  for _, kind in ipairs(list) do add(kind) end
  if #members == 1 then return members[1] end
  return { tag = "union", members = members }
end

local function without(kind, removed)
  kind = resolve(kind)
  if kind.tag ~= "union" then return kind end
  local rest = {}
  for _, member in ipairs(kind.members) do
    if member ~= removed then rest[#rest + 1] = member end
  end
  return union_of(rest)
end

-- Whether a value of type `from` may be where `to` is expected; binds variables on the way.
local function assignable(from, to)
  from, to = resolve(from), resolve(to)
  if from == to or from == ANY or to == ANY then return true end
  if from.tag == "var" then
    if occurs(from, to) then return false end
    from.bound = to
    return true
  elseif to.tag == "var" then
    if occurs(to, from) then return false end
    to.bound = from
    return true
  elseif from.tag == "union" then
    for _, member in ipairs(from.members) do
      if not assignable(member, to) then return false end
    end
    return true
  elseif to.tag == "union" then
    for _, member in ipairs(to.members) do
      if member.tag == from.tag and assignable(from, member) then return true end
    end
    return false
  elseif from == INT and to == FLOAT then
    return true
  elseif from.tag ~= to.tag then
    return false
  elseif from.tag == "array" then
    return assignable(from.element, to.element) and assignable(to.element, from.element)
  elseif from.tag == "fn" then
    if #from.params ~= #to.params then return false end
    for i = 1, #from.params do
      if not assignable(to.params[i], from.params[i]) then return false end
    end
    return assignable(from.result, to.result)
  end
  return false
end

-- Replaces the type parameters of a generic function by fresh variables.
local function instantiate(kind, map)
  kind = resolve(kind)
  local tag = kind.tag
  if tag == "param" then return map[kind] or kind end
  if tag == "array" then
    local element = instantiate(kind.element, map)
    return element == kind.element and kind or array_of(element)
  elseif tag == "fn" then
    local params = {}
    for i, param in ipairs(kind.params) do params[i] = instantiate(param, map) end
    return function_of(params, instantiate(kind.result, map))
  elseif tag == "union" then
    local members = {}
    for i, member in ipairs(kind.members) do members[i] = instantiate(member, map) end
    return union_of(members)
  end
  return kind
end

------------------------------------------------------------------------------------------------
-- Scopes and the type checker

local Checker = {}
Checker.__index = Checker

local function new_checker()
  return setmetatable({ types = {}, globals = {}, scope = nil, fn = nil, used = 0 }, Checker)
end

function Checker:push()
  self.scope = { parent = self.scope, names = {}, fn = self.fn }
end

function Checker:pop()
  self.scope = self.scope.parent
end

function Checker:declare(name, kind, line)
  local scope = self.scope
  if scope.names[name] then report(line, "'%s' is already declared", name) end
  local fn = self.fn
  fn.locals = fn.locals + 1
  local symbol = { name = name, type = kind, slot = fn.locals, fn = fn, uses = 0, line = line }
  scope.names[name] = symbol
  return symbol
end

function Checker:lookup(name)
  local scope = self.scope
  while scope do
    local symbol = scope.names[name]
    if symbol then return symbol end
    scope = scope.parent
  end
  return self.globals[name]
end

function Checker:convert(node, generics)
  local kind = node.kind
  if kind == "NamedType" then
    local found = generics and generics[node.name] or BASIC[node.name] or self.types[node.name]
    if not found then
      report(node.line, "unknown type '%s'", node.name)
      return ANY
    end
    return found
  elseif kind == "ArrayType" then
    return array_of(self:convert(node.element, generics))
  elseif kind == "FnType" then
    local params = {}
    for i, param in ipairs(node.params) do params[i] = self:convert(param, generics) end
    return function_of(params, self:convert(node.result, generics))
  elseif kind == "UnionType" then
    local members = {}
    for i, member in ipairs(node.members) do members[i] = self:convert(member, generics) end
    return union_of(members)
  end
  report(node.line, "a record type needs a name")
  return ANY
end

function Checker:require(from, to, line, what)
  if not assignable(from, to) then
    report(line, "%s: %s expected, got %s", what, show(to), show(from))
  end
end

-- Makes a variable of an enclosing function one of the upvalues of `fn`.
local function capture(fn, symbol)
  if fn.upvalues[symbol] then return end
  fn.captured[#fn.captured + 1] = symbol
  fn.upvalues[symbol] = #fn.captured
end

local infer = {}

function Checker:infer(node, hint)
  local kind = infer[node.kind](self, node, hint)
  node.type = kind
  return kind
end

function infer.Int() return INT end
function infer.Float() return FLOAT end
function infer.String() return STRING end
function infer.Bool() return BOOL end
function infer.Nil() return NIL end

function infer.Name(self, node)
  local symbol = self:lookup(node.name)
  if not symbol then
    report(node.line, "unknown name '%s'", node.name)
    return ANY
  end
  symbol.uses = symbol.uses + 1
  node.symbol = symbol
  if symbol.fn and symbol.fn ~= self.fn then
    -- A variable of an enclosing function.
    capture(self.fn, symbol)
  end
  if symbol.generics then
    local map = {}
    for _, param in ipairs(symbol.generics) do map[param] = fresh() end
    return instantiate(symbol.type, map)
  end
  return symbol.narrowed or symbol.type
end

function infer.Array(self, node, hint)
  local element = fresh()
  hint = hint and resolve(hint)
  if hint and hint.tag == "array" then element = hint.element end
  local first = true
  for _, item in ipairs(node.items) do
    local kind = self:infer(item, element)
    if first and resolve(element).tag == "var" then
      assignable(kind, element)
      first = false
    else
      self:require(kind, element, item.line, "element")
    end
  end
  return array_of(element)
end

function infer.Record(self, node)
  local kind = self.types[node.name]
  if not kind or kind.tag ~= "record" then
    report(node.line, "'%s' is no record type", node.name)
    for _, field in ipairs(node.fields) do self:infer(field.value) end
    return ANY
  end
  local seen = {}
  for _, field in ipairs(node.fields) do
    local expected = kind.fields[field.name]
    local found = self:infer(field.value, expected)
    if not expected then
      report(field.line, "'%s' has no field '%s'", kind.name, field.name)
    else
      self:require(found, expected, field.line, field.name)
    end
    seen[field.name] = true
  end
  for _, name in ipairs(kind.order) do
    if not seen[name] and not assignable(NIL, kind.fields[name]) then
      report(node.line, "field '%s' of '%s' is missing", name, kind.name)
    end
  end
  return kind
end

function infer.Unary(self, node)
  local kind = resolve(self:infer(node.operand))
  if node.op == "!" then
    self:require(kind, BOOL, node.line, "operand of !")
    return BOOL
  end
  if kind == FLOAT then return FLOAT end
  self:require(kind, INT, node.line, "operand of -")
  return INT
end

local COMPARISON = { ["<"] = true, ["<="] = true, [">"] = true, [">="] = true }

function infer.Binary(self, node)
  local op = node.op
  if op == "&&" or op == "||" then
    self:require(self:infer(node.left), BOOL, node.line, "operand of " .. op)
    self:require(self:infer(node.right), BOOL, node.line, "operand of " .. op)
    return BOOL
  end
  local left, right = resolve(self:infer(node.left)), resolve(self:infer(node.right))
  if op == "==" or op == "!=" then
    if not assignable(left, right) and not assignable(right, left) then
      report(node.line, "%s and %s are never equal", show(left), show(right))
    end
    return BOOL
  elseif op == "++" then
    self:require(left, STRING, node.line, "operand of ++")
    self:require(right, STRING, node.line, "operand of ++")
    return STRING
  end
  local result = INT
  if left == FLOAT or right == FLOAT then result = FLOAT end
  if left.tag == "var" and right.tag == "var" then
    result = INT
  elseif left.tag == "var" then
    result = right
  elseif right.tag == "var" then
    result = left
  elseif left == STRING and right == STRING and COMPARISON[op] then
    return BOOL
  end
  self:require(left, result, node.line, "operand of " .. op)
  self:require(right, result, node.line, "operand of " .. op)
  if COMPARISON[op] then return BOOL end
  return result
end

function infer.Call(self, node)
  local callee = resolve(self:infer(node.callee))
  if callee == ANY then
    for _, argument in ipairs(node.arguments) do self:infer(argument) end
    return ANY
  end
  if callee.tag == "var" then
    local params = {}
    for i, argument in ipairs(node.arguments) do params[i] = self:infer(argument) end
    callee.bound = function_of(params, fresh())
    return callee.bound.result
  end
  if callee.tag ~= "fn" then
    report(node.line, "a value of type %s is called", show(callee))
    return ANY
  end
  if #node.arguments ~= #callee.params then
    report(node.line, "%d arguments expected, got %d", #callee.params, #node.arguments)
  end
  for i, argument in ipairs(node.arguments) do
    local expected = callee.params[i]
    local found = self:infer(argument, expected)
    if expected then self:require(found, expected, argument.line, "argument") end
  end
  return callee.result
end

function infer.Index(self, node)
  local object = resolve(self:infer(node.object))
  self:require(self:infer(node.index), INT, node.line, "index")
  if object == STRING then return STRING end
  if object == ANY then return ANY end
  local element = fresh()
  self:require(object, array_of(element), node.line, "indexed value")
  return element
end

function infer.Field(self, node)
  local object = resolve(self:infer(node.object))
  if object == ANY then return ANY end
  if object.tag ~= "record" then
    report(node.line, "a value of type %s has no field '%s'", show(object), node.name)
    return ANY
  end
  local kind = object.fields[node.name]
  if not kind then
    report(node.line, "'%s' has no field '%s'", object.name, node.name)
    return ANY
  end
  node.offset = object.offsets[node.name]
  return kind
end

function infer.Fn(self, node, hint)
  local params, expected = {}, hint and resolve(hint)
  if expected and expected.tag ~= "fn" then expected = nil end
  for i, param in ipairs(node.params) do
    if param.type then
      params[i] = self:convert(param.type, self.fn and self.fn.generics)
    else
      params[i] = fresh()
      if expected and expected.params[i] then assignable(expected.params[i], params[i]) end
    end
  end
  local result = node.result and self:convert(node.result, self.fn and self.fn.generics) or fresh()
  self:body(node, params, result, self.fn and self.fn.generics)
  return function_of(params, result)
end

function Checker:body(node, params, result, generics)
  local outer = self.fn
  self.fn = { node = node, locals = 0, upvalues = {}, captured = {}, result = result,
    generics = generics, outer = outer, returns = 0 }
  node.info = self.fn
  self:push()
  for i, param in ipairs(node.params) do
    param.symbol = self:declare(param.name, params[i], node.line)
    param.symbol.is_param = true
  end
  self:statements(node.body)
  self:pop()
  if self.fn.returns == 0 then assignable(NIL, result) end
  self.fn = outer
end

local check = {}

function Checker:statements(list)
  for _, node in ipairs(list) do check[node.kind](self, node) end
end

function Checker:block(list)
  self:push()
  self:statements(list)
  for name, symbol in pairs(self.scope.names) do
    if symbol.uses == 0 and name:sub(1, 1) ~= "_" then self.used = self.used + 1 end
  end
  self:pop()
end

function check.Let(self, node)
  local declared = node.type and self:convert(node.type, self.fn.generics)
  local found = self:infer(node.value, declared)
  if declared then self:require(found, declared, node.line, node.name) end
  node.symbol = self:declare(node.name, declared or found, node.line)
  node.declared = declared or found
end

function check.Assign(self, node)
  local target = node.target
  if target.kind ~= "Name" and target.kind ~= "Field" and target.kind ~= "Index" then
    report(node.line, "this cannot be assigned to")
    return
  end
  local expected = self:infer(target)
  if target.symbol then
    expected = target.symbol.type
    target.symbol.narrowed = nil
    target.symbol.assigned = true
  end
  self:require(self:infer(node.value, expected), expected, node.line, "assignment")
end

-- Returns the variable that a condition compares with nil, and whether it is nil when true.
local function nil_test(condition)
  if condition.kind ~= "Binary" then return end
  local op = condition.op
  if op ~= "==" and op ~= "!=" then return end
  local name, other = condition.left, condition.right
  if other.kind ~= "Nil" then name, other = other, name end
  if other.kind == "Nil" and name.kind == "Name" and name.symbol then
    return name.symbol, op == "=="
  end
end

function check.If(self, node)
  self:require(self:infer(node.condition), BOOL, node.line, "condition")
  local symbol, is_nil = nil_test(node.condition)
  local before
  if symbol then
    before = symbol.narrowed
    symbol.narrowed = is_nil and NIL or without(before or symbol.type, NIL)
  end
  self:block(node.yes)
  if symbol then symbol.narrowed = is_nil and without(before or symbol.type, NIL) or NIL end
  if node.no then self:block(node.no) end
  if symbol then
    local last = node.yes[#node.yes]
    local leaves = is_nil and last and last.kind == "Return"
    symbol.narrowed = leaves and without(before or symbol.type, NIL) or before
  end
end

check["While"] = function(self, node)
  self:require(self:infer(node.condition), BOOL, node.line, "condition")
  self:block(node.body)
end

check["For"] = function(self, node)
  self:require(self:infer(node.first), INT, node.line, "start")
  self:require(self:infer(node.last), INT, node.line, "end")
  self:push()
  node.symbol = self:declare(node.name, INT, node.line)
  self:block(node.body)
  self:pop()
end

check["Return"] = function(self, node)
  local fn = self.fn
  fn.returns = fn.returns + 1
  local found = node.value and self:infer(node.value, fn.result) or NIL
  self:require(found, fn.result, node.line, "result")
end

check["Do"] = function(self, node)
  self:infer(node.value)
end

function Checker:program(items)
  for _, item in ipairs(items) do
    if item.kind == "Type" then
      local definition = item.definition
      if definition.kind == "RecordType" then
        self.types[item.name] =
          { tag = "record", name = item.name, fields = {}, order = {}, offsets = {} }
      end
    end
  end
  for _, item in ipairs(items) do
    if item.kind == "Type" then
      local kind = self.types[item.name]
      if kind then
        for i, field in ipairs(item.definition.fields) do
          kind.fields[field.name] = self:convert(field.type)
          kind.order[i], kind.offsets[field.name] = field.name, i
        end
      else
        self.types[item.name] = self:convert(item.definition)
      end
    else
      local generics, list, params = {}, {}, {}
      for i, name in ipairs(item.generics) do
        list[i] = { tag = "param", name = name }
        generics[name] = list[i]
      end
      for i, param in ipairs(item.params) do
        params[i] = param.type and self:convert(param.type, generics) or ANY
      end
      local result = item.result and self:convert(item.result, generics) or NIL
      if self.globals[item.name] then
        report(item.line, "function '%s' is already declared", item.name)
      end
      self.globals[item.name] = { name = item.name, type = function_of(params, result), uses = 0,
        generics = #list > 0 and list or nil, global = true }
      item.signature, item.generic_map = self.globals[item.name].type, generics
    end
  end
  for _, item in ipairs(items) do
    if item.kind == "Fn" then
      self:body(item, item.signature.params, item.signature.result, item.generic_map)
    end
  end
end

return {
  INT = INT, FLOAT = FLOAT, BOOL = BOOL, STRING = STRING,
  capture = capture,
  new_checker = new_checker,
  variables = function() return variables end,
}
