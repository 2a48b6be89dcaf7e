-- Constant folding and the code generator for a stack machine.

local types = require("compiler.check")

local INT, FLOAT, BOOL, STRING = types.INT, types.FLOAT, types.BOOL, types.STRING
local floor, format, concat = math.floor, string.format, table.concat

------------------------------------------------------------------------------------------------
-- Constant folding: rewrites the tree from the leaves up

local folded = 0
local LITERAL = { Int = true, Float = true, String = true, Bool = true }

local arithmetic = {
  ["+"] = function(a, b) return a + b end,
  ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
  ["%"] = function(a, b) if b ~= 0 then return a % b end end,
  ["/"] = function(a, b) if b ~= 0 then return a / b end end,
}
local comparison = {
  ["<"] = function(a, b) return a < b end,
  ["<="] = function(a, b) return a <= b end,
  [">"] = function(a, b) return a > b end,
  [">="] = function(a, b) return a >= b end,
  ["=="] = function(a, b) return a == b end,
  ["!="] = function(a, b) return a ~= b end,
}

local fold_kind = {}

local function fold(node)
  local rewrite = fold_kind[node.kind]
  return rewrite and rewrite(node) or node
end

local function literal(node, kind, value, value_type)
  folded = folded + 1
  return { kind = kind, value = value, type = value_type, line = node.line }
end

local function fold_list(list)
  for i = 1, #list do list[i] = fold(list[i]) end
end

function fold_kind.Binary(node)
  local left, right = fold(node.left), fold(node.right)
  node.left, node.right = left, right
  local op = node.op
  if op == "&&" and left.kind == "Bool" then return left.value and right or left end
  if op == "||" and left.kind == "Bool" then return left.value and left or right end
  if not (LITERAL[left.kind] and LITERAL[right.kind]) then
    -- x + 0, x * 1
    if right.kind == "Int" and left.type == INT
      and (right.value == 0 and (op == "+" or op == "-") or right.value == 1 and op == "*") then
      folded = folded + 1
      return left
    end
    return node
  end
  if op == "++" then return literal(node, "String", left.value .. right.value, STRING) end
  local compare = comparison[op]
  if compare and type(left.value) == type(right.value) and left.kind ~= "Bool" then
    return literal(node, "Bool", compare(left.value, right.value), BOOL)
  end
  local compute = arithmetic[op]
  if compute and type(left.value) == "number" and type(right.value) == "number" then
    local value = compute(left.value, right.value)
    if value then
      if node.type == FLOAT then return literal(node, "Float", value, FLOAT) end
      value = value >= 0 and floor(value) or -floor(-value)
      if value < 2147483648 and value > -2147483648 then
        return literal(node, "Int", value, INT)
      end
    end
  end
  return node
end

function fold_kind.Unary(node)
  local operand = fold(node.operand)
  node.operand = operand
  if node.op == "-" and operand.kind == "Int" then
    return literal(node, "Int", -operand.value, INT)
  elseif node.op == "-" and operand.kind == "Float" then
    return literal(node, "Float", -operand.value, FLOAT)
  elseif node.op == "!" and operand.kind == "Bool" then
    return literal(node, "Bool", not operand.value, BOOL)
  elseif node.op == "!" and operand.kind == "Unary" and operand.op == "!" then
    folded = folded + 1
    return operand.operand
  end
  return node
end

function fold_kind.Call(node)
  node.callee = fold(node.callee)
  fold_list(node.arguments)
  return node
end

function fold_kind.Index(node)
  node.object, node.index = fold(node.object), fold(node.index)
  return node
end

function fold_kind.Field(node)
  node.object = fold(node.object)
  return node
end

function fold_kind.Array(node)
  fold_list(node.items)
  return node
end

function fold_kind.Record(node)
  for _, field in ipairs(node.fields) do field.value = fold(field.value) end
  return node
end

function fold_kind.Fn(node)
  fold_list(node.body)
  return node
