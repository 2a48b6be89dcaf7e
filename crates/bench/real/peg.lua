-- covers: parsers made of closures: combinators that backtrack, captures, memoization, pcall
-- Builds PEG parsers for arithmetic, JSON and a small scripting language out of combinators. The
-- same grammars run with combinators that return nil on failure, and with combinators that raise
-- an error, which a choice catches with pcall.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(19 * scale))
local SIZE = math.max(0.05, math.min(1, scale * 8))

local byte, sub, find = string.byte, string.sub, string.find
local format, concat, floor = string.format, table.concat, math.floor

------------------------------------------------------------------------------------------------
-- Combinators that return the next place, or nil. A parser is a function of the state and a
-- place; captures are pushed on the state's list, which a failed attempt cuts off.

local function state_of(text)
  return { text = text, captures = {}, top = 0, furthest = 0, expected = nil, memo = {}, steps = 0 }
end

local function push(state, value)
  local top = state.top + 1
  state.captures[top] = value
  state.top = top
end

local quiet = { name = "quiet" }

local function note(state, at, what)
  if at > state.furthest then
    state.furthest, state.expected = at, what
  end
end

function quiet.literal(text)
  local size, first = #text, byte(text)
  return function(state, at)
    if byte(state.text, at) == first and sub(state.text, at, at + size - 1) == text then
      return at + size
    end
    note(state, at, text)
  end
end

-- A set of characters, given as a Lua pattern.
function quiet.set(class)
  local members = {}
  for c = 0, 255 do members[c] = find(string.char(c), "^" .. class) and true or nil end
  return function(state, at)
    if members[byte(state.text, at)] then return at + 1 end
    note(state, at, class)
  end
end

function quiet.sequence(...)
  local parts = { ... }
  local count = #parts
  if count == 2 then
    local first, second = parts[1], parts[2]
    return function(state, at)
      local next_at = first(state, at)
      return next_at and second(state, next_at)
    end
  end
  return function(state, at)
    for i = 1, count do
      at = parts[i](state, at)
      if not at then return nil end
    end
    return at
  end
end

function quiet.choice(...)
  local parts = { ... }
  local count = #parts
  return function(state, at)
    local top = state.top
    for i = 1, count do
      local next_at = parts[i](state, at)
      if next_at then return next_at end
      state.top = top
    end
  end
end

function quiet.many(part)
  return function(state, at)
    while true do
      local top = state.top
      local next_at = part(state, at)
      if not next_at or next_at == at then
        state.top = top
        return at
      end
      at = next_at
    end
  end
end

function quiet.optional(part)
  return function(state, at)
    local top = state.top
    local next_at = part(state, at)
    if next_at then return next_at end
    state.top = top
    return at
  end
end

function quiet.absent(part)
  return function(state, at)
    local top = state.top
    local next_at = part(state, at)
    state.top = top
    if next_at then return nil end
    return at
  end
end


function quiet.run(part, state)
  local at = part(state, 1)
  if not at then return nil, state.furthest, state.expected end
  return at
end

------------------------------------------------------------------------------------------------
-- The same with errors: a parser returns the next place or raises the failure.

local loud = { name = "loud" }
local FAILURE = setmetatable({}, { __tostring = function() return "no match" end })

local function try(part, state, at)
  local ok, result = pcall(part, state, at)
  if ok then return result end
  if result ~= FAILURE then error(result, 0) end
end

local function raise(state, at, what)
  note(state, at, what)
  error(FAILURE, 0)
end

function loud.literal(text)
  local match = quiet.literal(text)
  return function(state, at)
    return match(state, at) or raise(state, at, text)
  end
end

function loud.set(class)
  local match = quiet.set(class)
  return function(state, at)
    return match(state, at) or raise(state, at, class)
  end
end

function loud.sequence(...)
  local parts = { ... }
  return function(state, at)
    for _, part in ipairs(parts) do at = part(state, at) end
    return at
  end
end

