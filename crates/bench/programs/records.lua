-- covers: short-lived records and arrays, garbage
-- memory: yes
-- A market simulation that makes small records for every order, quote and trade
-- and keeps only a window of them.

local scale = tonumber(arg and arg[1]) or 1
local TICKS = math.max(10, math.floor(600000 * scale))
local WINDOW = 8192

local seed = 555
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n
end

local function quote(bid, ask)
  return { bid = bid, ask = ask, spread = ask - bid }
end

local function make_order(tick, price)
  return {
    tick = tick,
    side = random(2) == 0 and "buy" or "sell",
    price = price + random(21) - 10,
    amount = random(50) + 1,
  }
end

local function match(order, book)
  if order.side == "buy" and order.price >= book.ask then
    return { order = order, price = book.ask, amount = order.amount }
  elseif order.side == "sell" and order.price <= book.bid then
    return { order = order, price = book.bid, amount = order.amount }
  end
  return nil
end

local function summary(window, count)
  local low, high, volume = math.huge, -math.huge, 0
  for i = 1, count do
    local trade = window[i]
    if trade.price < low then low = trade.price end
    if trade.price > high then high = trade.price end
    volume = volume + trade.amount
  end
  return { low = low, high = high, volume = volume, points = { low, high, volume } }
end

local price, trades, value = 1000, 0, 0
local window, cursor, summaries = {}, 0, {}
for tick = 1, TICKS do
  local book = quote(price - 1 - random(3), price + 1 + random(3))
  local order = make_order(tick, price)
  local trade = match(order, book)
  if trade then
    trades = trades + 1
    value = (value + trade.price * trade.amount) % 1000000007
    cursor = cursor % WINDOW + 1
    window[cursor] = trade
    price = price + (order.side == "buy" and 1 or -1)
  end
  if tick % 10000 == 0 and #window == WINDOW then
    summaries[#summaries + 1] = summary(window, WINDOW)
  end
  local path = { { tick, price }, { tick + 1, book.spread } }
  value = value + path[1][2] % 7 + path[2][2]
end

local volume, range = 0, 0
for _, s in ipairs(summaries) do
  volume = volume + s.points[3]
  range = range + s.high - s.low
end
print(string.format("records trades %d value %d price %d volume %d range %d",
  trades, value, price, volume, range))