end

function fold_kind.Let(node)
  node.value = fold(node.value)
  return node
end

function fold_kind.Assign(node)
  node.target, node.value = fold(node.target), fold(node.value)
  return node
end

function fold_kind.If(node)
  node.condition = fold(node.condition)
  fold_list(node.yes)
  if node.no then fold_list(node.no) end
  return node
end

fold_kind["While"] = function(node)
  node.condition = fold(node.condition)
  fold_list(node.body)
  return node
end

fold_kind["For"] = function(node)
  node.first, node.last = fold(node.first), fold(node.last)
  fold_list(node.body)
  return node
end

fold_kind["Return"] = function(node)
  if node.value then node.value = fold(node.value) end
  return node
end
fold_kind["Do"] = fold_kind["Return"]

------------------------------------------------------------------------------------------------
-- Code generation

local Generator = {}
Generator.__index = Generator

-- The module: functions in the order in which they were finished.
local function new_module()
  return { functions = {}, strings = {}, string_index = {}, instructions = 0, removed = 0 }
end

local function new_generator(module, name, info, outer)
  return setmetatable({ module = module, name = name, info = info, outer = outer, code = {},
    size = 0, depth = 0, deepest = 0 }, Generator)
end

-- How each instruction changes the height of the stack; calls and the like say it themselves.
local EFFECT = {
  int = 1, float = 1, string = 1, ["true"] = 1, ["false"] = 1, ["nil"] = 1, load = 1, store = -1,
  upvalue = 1, set_upvalue = -1, global = 1, pop = -1, jump = 0, jump_false = -1,
  jump_keep_false = 0, jump_keep_true = 0, ret = -1, field = 0, set_field = -2, index = -1,
  set_index = -3, neg = 0, ["not"] = 0, widen = 0, label = 0, closure = 1,
}
for _, name in ipairs({ "add", "sub", "mul", "div", "mod", "concat", "lt", "le", "gt", "ge", "eq",
  "ne", "fadd", "fsub", "fmul", "fdiv", "fmod" }) do
  EFFECT[name] = -1
end

function Generator:emit(op, a, effect)
  self.size = self.size + 1
  self.code[self.size] = { op = op, a = a }
  self.depth = self.depth + (effect or EFFECT[op])
  if self.depth > self.deepest then self.deepest = self.depth end
  return self.size
end

function Generator:label()
  return { at = nil }
end

function Generator:place(label)
  label.at = self.size + 1
end

function Generator:string(text)
  local module = self.module
  local index = module.string_index[text]
  if not index then
    index = #module.strings + 1
    module.strings[index] = text
    module.string_index[text] = index
  end
  return index
end

local expression = {}
local BINARY = {
  ["+"] = "add", ["-"] = "sub", ["*"] = "mul", ["/"] = "div", ["%"] = "mod", ["++"] = "concat",
  ["<"] = "lt", ["<="] = "le", [">"] = "gt", [">="] = "ge", ["=="] = "eq", ["!="] = "ne",
}
local FLOAT_BINARY = { add = "fadd", sub = "fsub", mul = "fmul", div = "fdiv", mod = "fmod" }

function Generator:value(node, wanted)
  expression[node.kind](self, node)
  if wanted == FLOAT and node.type == INT then self:emit("widen") end
end

function expression.Int(self, node) self:emit("int", node.value) end
function expression.Float(self, node) self:emit("float", node.value) end
function expression.String(self, node) self:emit("string", self:string(node.value)) end
function expression.Bool(self, node) self:emit(node.value and "true" or "false") end
function expression.Nil(self) self:emit("nil") end

function expression.Name(self, node)
  local symbol = node.symbol
  if not symbol then
    self:emit("nil")
  elseif symbol.global then
    self:emit("global", symbol.name)
  elseif symbol.fn ~= self.info then
    self:emit("upvalue", self.info.upvalues[symbol] or 0)
  else
    self:emit("load", symbol.slot)
  end