function loud.choice(...)
  local parts = { ... }
  local count = #parts
  return function(state, at)
    local top = state.top
    for i = 1, count - 1 do
      local next_at = try(parts[i], state, at)
      if next_at then return next_at end
      state.top = top
    end
    return parts[count](state, at)
  end
end

function loud.many(part)
  return function(state, at)
    while true do
      local top = state.top
      local next_at = try(part, state, at)
      if not next_at or next_at == at then
        state.top = top
        return at
      end
      at = next_at
    end
  end
end

function loud.optional(part)
  return function(state, at)
    local top = state.top
    local next_at = try(part, state, at)
    if next_at then return next_at end
    state.top = top
    return at
  end
end

function loud.absent(part)
  return function(state, at)
    local top = state.top
    local next_at = try(part, state, at)
    state.top = top
    if next_at then raise(state, at, "something else") end
    return at
  end
end

function loud.run(part, state)
  local at = try(part, state, 1)
  if not at then return nil, state.furthest, state.expected end
  return at
end

------------------------------------------------------------------------------------------------
-- Combinators that both kinds share, and the derived ones

local function with_common(kind)
  -- Captures the text that a part matches, through a function.
  function kind.text(part, convert)
    return function(state, at)
      local next_at = part(state, at)
      if not next_at then return nil end
      local found = sub(state.text, at, next_at - 1)
      if convert then found = convert(found) end
      push(state, found)
      return next_at
    end
  end

  -- Replaces the captures of a part by what a function makes of their list.
  function kind.collect(part, build)
    return function(state, at)
      local top = state.top
      local next_at = part(state, at)
      if not next_at then return nil end
      local list, captures = {}, state.captures
      for i = top + 1, state.top do list[i - top] = captures[i] end
      state.top = top
      push(state, build(list, at))
      return next_at
    end
  end

  function kind.constant(part, value)
    return function(state, at)
      local next_at = part(state, at)
      if next_at then push(state, value) end
      return next_at
    end
  end

  -- A rule that is defined later; counts how often it is tried.
  function kind.rule()
    local rule = {}
    rule.parse = function(state, at)
      state.steps = state.steps + 1
      return rule.body(state, at)
    end
    return rule
  end

  -- Remembers where a part that captures one value ended.
  function kind.memo(part, name)
    return function(state, at)
      local memo = state.memo[name]
      if not memo then
        memo = { stop = {}, value = {} }
        state.memo[name] = memo
      end
      local stop = memo.stop[at]
      if stop then
        push(state, memo.value[at])
        return stop
      end
      local next_at = part(state, at)
      if next_at then memo.stop[at], memo.value[at] = next_at, state.captures[state.top] end
      return next_at
    end
  end

  function kind.some(part) return kind.sequence(part, kind.many(part)) end

  function kind.list(part, separator)
    return kind.optional(kind.sequence(part, kind.many(kind.sequence(separator, part))))
  end

  kind.blank = kind.many(kind.choice(kind.set("%s"),
    kind.sequence(kind.literal("#"), kind.many(kind.set("[^\n]")))))

  -- A token: text and the blanks after it.
  function kind.token(text)
    return kind.sequence(kind.literal(text), kind.blank)
  end

  function kind.keyword(text)
    return kind.sequence(kind.literal(text), kind.absent(kind.set("[%w_]")), kind.blank)
  end

  -- A chain of binary operators, associative to the left.
  function kind.chain(operand, operators)
    return kind.collect(kind.sequence(operand, kind.many(kind.sequence(operators, operand))),
      function(list)
        local left = list[1]
        for i = 2, #list, 2 do left = { kind = "binary", list[i], left, list[i + 1] } end
        return left
      end)
  end

  function kind.operator(text)
    return kind.sequence(kind.constant(kind.literal(text), text), kind.blank)
  end
  return kind
end

------------------------------------------------------------------------------------------------
-- Grammars

