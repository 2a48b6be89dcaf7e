-- covers: how programs fill, drain and refill tables: one pattern a variant
-- variants: append append16 insert_end window queue deque reversed strided sparse grid
-- variants: insert_front remove_front insert_middle stack refill fields move nested
-- Each pattern is a program of its own when its name is the second argument; without a name all
-- run in turn. Patterns keep their tables in the ways that parsers, schedulers, simulations and
-- encoders do.

local scale = tonumber(arg and arg[1]) or 1
local only = arg and arg[2]

local floor, insert, remove = math.floor, table.insert, table.remove
local byte, unpack = string.byte, table.unpack or unpack

-- The number of rounds at the given scale; each takes a few milliseconds.
local function rounds(count)
  return math.max(1, floor(count * scale))
end

local checksum = 0
local function mix(value)
  checksum = (checksum * 31 + value) % 1000000007
end

local patterns = {}

-- Appending one element at a time, in the two common ways.
function patterns.append()
  for round = 1, rounds(225) do
    local squares, count = {}, 0
    for i = 1, 60000 do
      count = count + 1
      squares[count] = i * i
    end
    local texts = {}
    for i = 1, 30000 do texts[#texts + 1] = i % 2 == 0 and "even" or "odd" end
    mix(#squares + #texts + squares[round])
  end
end

-- Sixteen elements in one assignment: the last one is stored first.
function patterns.append16()
  local parts = {}
  for i = 1, 4000 do parts[i] = "perilune" .. i end
  local text = table.concat(parts, " ")
  for round = 1, rounds(430) do
    local t, i, n = {}, 1, #text
    while i + 15 <= n do
      t[i], t[i + 1], t[i + 2], t[i + 3], t[i + 4], t[i + 5], t[i + 6], t[i + 7],
        t[i + 8], t[i + 9], t[i + 10], t[i + 11], t[i + 12], t[i + 13], t[i + 14], t[i + 15] =
        byte(text, i, i + 15)
      i = i + 16
    end
    while i <= n do
      t[i] = byte(text, i)
      i = i + 1
    end
    mix(#t + t[round] + t[#t])
  end
end

function patterns.insert_end()
  for round = 1, rounds(60) do
    local list = {}
    for i = 1, 40000 do insert(list, i) end
    local sum = 0
    while #list > 10 do sum = sum + remove(list) end
    mix(sum + round)
  end
end

-- A window over a stream: the newest value comes in, the oldest goes out.
function patterns.window()
  for round = 1, rounds(125) do
    local window, first, sum, most = {}, 1, 0, 0
    for i = 1, 60000 do
      local value = (i * 7919 + round) % 1009
      window[i] = value
      sum = sum + value
      if i - first >= 256 then
        sum = sum - window[first]
        window[first] = nil
        first = first + 1
      end
      if sum > most then most = sum end
    end
    mix(most)
  end
end

-- A queue with two indices that only grow; what is taken is set to nil.
function patterns.queue()
  for round = 1, rounds(36) do
    local queue, head, tail = { round % 97 }, 1, 1
    local served = 0
    while served < 100000 do
      local job = queue[head]
      queue[head] = nil
      head = head + 1
      served = served + 1
      local more = (job * 7 + served) % 5
      if tail - head < 2 then more = 3 end
      if more > 1 and tail - head < 20000 then
        for k = 1, more - 1 do
          tail = tail + 1
          queue[tail] = (job + k * served) % 101
        end
      end
    end
    mix(tail - head)
  end
end

-- A queue with two ends; the indices of the front go below zero.
function patterns.deque()
  for round = 1, rounds(115) do
    local deque, first, last = {}, 0, -1
    local seed, sum = round, 0
    for i = 1, 60000 do
      seed = (seed * 16807) % 2147483647
      local choice = seed % 8
      if choice < 3 or last < first then
        first = first - 1
        deque[first] = i
      elseif choice < 5 then
        last = last + 1
        deque[last] = i
      elseif choice < 6 then
        sum = sum + deque[first]
        deque[first] = nil
        first = first + 1
      else
        sum = sum + deque[last]
        deque[last] = nil
        last = last - 1
      end
    end
    mix(sum % 1000003 + last - first)
  end
end

-- From the last element to the first.
function patterns.reversed()
  for round = 1, rounds(125) do
    local list = {}
    for i = 50000, 1, -1 do list[i] = i + round end
    local copy = {}
    for i = #list, 1, -1 do copy[#list - i + 1] = list[i] end
    mix(#copy + copy[7])
  end
end

-- Interleaved: all indices that leave the same remainder, then the next ones.
function patterns.strided()
  for round = 1, rounds(140) do
    local list, sum = {}, 0
    for offset = 1, 8 do
      for i = offset, 48000, 8 do list[i] = i + round end
    end
    for offset = 8, 1, -1 do
      for i = offset, 48000, 8 do sum = sum + list[i] end
    end
    mix(sum % 1000003)
  end
end

-- A few scattered keys, then all the keys between them.
function patterns.sparse()
  for round = 1, rounds(350) do
    local list, sum = {}, 0
    for i = 1, 40000, 100 do list[i] = 1 end
    for i = 1, 40000 do
      if not list[i] then list[i] = i % 3 end
    end
    for i = 1, 40000 do sum = sum + list[i] end
    mix(sum + round)
  end
end

-- Grids as rows of rows, and as one array with computed indices.
function patterns.grid()
  local width, height = 160, 120
  for round = 1, rounds(155) do
    local rows = {}
    for y = 1, height do
      local row = {}
      for x = 1, width do row[x] = (x * y + round) % 17 end
      rows[y] = row
    end
    local flat = {}
    for y = 0, height - 1 do
      for x = 0, width - 1 do flat[y * width + x] = rows[y + 1][x + 1] end
    end
    local sum = 0
    for y = 2, height - 1 do
      for x = 2, width - 1 do
        sum = sum + rows[y - 1][x] - rows[y + 1][x] + rows[y][x - 1] * rows[y][x + 1]
        local at = (y - 1) * width + x - 1
        sum = sum + flat[at - width] - flat[at + width]
      end
    end
    mix(sum % 1000003)
  end
end

function patterns.insert_front()
  for round = 1, rounds(45) do
    local list = {}
    for i = 1, 1500 do insert(list, 1, i + round) end
    mix(list[1] + list[#list])
  end
end

function patterns.remove_front()
  for round = 1, rounds(42) do
    local list, sum = {}, 0
    for i = 1, 1500 do list[i] = i * round end
    while #list > 0 do sum = sum + remove(list, 1) end
    mix(sum % 1000003)
  end
end

-- A list that stays sorted: each value is inserted where it belongs.
function patterns.insert_middle()
  for round = 1, rounds(80) do
    local sorted, seed = {}, round
    for i = 1, 1500 do
      seed = (seed * 16807) % 2147483647
      local value = seed % 10007
      local low, high = 1, #sorted + 1
      while low < high do
        local middle = floor((low + high) / 2)
        if sorted[middle] < value then low = middle + 1 else high = middle end
      end
      insert(sorted, low, value)
      if i % 3 == 0 then remove(sorted, seed % #sorted + 1) end
    end
    mix(sorted[1] + sorted[#sorted] + #sorted)
  end
end

-- A stack that grows and shrinks, as a depth-first walk uses it.
function patterns.stack()
  for round = 1, rounds(155) do
    local stack, top = { 1 }, 1
    local visited = 0
    while top > 0 do
      local node = stack[top]
      stack[top] = nil
      top = top - 1
      visited = visited + node % 2 + 1
      if node < 32768 then
        stack[top + 1] = node * 2
        stack[top + 2] = node * 2 + 1
        top = top + 2
      end
    end
    mix(visited + round)
  end
end

-- One table that is emptied and filled again.
function patterns.refill()
  local scratch, by_name = {}, {}
  for round = 1, rounds(6000) do
    for i = 1, 2500 do scratch[i] = i + round end
    for i = 1, 200 do by_name["key" .. i % 50] = i end
    mix(#scratch + scratch[#scratch])
    if round % 2 == 0 then
      for i = 1, #scratch do scratch[i] = nil end
    else
      for i = #scratch, 1, -1 do scratch[i] = nil end
    end
    for key in pairs(by_name) do by_name[key] = nil end
    if next(scratch) ~= nil or next(by_name) ~= nil then mix(1) end
  end
end

-- Records that gain fields one by one, some of them only sometimes.
function patterns.fields()
  for round = 1, rounds(56) do
    local records, sum = {}, 0
    for i = 1, 7000 do
      local record = { id = i }
      record.name = "record"
      record.size = i % 10
      if i % 3 == 0 then record.parent = records[i - 1] end
      if i % 7 == 0 then record.size = nil end
      record[1] = i
      record[2] = round
      records[i] = record
    end
    for i = 1, #records do
      local record = records[i]
      sum = sum + (record.size or 0) + (record.parent and record.parent.id or 0) + record[2]
    end
    mix(sum % 1000003)
  end
end

-- Slices: copying parts between tables by loop, by unpack and by table.concat.
function patterns.move()
  local source = {}
  for i = 1, 20000 do source[i] = i % 100 end
  for round = 1, rounds(450) do
    local copy, at = {}, 1
    while at + 99 <= #source do
      local slice = { unpack(source, at, at + 99) }
      for i = 1, #slice do copy[#copy + 1] = slice[i] end
      at = at + 100
    end
    local tail = {}
    for i = #copy - 500, #copy do tail[#tail + 1] = copy[i] end
    mix(#copy + #table.concat(tail) + round)
  end
end

-- Tables in tables under computed keys, made when they are first needed.
function patterns.nested()
  for round = 1, rounds(120) do
    local index, count, seed = {}, 0, round
    for i = 1, 12000 do
      seed = (seed * 16807) % 2147483647
      local a, b = seed % 60, floor(seed / 64) % 50
      local by_a = index[a]
      if not by_a then
        by_a = {}
        index[a] = by_a
      end
      local list = by_a[b]
      if not list then
        list = { n = 0 }
        by_a[b] = list
        count = count + 1
      end
      list.n = list.n + 1
      list[list.n] = i
    end
    local longest = 0
    for _, by_a in pairs(index) do
      for _, list in pairs(by_a) do
        if list.n > longest then longest = list.n end
      end
    end
    mix(count * 100 + longest)
  end
end

local names = {}
for name in pairs(patterns) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  if not only or only == name then
    checksum = 0
    patterns[name]()
    print(string.format("%s %d", name, checksum))
  end
end
