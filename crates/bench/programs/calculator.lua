-- covers: lexing, parsing, an evaluator with closures and one with a stack machine
-- A small expression language: tokens, a precedence parser, constant folding, and
-- evaluation of the same programs by closures and by bytecode.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(18000 * scale))

local SOURCES = {
  "(x + 3) * (y - 2) - x * x % 7",
  "x * (y + 1) * 2 - (3 + 4 * 5) * y",
  "(x < y) * 10 + (y < x) * 20 + x % 5 * (y % 3)",
  "((x + y) * (x - y) + 1) % 1009 + 2 * (3 * (4 + x))",
}

local function tokenize(text)
  local tokens, at = {}, 1
  while at <= #text do
    local _, stop, number = text:find("^(%d+)", at)
    if number then
      tokens[#tokens + 1] = { kind = "number", value = tonumber(number) }
    else
      local name
      _, stop, name = text:find("^(%a+)", at)
      if name then
        tokens[#tokens + 1] = { kind = "name", value = name }
      else
        stop = at
        local c = text:sub(at, at)
        if c ~= " " then tokens[#tokens + 1] = { kind = c, value = c } end
      end
    end
    at = stop + 1
  end
  tokens[#tokens + 1] = { kind = "end" }
  return tokens
end

local PRECEDENCE = { ["<"] = 1, ["+"] = 2, ["-"] = 2, ["*"] = 3, ["%"] = 3 }
local OPERATE = {
  ["+"] = function(a, b) return a + b end,
  ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
  ["%"] = function(a, b) return a % b end,
  ["<"] = function(a, b) return a < b and 1 or 0 end,
}

local function parse(tokens)
  local at = 1
  local expression
  local function primary()
    local token = tokens[at]
    at = at + 1
    if token.kind == "(" then
      local inner = expression(0)
      assert(tokens[at].kind == ")", "expected )")
      at = at + 1
      return inner
    end
    return { op = token.kind, value = token.value }
  end
  function expression(minimum)
    local left = primary()
    while true do
      local op = tokens[at].kind
      local precedence = PRECEDENCE[op]
      if not precedence or precedence <= minimum then return left end
      at = at + 1
      left = { op = op, left = left, right = expression(precedence) }
    end
  end
  return expression(0)
end

local function fold(node)
  if not node.left then return node end
  local left, right = fold(node.left), fold(node.right)
  if left.op == "number" and right.op == "number" then
    return { op = "number", value = OPERATE[node.op](left.value, right.value) }
  end
  return { op = node.op, left = left, right = right }
end

local function to_closure(node)
  if node.op == "number" then
    local value = node.value
    return function() return value end
  elseif node.op == "name" then
    local name = node.value
    return function(env) return env[name] end
  end
  local left, right, operate = to_closure(node.left), to_closure(node.right), OPERATE[node.op]
  return function(env) return operate(left(env), right(env)) end
end

local function to_code(node, code)
  if node.left then
    to_code(node.left, code)
    to_code(node.right, code)
    code[#code + 1] = { op = node.op }
  else
    code[#code + 1] = { op = node.op, value = node.value }
  end
  return code
end

local function run(code, env)
  local stack, top = {}, 0
  for pc = 1, #code do
    local instruction = code[pc]
    local op = instruction.op
    if op == "number" then
      top = top + 1
      stack[top] = instruction.value
    elseif op == "name" then
      top = top + 1
      stack[top] = env[instruction.value]
    else
      local a, b = stack[top - 1], stack[top]
      top = top - 1
      if op == "+" then stack[top] = a + b
      elseif op == "-" then stack[top] = a - b
      elseif op == "*" then stack[top] = a * b
      elseif op == "%" then stack[top] = a % b
      else stack[top] = a < b and 1 or 0 end
    end
  end
  return stack[1]
end

local checksum, size = 0, 0
for round = 1, ROUNDS do
  local source = SOURCES[round % #SOURCES + 1]
  local tree = fold(parse(tokenize(source)))
  local closure, code = to_closure(tree), to_code(tree, {})
  size = size + #code
  for x = 1, 12 do
    local env = { x = x, y = round % 31 }
    local value = closure(env)
    assert(value == run(code, env), "the evaluators disagree")
    checksum = (checksum * 3 + value) % 1000003
  end
end
print(string.format("calculator %d size %d", checksum, size))