local function arithmetic(p)
  local sum = p.rule()
  local number = p.sequence(p.text(p.sequence(p.some(p.set("%d")),
    p.optional(p.sequence(p.literal("."), p.some(p.set("%d"))))), tonumber), p.blank)
  local group = p.sequence(p.token("("), sum.parse, p.token(")"))
  local negative = p.rule()
  local primary = p.choice(number, group, negative.parse)
  negative.body = p.collect(p.sequence(p.token("-"), primary), function(list)
    return { kind = "negative", list[1] }
  end)
  -- Powers associate to the right, so the rule refers to itself.
  local power = p.rule()
  power.body = p.choice(
    p.collect(p.sequence(primary, p.token("^"), power.parse), function(list)
      return { kind = "binary", "^", list[1], list[2] }
    end), primary)
  local product = p.chain(power.parse, p.choice(p.operator("*"), p.operator("/")))
  sum.body = p.chain(product, p.choice(p.operator("+"), p.operator("-")))
  return p.sequence(p.blank, sum.parse, p.absent(p.set(".")))
end

local function evaluate(node)
  if type(node) == "number" then return node end
  if node.kind == "negative" then return -evaluate(node[1]) end
  local op, a, b = node[1], evaluate(node[2]), evaluate(node[3])
  if op == "+" then return a + b end
  if op == "-" then return a - b end
  if op == "*" then return a * b end
  if op == "^" then return a ^ b end
  return a / b
end

