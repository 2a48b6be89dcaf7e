-- covers: objects with a metatable per instance
-- A bank whose objects are made with `setmetatable(o, {__index = Class})`, one
-- metatable for each object: accounts, transfers, statements and an audit.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(900 * scale))
local ACCOUNTS = 60

local Random = {}
function Random.new(seed)
  return setmetatable({ seed = seed }, { __index = Random })
end
function Random:next(n)
  self.seed = (self.seed * 16807) % 2147483647
  return self.seed % n
end

local Queue = {}
function Queue.new()
  return setmetatable({ first = 1, last = 0, items = {} }, { __index = Queue })
end
function Queue:push(item)
  self.last = self.last + 1
  self.items[self.last] = item
end
function Queue:pop()
  if self.first > self.last then return nil end
  local item = self.items[self.first]
  self.items[self.first] = nil
  self.first = self.first + 1
  return item
end
function Queue:is_empty()
  return self.first > self.last
end

local Account = {}
function Account.new(id, balance)
  return setmetatable({ id = id, balance = balance, moves = 0, refused = 0 }, { __index = Account })
end
function Account:can_pay(amount)
  return self.balance >= amount
end
function Account:deposit(amount)
  self.balance = self.balance + amount
  self.moves = self.moves + 1
end
function Account:withdraw(amount)
  if not self:can_pay(amount) then
    self.refused = self.refused + 1
    return false
  end
  self.balance = self.balance - amount
  self.moves = self.moves + 1
  return true
end

local Transfer = {}
function Transfer.new(from, to, amount)
  local transfer = { from = from, to = to, amount = amount, done = false }
  return setmetatable(transfer, { __index = Transfer })
end
function Transfer:run()
  if self.from:withdraw(self.amount) then
    self.to:deposit(self.amount)
    self.done = true
  end
  return self.done
end

local Bank = {}
function Bank.new(count)
  local bank = { accounts = {}, pending = Queue.new(), failed = 0 }
  setmetatable(bank, { __index = Bank })
  for id = 1, count do bank.accounts[id] = Account.new(id, 1000) end
  return bank
end
function Bank:order(random)
  local from = self.accounts[random:next(#self.accounts) + 1]
  local to = self.accounts[random:next(#self.accounts) + 1]
  self.pending:push(Transfer.new(from, to, random:next(400)))
end
function Bank:settle()
  while not self.pending:is_empty() do
    local transfer = self.pending:pop()
    if not transfer:run() then self.failed = self.failed + 1 end
  end
end
function Bank:total()
  local total = 0
  for _, account in ipairs(self.accounts) do total = total + account.balance end
  return total
end

local bank, random = Bank.new(ACCOUNTS), Random.new(12345)
for _ = 1, ROUNDS do
  for _ = 1, 10 * ACCOUNTS do bank:order(random) end
  bank:settle()
  assert(bank:total() == 1000 * ACCOUNTS, "money was lost")
end

local moves, refused, richest = 0, 0, bank.accounts[1]
for _, account in ipairs(bank.accounts) do
  moves = moves + account.moves
  refused = refused + account.refused
  if account.balance > richest.balance then richest = account end
end
assert(refused == bank.failed)
print(string.format("accounts moves %d refused %d richest %d with %d",
  moves, refused, richest.id, richest.balance))