end

function expression.Array(self, node)
  for _, item in ipairs(node.items) do self:value(item) end
  self:emit("array", #node.items, 1 - #node.items)
end

function expression.Record(self, node)
  local by_name, fields = {}, node.type.order or {}
  for _, field in ipairs(node.fields) do by_name[field.name] = field.value end
  for _, name in ipairs(fields) do
    local value = by_name[name]
    if value then self:value(value, node.type.fields[name]) else self:emit("nil") end
  end
  self:emit("record", #fields, 1 - #fields)
end

function expression.Unary(self, node)
  self:value(node.operand)
  self:emit(node.op == "-" and "neg" or "not")
end

function expression.Binary(self, node)
  local op = node.op
  if op == "&&" or op == "||" then
    local done = self:label()
    self:value(node.left)
    self:emit(op == "&&" and "jump_keep_false" or "jump_keep_true", done)
    self:emit("pop")
    self:value(node.right)
    self:place(done)
    return
  end
  local name = BINARY[op]
  if node.left.type == FLOAT or node.right.type == FLOAT then name = FLOAT_BINARY[name] or name end
  local wanted = (node.left.type == FLOAT or node.right.type == FLOAT) and FLOAT or nil
  self:value(node.left, wanted)
  self:value(node.right, wanted)
  self:emit(name)
end

function expression.Call(self, node)
  self:value(node.callee)
  local kind = node.callee.type
  for i, argument in ipairs(node.arguments) do
    self:value(argument, kind.tag == "fn" and kind.params[i] or nil)
  end
  self:emit("call", #node.arguments, -#node.arguments)
end

function expression.Index(self, node)
  self:value(node.object)
  self:value(node.index)
  self:emit("index")
end

function expression.Field(self, node)
  self:value(node.object)
  self:emit("field", node.offset or 0)
end

local compile_function

function expression.Fn(self, node)
  local index = compile_function(self.module, node, self)
  for _, symbol in ipairs(node.info.captured) do
    -- Variables of functions further out pass through this one.
    if symbol.fn ~= self.info then types.capture(self.info, symbol) end
  end
  self:emit("closure", index)
end

local execute = {}

function Generator:statements(list)
  for _, node in ipairs(list) do execute[node.kind](self, node) end
end

function execute.Let(self, node)
  self:value(node.value, node.declared)
  self:emit("store", node.symbol.slot)
end

function execute.Assign(self, node)
  local target = node.target
  if target.kind == "Name" then
    self:value(node.value, target.type)
    local symbol = target.symbol
    if not symbol or symbol.global then
      self:emit("pop")
    elseif symbol.fn ~= self.info then
      self:emit("set_upvalue", self.info.upvalues[symbol] or 0)
    else
      self:emit("store", symbol.slot)
    end
  elseif target.kind == "Field" then
    self:value(target.object)
    self:value(node.value, target.type)
    self:emit("set_field", target.offset or 0)
  elseif target.kind == "Index" then
    self:value(target.object)
    self:value(target.index)
    self:value(node.value, target.type)
    self:emit("set_index")
  end
end

function execute.If(self, node)
  local otherwise, done = self:label(), self:label()
  if node.condition.kind == "Bool" then
    -- The condition was folded: only one branch remains.
    local branch = node.condition.value and node.yes or node.no
    if branch then self:statements(branch) end
    return
  end
  self:value(node.condition)
  self:emit("jump_false", otherwise)
  self:statements(node.yes)
  if node.no then
    self:emit("jump", done)
    self:place(otherwise)
    self:statements(node.no)
  else
    self:place(otherwise)
  end
  self:place(done)
end

execute["While"] = function(self, node)
  local top, done = self:label(), self:label()
  self:place(top)
  self:value(node.condition)
  self:emit("jump_false", done)
  self:statements(node.body)
  self:emit("jump", top)
  self:place(done)
end

execute["For"] = function(self, node)
  local top, done = self:label(), self:label()
  local slot = node.symbol.slot
  self:value(node.first)
  self:emit("store", slot)
  self:place(top)
  self:emit("load", slot)
  self:value(node.last)
  self:emit("le")
  self:emit("jump_false", done)
  self:statements(node.body)
  self:emit("load", slot)
  self:emit("int", 1)
  self:emit("add")
  self:emit("store", slot)
  self:emit("jump", top)
  self:place(done)
end

execute["Return"] = function(self, node)
  if node.value then self:value(node.value, self.info.result) else self:emit("nil") end
  self:emit("ret")
end

execute["Do"] = function(self, node)
  self:value(node.value)
  self:emit("pop")
end

-- Threads jumps to jumps, and turns `store x; load x` at one place into `copy x`.
function Generator:optimize()
  local code, targets = self.code, {}
  for i = 1, self.size do
    local label = code[i].a
    if type(label) == "table" then
      local hops = 0
      while code[label.at] and code[label.at].op == "jump" and hops < 8 do
        label = code[label.at].a
        hops = hops + 1
      end
      code[i].a = label
      targets[label.at] = true
    end
  end
  local kept, place, size = {}, {}, 0
  local i = 1
  while i <= self.size do
    local one, two = code[i], code[i + 1]
    size = size + 1
    place[i] = size
    if one.op == "store" and two and two.op == "load" and one.a == two.a
      and not targets[i + 1] then
      kept[size] = { op = "copy", a = one.a }
      place[i + 1] = size
      i = i + 2
    elseif one.op == "jump" and one.a.at == i + 1 then
      size = size - 1
      i = i + 1
    else
      kept[size] = one
      i = i + 1
    end
  end
  place[self.size + 1] = size + 1
  for position = self.size, 1, -1 do
    place[position] = place[position] or place[position + 1]
  end
  for position = 1, size do
    local instruction = kept[position]
    if type(instruction.a) == "table" then
      kept[position] = { op = instruction.op, a = place[instruction.a.at] }
    end
  end
  self.module.removed = self.module.removed + self.size - size
  self.code, self.size = kept, size
end

function compile_function(module, node, outer)
  local name = node.name or (outer.name .. ".lambda")
  local generator = new_generator(module, name, node.info, outer)
  generator:statements(node.body)
  generator:emit("nil")
  generator:emit("ret")
  generator:optimize()
  local functions = module.functions
  functions[#functions + 1] = { name = name, params = #node.params, locals = node.info.locals,
    stack = generator.deepest, code = generator.code, upvalues = #node.info.captured }
  module.instructions = module.instructions + generator.size
  return #functions
end

local function generate(items)
  local module = new_module()
  for _, item in ipairs(items) do
    if item.kind == "Fn" then compile_function(module, item, nil) end
  end
  return module
end

-- The text of a module, as a disassembler shows it.
local function listing(module)
  local out = {}
  for _, fn in ipairs(module.functions) do
    out[#out + 1] = format("function %s params %d locals %d upvalues %d stack %d", fn.name,
      fn.params, fn.locals, fn.upvalues, fn.stack)
    for i, instruction in ipairs(fn.code) do
      local a = instruction.a
      if a == nil then
        out[#out + 1] = format("%5d  %s", i, instruction.op)
      elseif instruction.op == "float" then
        out[#out + 1] = format("%5d  %-16s %.6g", i, instruction.op, a)
      elseif type(a) == "number" then
        out[#out + 1] = format("%5d  %-16s %d", i, instruction.op, a)
      else
        out[#out + 1] = format("%5d  %-16s %s", i, instruction.op, a)
      end
    end
  end
  for i, text in ipairs(module.strings) do out[#out + 1] = format("string %d %q", i, text) end
  return concat(out, "\n")
end

return {
  fold = fold,
  folded = function() return folded end,
  generate = generate,
  listing = listing,
}
