-- covers: a compiler in modules: Pratt parser, scopes, type inference, folding, code generation
-- memory: yes
-- Compiles a generated program of a small typed language to a stack machine. The language has
-- records, arrays, unions with narrowing, first-class functions and generic functions. Deliberate
-- mistakes in the program exercise the diagnostics.

package.path = arg[0]:gsub("[^/\\]*$", "") .. "?.lua;" .. package.path

local report = require("compiler.report")
local syntax = require("compiler.syntax")
local check = require("compiler.check")
local code = require("compiler.code")

local scale = tonumber(arg and arg[1]) or 1
local LINES = math.max(60, math.floor(20000 * scale))

local format, concat = string.format, table.concat
local unpack = table.unpack or unpack

------------------------------------------------------------------------------------------------
-- The generator of the program to compile

local seed = 20240
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local function choose(list) return list[random(#list)] end

local PRELUDE = [[
# The library of every program.
fn push<T>(list: [T], value: T) -> nil { return nil; }
fn len<T>(list: [T]) -> int { return 0; }
fn text(value: int | float | string) -> string { return ""; }
fn map<T, U>(list: [T], f: fn(T) -> U) -> [U] {
  let out: [U] = [];
  for i in 0 .. len(list) - 1 {
    push(out, f(list[i]));
  }
  return out;
}
fn filter<T>(list: [T], keep: fn(T) -> bool) -> [T] {
  let out: [T] = [];
  for i in 0 .. len(list) - 1 {
    let item = list[i];
    if keep(item) { push(out, item); }
  }
  return out;
}
fn fold<T, A>(list: [T], start: A, f: fn(A, T) -> A) -> A {
  let result = start;
  for i in 0 .. len(list) - 1 {
    result = f(result, list[i]);
  }
  return result;
}
fn compose<A, B, C>(f: fn(A) -> B, g: fn(B) -> C) -> fn(A) -> C {
  return fn(value: A) -> C { return g(f(value)); };
}
fn or_else<T>(value: T | nil, other: T) -> T {
  if value != nil { return value; }
  return other;
}]]

local NOUNS = { "orbit", "crater", "ridge", "probe", "signal", "sample", "beacon", "plume" }
local VERBS = { "measure", "collect", "adjust", "compare", "merge", "scan", "rank", "trace" }

local lines, functions = {}, {}
local indent = 0

local function put(text, ...)
  lines[#lines + 1] = ("  "):rep(indent) .. format(text, ...)
end

-- Expressions of each type, from the variables in scope.
local expressions = {}

local function expression(kind, scope, depth)
  if depth <= 0 or random(4) == 1 then
    local names = scope[kind]
    if names and #names > 0 and random(4) > 1 then return choose(names) end
    if kind == "int" then return tostring(random(100) - 1) end
    if kind == "float" then return format("%d.%d", random(50), random(99)) end
    if kind == "bool" then return random(2) == 1 and "true" or "false" end
    return format('"%s %d"', choose(NOUNS), random(60))
  end
  return choose(expressions[kind])(scope, depth - 1)
end

local function call(kind, scope, depth)
  local list = functions[kind]
  if not list or #list == 0 then return expression(kind, scope, 0) end
  local fn = list[math.max(1, #list - random(12))]
  local arguments = {}
  for i, param in ipairs(fn.params) do arguments[i] = expression(param, scope, depth - 1) end
  return fn.name .. "(" .. concat(arguments, ", ") .. ")"
end

local function binary(kind, operand, operators)
  return function(scope, depth)
    local text = expression(operand, scope, depth) .. choose(operators)
      .. expression(operand, scope, depth)
    return kind == "bool" and text or "(" .. text .. ")"
  end
end

local function caller(kind)
  return function(scope, depth) return call(kind, scope, depth) end
end

expressions.int = {
  binary("int", "int", { " + ", " - ", " * " }),
  binary("int", "int", { " + ", " % ", " / " }),
  caller("int"), caller("int"),
  function(scope, depth) return "-" .. expression("int", scope, depth - 1) end,
  function(scope, depth)
    return format("fold([%s, %s], 0, |sum, each| sum + each * %s)", expression("int", scope, depth),
      expression("int", scope, depth), expression("int", scope, 0))
  end,
  function(scope) return scope.record and scope.record .. ".id" or "7" end,
}
expressions.float = {
  binary("float", "float", { " + ", " - ", " * ", " / " }),
  caller("float"),
  function(scope) return scope.record and scope.record .. ".weight" or "0.5" end,
  function(scope, depth)
    return "(" .. expression("int", scope, depth) .. " * " .. expression("float", scope, 0) .. ")"
  end,
}
expressions.bool = {
  binary("bool", "int", { " < ", " <= ", " == ", " != " }),
  binary("bool", "float", { " < ", " >= " }),
  function(scope, depth)
    return "(" .. expression("bool", scope, depth) .. choose({ " && ", " || " })
      .. expression("bool", scope, depth) .. ")"
  end,
  function(scope, depth) return "!(" .. expression("bool", scope, depth) .. ")" end,
  caller("bool"),
}
expressions.string = {
  function(scope, depth)
    return expression("string", scope, depth) .. " ++ " .. expression("string", scope, depth)
  end,
  function(scope, depth) return "text(" .. expression("int", scope, depth) .. ")" end,
  caller("string"),
  function(scope) return scope.record and scope.record .. ".name" or '"none"' end,
}

local KINDS = { "int", "int", "int", "float", "bool", "string" }

-- A scope inside another: new names do not leave it.
local function inner(scope)
  local copy = { record = scope.record, record_type = scope.record_type, count = scope.count }
  for _, kind in ipairs({ "int", "float", "bool", "string" }) do
    copy[kind] = { unpack(scope[kind]) }
  end
  return copy
end

local statements = {}

local function block(scope, depth, count)
  indent = indent + 1
  local nested = inner(scope)
  for _ = 1, count do choose(statements)(nested, depth) end
  indent = indent - 1
end

local names = 0
local function declare(scope, kind, form, ...)
  names = names + 1
  local name = choose(NOUNS) .. names
  put("let " .. name .. form, ...)
  scope[kind][#scope[kind] + 1] = name
  return name
end

local function declaration(scope)
  local kind = choose(KINDS)
  if random(3) == 1 then
    declare(scope, kind, ": %s = %s;", kind, expression(kind, scope, 3))
  else
    declare(scope, kind, " = %s;", expression(kind, scope, 3))
  end
end

local function assignment(scope)
  local kind = choose(KINDS)
  if #scope[kind] == 0 then return declaration(scope) end
  put("%s = %s;", choose(scope[kind]), expression(kind, scope, 3))
end

local function branch(scope, depth)
  if depth <= 0 then return declaration(scope) end
  put("if %s {", expression("bool", scope, 2))
  block(scope, depth - 1, random(3))
  if random(2) == 1 then
    put("} else {")
    block(scope, depth - 1, random(2))
  end
  put("}")
end

local function loop(scope, depth)
  if depth <= 0 then return assignment(scope) end
  names = names + 1
  put("for i%d in 0 .. %s {", names, expression("int", scope, 1))
  local nested = inner(scope)
  nested.int[#nested.int + 1] = "i" .. names
  block(nested, depth - 1, 1 + random(3))
  put("}")
end

local function chase(scope)
  if not scope.record then return declaration(scope) end
  names = names + 1
  local name = "next" .. names
  put("let %s = %s.next;", name, scope.record)
  put("if %s != nil {", name)
  indent = indent + 1
  put("%s.id = %s.id + %s;", scope.record, name, expression("int", scope, 1))
  put("%s.weight = %s;", name, expression("float", scope, 1))
  indent = indent - 1
  put("} else {")
  indent = indent + 1
  put("%s.next = new %s { id: %s, name: %s, weight: %s };", scope.record, scope.record_type,
    expression("int", scope, 1), expression("string", scope, 1), expression("float", scope, 1))
  indent = indent - 1
  put("}")
end

local function pipeline(scope)
  names = names + 1
  local list, kept = "list" .. names, "kept" .. names
  put("let %s = map([%s, %s, %s], |x| x * %s);", list, expression("int", scope, 1),
    expression("int", scope, 1), expression("int", scope, 1), expression("int", scope, 0))
  put("let %s = filter(%s, fn(x: int) -> bool { return x > %s; });", kept, list,
    expression("int", scope, 0))
  declare(scope, "string", " = fold(map(%s, |x| text(x)), \"\", |a, b| a ++ b);", kept)
  declare(scope, "int", " = len(%s) + %s[0];", kept, list)
end

local function mistake(scope)
  if random(8) > 1 then return assignment(scope) end
  choose({
    function() put("let wrong%d: int = %s;", #lines, expression("string", scope, 0)) end,
    function() put("missing%d(%s);", random(9), expression("int", scope, 1)) end,
    function() put("%s ++ %s;", expression("int", scope, 0), expression("string", scope, 0)) end,
    function() put("let odd%d = %s.altitude;", #lines, scope.record or "map") end,
    function() put("push(1, 2, 3);") end,
    function() put("let broken%d = ];", #lines) end,
  })()
end

statements = { declaration, declaration, declaration, assignment, assignment, branch, branch, loop,
  chase, pipeline, mistake }

local function make_function(record)
  local result = choose(KINDS)
  names = names + 1
  local name = choose(VERBS) .. "_" .. choose(NOUNS) .. names
  local scope = { int = {}, float = {}, bool = {}, string = {} }
  local params, kinds = {}, {}
  for i = 1, random(3) do
    kinds[i] = choose(KINDS)
    params[i] = "p" .. i .. ": " .. kinds[i]
    scope[kinds[i]][#scope[kinds[i]] + 1] = "p" .. i
  end
  put("# Returns a %s from %d parameters.", result, #params)
  put("fn %s(%s) -> %s {", name, concat(params, ", "), result)
  indent = indent + 1
  if random(2) == 1 then
    put("let record = new %s { id: %s, name: %s, weight: %s, next: nil };", record,
      expression("int", scope, 1), expression("string", scope, 1), expression("float", scope, 1))
    scope.record, scope.record_type = "record", record
  end
  for _ = 1, 3 + random(8) do choose(statements)(scope, 2) end
  put("return %s;", expression(result, scope, 3))
  indent = indent - 1
  put("}")
  put("")
  local list = functions[result] or {}
  functions[result] = list
  list[#list + 1] = { name = name, params = kinds }
end

local function make_program(count)
  for line in PRELUDE:gmatch("[^\n]+") do lines[#lines + 1] = line end
  local module = 0
  while #lines < count do
    module = module + 1
    local record = "Record" .. module
    put("type %s = { id: int, name: string, weight: float, next: %s? };", record, record)
    put("type Key%d = int | string | %s;", module, record)
    put("")
    for _ = 1, 6 do make_function(record) end
  end
  return concat(lines, "\n")
end

------------------------------------------------------------------------------------------------
-- Compiling

local source = make_program(LINES)
local tokens = syntax.tokenize(source)
local items = syntax.parse(tokens)
check.new_checker():program(items)
for i = 1, #items do items[i] = code.fold(items[i]) end
local module = code.generate(items)
local listing = code.listing(module)

local checksum = 0
for line in listing:gmatch("[^\n]+") do
  checksum = (checksum * 31 + #line * 7 + line:byte(#line)) % 1000000007
end
report.sort()

print(format("compiler lines %d bytes %d tokens %d declarations %d", #lines, #source, #tokens,
  #items))
print(format("variables %d folded %d functions %d instructions %d removed %d strings %d",
  check.variables(), code.folded(), #module.functions, module.instructions, module.removed,
  #module.strings))
print(format("listing %d bytes checksum %d diagnostics %d", #listing, checksum, #report.list))
for i = 1, math.min(12, #report.list) do
  print(format("%d: %s", report.list[i].line, report.list[i].text))
end
