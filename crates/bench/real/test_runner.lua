-- covers: a test framework: pcall, error objects, tracebacks, spies, deep equality, load
-- memory: yes
-- needs: 5.4
-- Runs suites of generated tests, many of which fail on purpose, and compares what the reporters
-- collect with what must fail. Thousands of tests are chunks of source that are loaded first.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, 22 * scale // 1)
local CASES = math.max(6, 90 * math.min(1, scale * 8) // 1)

local format, concat = string.format, table.concat

------------------------------------------------------------------------------------------------
-- Showing values

local function show(value, depth, seen)
  depth = depth or 0
  if type(value) == "string" then return format("%q", value) end
  if type(value) ~= "table" then
    return math.type(value) == "float" and format("%.6g", value) or tostring(value)
  end
  local meta = getmetatable(value)
  if meta and meta.__tostring then return tostring(value) end
  seen = seen or {}
  if seen[value] then return "<cycle>" end
  if depth > 4 then return "{...}" end
  seen[value] = true
  local parts = {}
  for i, item in ipairs(value) do parts[i] = show(item, depth + 1, seen) end
  local keys = {}
  for key in pairs(value) do
    if not (math.type(key) == "integer" and key >= 1 and key <= #value) then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "boolean" then return a and not b end
    return a < b
  end)
  for _, key in ipairs(keys) do
    local name = type(key) == "string" and key:find("^[%a_][%w_]*$") and key
      or "[" .. show(key, depth + 1, seen) .. "]"
    parts[#parts + 1] = name .. " = " .. show(value[key], depth + 1, seen)
  end
  seen[value] = nil
  return "{" .. concat(parts, ", ") .. "}"
end

------------------------------------------------------------------------------------------------
-- Deep equality

local function deep_equal(a, b, pairs_seen)
  if a == b then return true end
  if type(a) ~= "table" or type(b) ~= "table" then
    return a ~= a and b ~= b
  end
  if getmetatable(a) ~= getmetatable(b) then return false, "metatables" end
  pairs_seen = pairs_seen or {}
  if pairs_seen[a] and pairs_seen[a][b] then return true end
  pairs_seen[a] = pairs_seen[a] or {}
  pairs_seen[a][b] = true
  for key, value in pairs(a) do
    local same, where = deep_equal(value, b[key], pairs_seen)
    if not same then return false, tostring(key) .. (where and "." .. where or "") end
  end
  for key in pairs(b) do
    if a[key] == nil then return false, tostring(key) end
  end
  return true
end

------------------------------------------------------------------------------------------------
-- Failures are objects, so that they differ from errors of the code under test

local Failure = {}
Failure.__index = Failure
Failure.__tostring = function(self) return "failure: " .. self.message end

local function fail(message, ...)
  error(setmetatable({ message = format(message, ...) }, Failure), 2)
end

local function is_failure(value) return getmetatable(value) == Failure end

------------------------------------------------------------------------------------------------
-- Spies

local Spy = {}
Spy.__index = Spy
Spy.__call = function(self, ...)
  local call = table.pack(...)
  self.calls[#self.calls + 1] = call
  if self.throws then error(self.throws, 0) end
  if self.target then return self.target(...) end
  return table.unpack(self.returns, 1, self.returns.n)
end

local function spy(target)
  return setmetatable({ calls = {}, target = target, returns = table.pack() }, Spy)
end

function Spy:and_return(...)
  self.returns = table.pack(...)
  return self
end

function Spy:and_throw(problem)
  self.throws = problem
  return self
end

function Spy:called_with(...)
  local wanted = table.pack(...)
  for _, call in ipairs(self.calls) do
    if deep_equal(call, wanted) then return true end
  end
  return false
end

-- Replaces methods of an object by spies until restore is called.
local function stub(object, name, replacement)
  local original = rawget(object, name)
  local had = original ~= nil
  local watcher = spy(replacement or original)
  object[name] = watcher
  watcher.restore = function() object[name] = had and original or nil end
  return watcher
end

------------------------------------------------------------------------------------------------
-- Expectations: expect(value).to.equal(other), expect(value).never.to.be.a("string")

local matchers = {}

function matchers.equal(value, other)
  local same, where = deep_equal(value, other)
  return same, format("%s to equal %s%s", show(value), show(other),
    where and " (differs at " .. where .. ")" or "")
end

function matchers.be(value, other)
  return rawequal(value, other), format("%s to be %s", show(value), show(other))
end

function matchers.near(value, other, tolerance)
  return math.abs(value - other) <= (tolerance or 1e-9),
    format("%s to be near %s", show(value), show(other))
end

function matchers.absent(value) return value == nil, format("%s to be absent", show(value)) end
function matchers.truthy(value) return not not value, format("%s to be true", show(value)) end

function matchers.a(value, kind)
  return type(value) == kind, format("%s to be a %s", show(value), kind)
end

function matchers.contain(value, item)
  if type(value) == "string" then
    return value:find(item, 1, true) ~= nil, format("%s to contain %s", show(value), show(item))
  end
  for _, each in pairs(value) do
    if deep_equal(each, item) then return true, "" end
  end
  return false, format("%s to contain %s", show(value), show(item))
end

function matchers.match(value, pattern)
  return value:match(pattern) ~= nil, format("%s to match %s", show(value), pattern)
end

function matchers.have_length(value, length)
  return #value == length, format("length %d to be %d", #value, length)
end

function matchers.raise(value, expected)
  local ok, problem = pcall(value)
  if ok then return false, "an error to be raised" end
  if expected == nil then return true, format("no error, got %s", show(problem)) end
  local text = is_failure(problem) and problem.message
    or type(problem) == "table" and (problem.message or show(problem)) or tostring(problem)
  return text:find(expected, 1, true) ~= nil,
    format("error %s to contain %s", show(text), show(expected))
end

function matchers.have_calls(value, count)
  return #value.calls == count, format("%d calls to be %d", #value.calls, count)
end

local WORDS = { to = true, be = true, have = true, is = true }
local expectation = {}

function expectation.__index(self, name)
  if name == "never" then
    return setmetatable({ value = self.value, negated = not self.negated }, expectation)
  end
  local matcher = matchers[name]
  if matcher then
    -- `to.be(x)` is a matcher, `to.be.near(x)` only reads well.
    return setmetatable({ value = self.value, negated = self.negated, matcher = matcher },
      expectation)
  end
  if WORDS[name] then return self end
  if name == "value" then return nil end -- what is expected of nil
  error("unknown expectation '" .. tostring(name) .. "'", 2)
end

function expectation.__call(self, ...)
  local passed, description = rawget(self, "matcher")(self.value, ...)
  if self.negated then
    if passed then fail("did not expect %s", description) end
  elseif not passed then
    fail("expected %s", description)
  end
  return true
end

local function expect(value)
  return setmetatable({ value = value, negated = false }, expectation)
end

------------------------------------------------------------------------------------------------
-- Suites

local Suite = {}
Suite.__index = Suite

local function new_suite(name, parent)
  return setmetatable({ name = name, parent = parent, tests = {}, suites = {}, before = {},
    after = {} }, Suite)
end

local current

local function describe(name, body)
  local suite = new_suite(name, current)
  if current then current.suites[#current.suites + 1] = suite end
  local outer = current
  current = suite
  body(suite)
  current = outer
  return suite
end

local function it(name, body, options)
  local tests = current.tests
  tests[#tests + 1] = { name = name, body = body, skip = options and options.skip,
    fails = options and options.fails }
end

local function before_each(body) current.before[#current.before + 1] = body end
local function after_each(body) current.after[#current.after + 1] = body end

function Suite:path()
  if not self.parent then return self.name end
  return self.parent:path() .. " > " .. self.name
end

function Suite:run_hooks(which, context)
  if which == "before" and self.parent then self.parent:run_hooks(which, context) end
  for _, hook in ipairs(self[which]) do hook(context) end
  if which == "after" and self.parent then self.parent:run_hooks(which, context) end
end

-- Turns any error into a record; the traceback ends where the framework calls the test.
local function handler(problem)
  local trace = debug.traceback("", 2)
  trace = trace:match("^(.-)\n\t%[C%]: in function 'xpcall'") or trace
  local frames = 0
  for _ in trace:gmatch("\n\t") do frames = frames + 1 end
  if is_failure(problem) then
    return { kind = "failed", message = problem.message, frames = frames, trace = trace }
  end
  return { kind = "error", frames = frames, trace = trace,
    message = type(problem) == "table" and show(problem) or tostring(problem) }
end

function Suite:run(reporter)
  reporter:enter(self)
  for _, test in ipairs(self.tests) do
    if test.skip then
      reporter:skipped(self, test)
    else
      local context = { cleanup = {} }
      local ok, problem = xpcall(function()
        self:run_hooks("before", context)
        test.body(context)
      end, handler)
      local clean, complaint = xpcall(self.run_hooks, handler, self, "after", context)
      if ok and not clean then ok, problem = false, complaint end
      if ok == not test.fails then
        reporter:passed(self, test, problem)
      else
        reporter:failed(self, test, problem or { kind = "failed", message = "must fail",
          frames = 0, trace = "" })
      end
    end
  end
  for _, suite in ipairs(self.suites) do suite:run(reporter) end
  reporter:leave(self)
end

-- A reporter that writes the Test Anything Protocol and keeps statistics.
local Tap = {}
Tap.__index = Tap

local function new_tap()
  return setmetatable({ lines = {}, number = 0, depth = 0, counts = { ok = 0, bad = 0, skip = 0 },
    kinds = {}, frames = 0, messages = 0 }, Tap)
end

function Tap:enter(suite)
  self.lines[#self.lines + 1] = ("  "):rep(self.depth) .. "# " .. suite.name
  self.depth = self.depth + 1
end

function Tap:leave() self.depth = self.depth - 1 end

function Tap:line(word, suite, test, remark)
  self.number = self.number + 1
  self.lines[#self.lines + 1] = format("%s%s %d - %s: %s%s", ("  "):rep(self.depth), word,
    self.number, suite:path(), test.name, remark or "")
end

function Tap:passed(suite, test, problem)
  self.counts.ok = self.counts.ok + 1
  self:line("ok", suite, test)
  if problem then
    self.kinds[problem.kind] = (self.kinds[problem.kind] or 0) + 1
    self.frames = self.frames + problem.frames
    self.messages = self.messages + #problem.message
    local first = problem.trace:match("\n\t([^\n]+)")
    self.lines[#self.lines + 1] = "#   " .. problem.message .. " " .. (first or "")
  end
end

function Tap:failed(suite, test, problem)
  self.counts.bad = self.counts.bad + 1
  self:line("not ok", suite, test, " (" .. problem.message .. ")")
end

function Tap:skipped(suite, test)
  self.counts.skip = self.counts.skip + 1
  self:line("ok", suite, test, " # SKIP")
end

------------------------------------------------------------------------------------------------
-- Code under test: a stack, a bank, a parser of settings

local Stack = {}
Stack.__index = Stack
function Stack.new() return setmetatable({ items = {}, size = 0 }, Stack) end
function Stack:push(value)
  self.size = self.size + 1
  self.items[self.size] = value
  return self
end
function Stack:pop()
  if self.size == 0 then error("the stack is empty") end
  local value = self.items[self.size]
  self.items[self.size] = nil
  self.size = self.size - 1
  return value
end

local Bank = {}
Bank.__index = Bank
function Bank.new(log) return setmetatable({ accounts = {}, log = log }, Bank) end
function Bank:open(name, amount)
  if self.accounts[name] then error({ code = "exists", message = name .. " has an account" }) end
  self.accounts[name] = amount or 0
  self.log("open", name)
end
function Bank:transfer(from, to, amount)
  local balance = self.accounts[from] or error({ code = "unknown", message = "no " .. from })
  if not self.accounts[to] then error({ code = "unknown", message = "no " .. to }) end
  if balance < amount then error({ code = "funds", message = from .. " lacks funds" }) end
  self.accounts[from] = balance - amount
  self.accounts[to] = self.accounts[to] + amount
  self.log("transfer", from, to, amount)
end

local function parse_settings(text)
  local settings, section = {}, nil
  local number = 0
  for line in text:gmatch("[^\n]*") do
    number = number + 1
    line = line:match("^%s*(.-)%s*$")
    if line:find("^%[") then
      section = line:match("^%[(%w+)%]$") or error("line " .. number .. ": bad section", 0)
      settings[section] = settings[section] or {}
    elseif line ~= "" and not line:find("^;") then
      local key, value = line:match("^(%w+)%s*=%s*(.*)$")
      if not key then error("line " .. number .. ": bad setting", 0) end
      local target = section and settings[section] or settings
      if value == "on" or value == "off" then value = value == "on" end
      target[key] = tonumber(value) or value
    end
  end
  return settings
end

------------------------------------------------------------------------------------------------
-- The tests

local seed = 31
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n + 1
end

local function stack_tests()
  describe("stack", function()
    before_each(function(context) context.stack = Stack.new() end)
    after_each(function(context) expect(context.stack.size >= 0).to.be.truthy() end)
    it("is empty at first", function(context) expect(context.stack.size).to.equal(0) end)
    for i = 1, CASES do
      it("returns what was pushed last, " .. i, function(context)
        for value = 1, i % 13 + 1 do context.stack:push(value):push({ value }) end
        expect(context.stack:pop()).to.equal({ i % 13 + 1 })
        expect(context.stack:pop()).to.be(i % 13 + 1)
        expect(context.stack.items).never.to.contain("moon")
      end)
      it("cannot pop too much, " .. i, function(context)
        context.stack:push(i)
        context.stack:pop()
        context.stack:pop()
      end, { fails = true })
    end
    it("is not finished", function() error("never run") end, { skip = true })
  end)
end

local function bank_tests()
  describe("bank", function()
    before_each(function(context)
      context.log = spy()
      context.bank = Bank.new(context.log)
      context.bank:open("ada", 100)
      context.bank:open("bob", 50)
    end)
    for i = 1, CASES do
      local amount = random(150)
      it("transfers " .. amount, function(context)
        local bank = context.bank
        if amount > 100 then
          expect(function() bank:transfer("ada", "bob", amount) end).to.raise("lacks funds")
          expect(context.log).to.have_calls(2)
        else
          bank:transfer("ada", "bob", amount)
          expect(bank.accounts).to.equal({ ada = 100 - amount, bob = 50 + amount })
          expect(context.log:called_with("transfer", "ada", "bob", amount)).to.be.truthy()
        end
      end)
      it("refuses strangers, " .. i, function(context)
        context.bank:transfer("ada", "eve" .. i, 1)
      end, { fails = true })
      it("survives a log that throws, " .. i, function(context)
        local log = stub(context.bank, "log"):and_throw("disk full")
        expect(function() context.bank:open("cy" .. i) end).to.raise("disk full")
        log.restore()
        expect(context.bank.accounts["cy" .. i]).to.equal(0)
      end)
    end
  end)
end

local function settings_tests()
  describe("settings", function()
    for i = 1, CASES do
      local lines, expected = { "; generated", "depth = " .. i }, { depth = i }
      for section = 1, random(4) do
        local name = "part" .. section
        lines[#lines + 1] = "[" .. name .. "]"
        expected[name] = {}
        for key = 1, random(4) do
          local value = random(3)
          lines[#lines + 1] = format("  key%d = %s", key,
            value == 1 and "on" or value == 2 and tostring(i * key) or "text " .. key)
          expected[name]["key" .. key] = value == 1 or value == 2 and i * key or "text " .. key
          if value == 1 then expected[name]["key" .. key] = true end
        end
      end
      local text = concat(lines, "\n")
      it("reads " .. #lines .. " lines", function()
        expect(parse_settings(text)).to.equal(expected)
      end)
      it("finds a difference in " .. #lines .. " lines", function()
        expected.part1.key1 = { "not this" }
        expect(parse_settings(text)).to.equal(expected)
      end, { fails = true })
      it("names the bad line", function()
        expect(function() parse_settings(text .. "\n[oops") end)
          .to.raise("line " .. #lines + 1 .. ": bad section")
      end)
    end
  end)
end

-- Tests that are chunks of source: each is loaded with an environment of its own.
local CHUNKS = {
  "local a, b = %d, %d  expect(a + b).to.equal(%d + 0)  return a * b",
  "local t = {} for i = 1, %d do t[i] = i * %d end  expect(t).to.have_length(%d)",
  "local function f(n) if n == 0 then return %d end return f(n - 1) + 1 end "
    .. "expect(f(%d)).to.be(%d)",
  "expect(('x'):rep(%d)).to.match('^x+$')  expect(#('ab'):rep(%d)).never.to.equal(%d)",
  "local s = spy():and_return(%d, %d)  local a, b = s('moon')  expect(s).to.have_calls(1) "
    .. "expect(b).to.be.a('number') expect(a + b).to.equal(%d)",
  "local x <const> = %d  y = x // 1  expect(y).to.near(x, %d)  expect(_ENV.y).to.equal(%d)",
}
local ARGUMENTS = {
  function(a, b) return a, b, a + b end,
  function(a, b) return a, b, a end,
  function(a, b) return a, b, a + b end,
  function(a, b) return a, b, b end,
  function(a, b) return a, b, a + b end,
  function(a, b) return a, b, a end,
}
local BROKEN = { "local x = = 1", "for i = 1 do end", "return (1", "x = 'open", "goto nowhere",
  "local x <const> = 1  x = 2", "break", "if true then", "return 1 2", "local function() end" }

local syntax_errors, loaded = 0, 0

local function chunk_tests(round)
  describe("chunks", function()
    for i = 1, CASES * 3 do
      local which = i % #CHUNKS + 1
      local a, b = random(40), random(40)
      local wrong = i % 17 == 0
      local x, y, z = ARGUMENTS[which](a, b)
      local source = format(CHUNKS[which], x, y, wrong and z + 1000 or z)
      it("chunk " .. i, function()
        local environment = setmetatable({ expect = expect, spy = spy }, { __index = _G })
        local chunk, problem = load(source, "=chunk" .. i, "t", environment)
        if not chunk then fail("does not compile: %s", problem) end
        loaded = loaded + 1
        chunk(i, round)
      end, { fails = wrong and which ~= 4 })
    end
    for i = 1, CASES do
      local source = BROKEN[i % #BROKEN + 1] .. ("\n-- line"):rep(i % 3)
      it("broken chunk " .. i, function()
        local chunk, problem = load(source, "=broken" .. i)
        expect(chunk).to.be.absent()
        expect(problem).to.match("^broken%d+:%d+: ")
        syntax_errors = syntax_errors + #problem
      end)
    end
  end)
end

local function nested_tests()
  describe("nested", function()
    for depth = 1, 4 do
      describe("level " .. depth, function()
        before_each(function(context) context.depth = (context.depth or 0) + 1 end)
        for i = 1, CASES // 4 + 1 do
          it("catches its own errors, " .. i, function(context)
            local levels = {}
            local function descend(level)
              local ok, problem = pcall(function()
                if level == i % 9 + depth then
                  error({ level = level })
                end
                descend(level + 1)
                return level
              end)
              levels[#levels + 1] = level
              if not ok and level > 0 then error(problem, 0) end
              return problem
            end
            local problem = descend(0)
            expect(problem).to.equal({ level = i % 9 + depth })
            expect(levels).to.have_length(i % 9 + depth + 1)
            expect(context.depth).to.equal(1)
          end)
          it("closes what it opens, " .. i, function()
            local closed = {}
            local ok, problem = pcall(function()
              for j = 1, 3 do
                local _ <close> = setmetatable({}, { __close = function(_, reason)
                  closed[#closed + 1] = reason and "bad" .. j or "good" .. j
                end })
                if j == 3 then error("stop", 0) end
              end
            end)
            expect(ok).to.be(false)
            expect(problem).to.equal("stop")
            expect(closed).to.equal({ "good1", "good2", "bad3" })
          end)
          it("calls what is no function, " .. i, function(context)
            return context.missing.field
          end, { fails = true })
        end
      end)
    end
  end)
end

------------------------------------------------------------------------------------------------
-- Running

local totals = { ok = 0, bad = 0, skip = 0 }
local kinds, frames, messages, checksum = {}, 0, 0, 0
local sample
for round = 1, ROUNDS do
  local root = describe("round " .. round, function()
    stack_tests()
    bank_tests()
    settings_tests()
    chunk_tests(round)
    nested_tests()
  end)
  local tap = new_tap()
  root:run(tap)
  for key, count in pairs(tap.counts) do totals[key] = totals[key] + count end
  for kind, count in pairs(tap.kinds) do kinds[kind] = (kinds[kind] or 0) + count end
  frames, messages = frames + tap.frames, messages + tap.messages
  for _, line in ipairs(tap.lines) do
    checksum = (checksum * 31 + #line) % 1000000007
    if not sample and line:find("^#   ") then sample = line end
  end
end

print(format("test_runner ok %d bad %d skipped %d", totals.ok, totals.bad, totals.skip))
print(format("failed %d errors %d frames %d messages %d", kinds.failed, kinds.error, frames,
  messages))
print(format("loaded %d syntax %d checksum %d", loaded, syntax_errors, checksum))
print(sample)
