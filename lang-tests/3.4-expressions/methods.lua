-- Method definitions take self, and method calls evaluate the object once (3.4.10, 3.4.11).
-- expect: ok
--| 130	1	0
--| false	methods.lua:24: insufficient funds
--| 2
--| anything	1
--| 5	true
--| 3	1,2	120

local evaluations = 0
local Account = { balance = 0 }
Account.__index = Account
function Account.new(b) return setmetatable({ balance = b }, Account) end
function Account:deposit(v) self.balance = self.balance + v; return self end
function Account:withdraw(v)
  if v > self.balance then error("insufficient funds", 2) end
  self.balance = self.balance - v
  return self
end
local a = Account.new(100)
local function get() evaluations = evaluations + 1; return a end
get():deposit(50):withdraw(20)
print(a.balance, evaluations, Account.balance)
print(pcall(function() a:withdraw(1000) end))
print(Account.deposit({ balance = 1 }, 1).balance)
local n = 0
local m = setmetatable({}, { __index = function(t, k)
  n = n + 1; return function(self, ...) return k, self == t, ... end
end })
print(m:anything(1, 2), n)
function m.static(x) return x end
print(m.static(5), m:static() == m)
print(("abc"):len(), ("%d"):rep(2, ","):format(1, 2), ("x"):byte())