local NULL = setmetatable({}, { __tostring = function() return "null" end })
local ESCAPES = { n = "\n", t = "\t", r = "\r", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function json(p)
  local value = p.rule()
  local plain = p.text(p.some(p.set('[^"\\]')))
  local escape = p.sequence(p.literal("\\"), p.text(p.set('[ntr"\\/]'), function(c)
    return ESCAPES[c]
  end))
  local text = p.collect(p.sequence(p.literal('"'), p.many(p.choice(plain, escape)),
    p.literal('"')), concat)
  local string_value = p.sequence(text, p.blank)
  local digits = p.some(p.set("%d"))
  local number = p.sequence(p.text(p.sequence(p.optional(p.literal("-")), digits,
    p.optional(p.sequence(p.literal("."), digits)),
    p.optional(p.sequence(p.set("[eE]"), p.optional(p.set("[-+]")), digits))), tonumber), p.blank)
  local array = p.collect(p.sequence(p.token("["), p.list(value.parse, p.token(",")),
    p.token("]")), function(list) return list end)
  local member = p.sequence(string_value, p.token(":"), value.parse)
  local object = p.collect(p.sequence(p.token("{"), p.list(member, p.token(",")),
    p.token("}")), function(list)
      local map = {}
      for i = 1, #list, 2 do map[list[i]] = list[i + 1] end
      return map
    end)
  value.body = p.choice(number, string_value, object, array,
    p.constant(p.keyword("true"), true), p.constant(p.keyword("false"), false),
    p.constant(p.keyword("null"), NULL))
  return p.sequence(p.blank, value.parse, p.absent(p.set(".")))
end

local function node(kind)
  return function(list, at)
    list.kind, list.at = kind, at
    return list
  end
end

-- A language with functions, while, if, assignments, calls and tables.
local function script(p)
  local expression, statement = p.rule(), p.rule()
  local reserved = p.choice(p.keyword("if"), p.keyword("else"), p.keyword("while"),
    p.keyword("func"), p.keyword("return"), p.keyword("end"), p.keyword("then"), p.keyword("do"))
  local name = p.sequence(p.absent(reserved),
    p.text(p.sequence(p.set("[%a_]"), p.many(p.set("[%w_]")))), p.blank)
  local number = p.sequence(p.text(p.some(p.set("%d")), tonumber), p.blank)
  local text = p.sequence(p.literal("'"), p.text(p.many(p.set("[^']"))), p.literal("'"), p.blank)
  local arguments = p.collect(
    p.sequence(p.token("("), p.list(expression.parse, p.token(",")), p.token(")")),
    node("arguments"))
  local index = p.collect(p.sequence(p.token("["), expression.parse, p.token("]")), node("index"))
  local field = p.collect(p.sequence(p.token("."), name), node("field"))
  local primary = p.choice(
    p.collect(number, node("number")),
    p.collect(text, node("text")),
    p.collect(p.sequence(p.token("{"), p.list(expression.parse, p.token(",")), p.token("}")),
      node("table")),
    p.sequence(p.token("("), expression.parse, p.token(")")),
    p.collect(name, node("name")))
  local postfix = p.memo(p.collect(
    p.sequence(primary, p.many(p.choice(arguments, index, field))), function(list, at)
      local result = list[1]
      for i = 2, #list do
        local suffix = list[i]
        result = { kind = suffix.kind, at = at, result, suffix }
      end
      return result
    end), "postfix")
  local unary = p.rule()
  unary.body = p.choice(
    p.collect(p.sequence(p.choice(p.operator("-"), p.operator("!")), unary.parse), node("unary")),
    postfix)
  local product = p.chain(unary.parse,
    p.choice(p.operator("*"), p.operator("/"), p.operator("%")))
  local sum = p.chain(product, p.choice(p.operator("+"), p.operator("-"), p.operator("..")))
  local compared = p.chain(sum, p.choice(p.operator("<="), p.operator(">="), p.operator("=="),
    p.operator("!="), p.operator("<"), p.operator(">")))
  local both = p.chain(compared, p.operator("&&"))
  expression.body = p.chain(both, p.operator("||"))

  local block = p.collect(p.many(statement.parse), node("block"))
  statement.body = p.choice(
    p.collect(p.sequence(p.keyword("func"), name, p.token("("),
      p.collect(p.list(name, p.token(",")), node("parameters")), p.token(")"), block,
      p.keyword("end")), node("function")),
    p.collect(p.sequence(p.keyword("if"), expression.parse, p.keyword("then"), block,
      p.optional(p.sequence(p.keyword("else"), block)), p.keyword("end")), node("if")),
    p.collect(p.sequence(p.keyword("while"), expression.parse, p.keyword("do"), block,
      p.keyword("end")), node("while")),
    p.collect(p.sequence(p.keyword("return"), expression.parse), node("return")),
    -- An assignment fails only at its '=', after its target was parsed.
    p.collect(p.sequence(postfix, p.token("="), p.absent(p.literal("=")), expression.parse),
      node("assign")),
    p.collect(postfix, node("call")))
  return p.sequence(p.blank, block, p.absent(p.set(".")))
end

-- The number of nodes of each kind.
local function census(tree, counts)
  counts[tree.kind] = (counts[tree.kind] or 0) + 1
  for i = 1, #tree do
    if type(tree[i]) == "table" then census(tree[i], counts) end
  end
  return counts
end

------------------------------------------------------------------------------------------------
-- Inputs

local seed = 1234
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local function make_sum(depth)
  local kind = depth <= 0 and 1 or random(7)
  if kind <= 2 then return tostring(random(99)) end
  if kind == 3 then return format("%d.%d", random(20), random(9)) end
  if kind == 4 then return "-" .. make_sum(depth - 1) end
  if kind == 5 then return "(" .. make_sum(depth - 1) .. ") ^ 2" end
  local operator = ({ " + ", " - ", " * ", " / " })[random(4)]
  return "(" .. make_sum(depth - 1) .. operator .. make_sum(depth - 1) .. ")"
end

local function make_json(depth)
  local kind = depth <= 0 and random(4) or random(8)
  if kind == 1 then return tostring(random(10000) - 5000) end
  if kind == 2 then return format("%d.%de%d", random(9), random(9), random(4)) end
  if kind == 3 then return format('"text %d\\n\\"quoted\\""', random(100)) end
  if kind == 4 then return ({ "true", "false", "null" })[random(3)] end
  local parts = {}
  for i = 1, random(6) do
    local value = make_json(depth - 1)
    parts[i] = kind > 6 and format('"key%d": %s', i, value) or value
  end
  local inside = concat(parts, ", ")
  return kind > 6 and "{ " .. inside .. " }" or "[" .. inside .. "]"
end

local function make_script(functions)
  local lines = {}
  local function put(text, ...) lines[#lines + 1] = format(text, ...) end
  for i = 1, functions do
    put("# function %d", i)
    put("func work%d(a, b, list)", i)
    put("  total = a * %d + b", random(50))
    put("  while total < %d && !done(list) do", random(1000))
    put("    total = total + list[total %% %d].value * (b - %d)", random(9), random(9))
    put("    if total == %d || a >= b then", random(99))
    put("      report('total is ' .. total, { a, b, %d })", random(99))
    put("    else")
    put("      list[%d] = { total, -a, work%d(b, a, list) }", random(20), random(i))
    put("    end")
    put("  end")
    put("  return (total + %d) * %d", random(9), random(9))
    put("end")
    put("result%d = work%d(%d, %d, {})", i, i, random(9), random(9))
  end
  return concat(lines, "\n")
end

------------------------------------------------------------------------------------------------
-- Parsing

local function parse(p, grammar, text)
  local state = state_of(text)
  local at, furthest, expected = p.run(grammar, state)
  if not at then return nil, format("at %d: '%s' expected", furthest, expected), state.steps end
  assert(at == #text + 1 and state.top == 1, "the parser stopped early")
  return state.captures[1], nil, state.steps
end

local kinds = { with_common(quiet), with_common(loud) }
local grammars = {}
for i, p in ipairs(kinds) do
  grammars[i] = { sum = arithmetic(p), json = json(p), script = script(p) }
end

local totals = { 0, 0 }
local steps = { 0, 0 }
local nodes, bytes = {}, 0
for round = 1, ROUNDS do
  local sums = {}
  for i = 1, floor(45 * SIZE) + 1 do sums[i] = make_sum(6) end
  local document = "[" .. make_json(5)
  while #document < 6000 * SIZE do document = document .. ", " .. make_json(5) end
  document = document .. "]"
  local source = make_script(floor(16 * SIZE) + 1)
  bytes = bytes + #document + #source
  for i, p in ipairs(kinds) do
    -- Errors are expensive: the second kind gets a part of the work.
    for j = 1, i == 1 and #sums or floor(#sums / 3) + 1 do
      local tree, problem, used = parse(p, grammars[i].sum, sums[j])
      local value = evaluate(assert(tree, problem))
      if value == value and value > -1e9 and value < 1e9 then
        totals[i] = totals[i] + floor(value)
      end
      steps[i] = steps[i] + used
    end
    local tree, problem, used = parse(p, grammars[i].json, document)
    assert(tree, problem)
    totals[i] = totals[i] + #tree
    steps[i] = steps[i] + used
    tree, problem, used = parse(p, grammars[i].script, source)
    census(assert(tree, problem), nodes)
    steps[i] = steps[i] + used
  end
end

print(format("peg bytes %d sums %d and %d steps %d and %d", bytes, totals[1], totals[2], steps[1],
  steps[2]))
local names = {}
for name in pairs(nodes) do names[#names + 1] = name end
table.sort(names)
for i, name in ipairs(names) do names[i] = name .. " " .. nodes[name] end
print(concat(names, ", "))
local BAD = { { "sum", "1 + (2 * 3" }, { "sum", "4 4" }, { "json", '{"a": [1, 2,, 3]}' },
  { "json", '["open]' }, { "script", "while a do b = end" }, { "script", "func (a) end" } }
for _, case in ipairs(BAD) do
  local _, first = parse(quiet, grammars[1][case[1]], case[2])
  local _, second = parse(loud, grammars[2][case[1]], case[2])
  print(case[1], first, first == second)
end
