-- covers: event simulation, binary heap, queues, closures as events
-- Simulates a workshop: machines with queues, jobs that visit several machines,
-- breakdowns, and a calendar of events kept in a binary heap.

local scale = tonumber(arg and arg[1]) or 1
local JOBS = math.max(5, math.floor(22000 * scale))
local MACHINES = 8

local seed = 60601
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n
end

local Heap = {}
Heap.__index = Heap
function Heap.new(before)
  return setmetatable({ size = 0, items = {}, before = before }, Heap)
end
function Heap:push(item)
  local items, before = self.items, self.before
  local at = self.size + 1
  self.size = at
  while at > 1 do
    local parent = math.floor(at / 2)
    if not before(item, items[parent]) then break end
    items[at] = items[parent]
    at = parent
  end
  items[at] = item
end
function Heap:pop()
  local items, before, size = self.items, self.before, self.size
  if size == 0 then return nil end
  local top, item = items[1], items[size]
  items[size] = nil
  size = size - 1
  self.size = size
  if size > 0 then
    local at = 1
    while 2 * at <= size do
      local child = 2 * at
      if child < size and before(items[child + 1], items[child]) then child = child + 1 end
      if not before(items[child], item) then break end
      items[at] = items[child]
      at = child
    end
    items[at] = item
  end
  return top
end

local Calendar = {}
Calendar.__index = Calendar
function Calendar.new()
  local heap = Heap.new(function(a, b)
    if a.time ~= b.time then return a.time < b.time end
    return a.order < b.order
  end)
  return setmetatable({ now = 0, scheduled = 0, heap = heap }, Calendar)
end
function Calendar:after(delay, action)
  self.scheduled = self.scheduled + 1
  self.heap:push({ time = self.now + delay, order = self.scheduled, action = action })
end
function Calendar:run()
  while true do
    local event = self.heap:pop()
    if not event then return end
    self.now = event.time
    event.action()
  end
end

local Machine = {}
Machine.__index = Machine
function Machine.new(id, calendar)
  return setmetatable({
    id = id, calendar = calendar, busy = false, served = 0, waited = 0, longest = 0,
    queue = Heap.new(function(a, b)
      if a.urgency ~= b.urgency then return a.urgency > b.urgency end
      return a.id < b.id
    end),
  }, Machine)
end
function Machine:accept(job)
  job.arrived = self.calendar.now
  self.queue:push(job)
  if self.queue.size > self.longest then self.longest = self.queue.size end
  self:start()
end
function Machine:start()
  if self.busy then return end
  local job = self.queue:pop()
  if not job then return end
  self.busy = true
  self.waited = self.waited + self.calendar.now - job.arrived
  local delay = 3 + (job.id * self.id) % 9
  if random(40) == 0 then delay = delay + 25 end
  self.calendar:after(delay, function()
    self.busy = false
    self.served = self.served + 1
    job:advance()
    self:start()
  end)
end

local Job = {}
Job.__index = Job
function Job.new(id, route, on_done)
  local job = { id = id, route = route, step = 0, urgency = random(4), on_done = on_done }
  return setmetatable(job, Job)
end
function Job:advance()
  self.step = self.step + 1
  local machine = self.route[self.step]
  if machine then machine:accept(self) else self.on_done(self) end
end

local calendar, machines = Calendar.new(), {}
for id = 1, MACHINES do machines[id] = Machine.new(id, calendar) end
local finished, checksum = 0, 0
local function on_done(job)
  finished = finished + 1
  checksum = (checksum * 5 + job.id + calendar.now) % 1000003
end
for id = 1, JOBS do
  local route = {}
  for step = 1, 4 + random(4) do route[step] = machines[random(MACHINES) + 1] end
  local job = Job.new(id, route, on_done)
  calendar:after(id * 7 + random(30), function() job:advance() end)
end
calendar:run()

assert(finished == JOBS)
local served, waited, longest = 0, 0, 0
for _, machine in ipairs(machines) do
  served, waited = served + machine.served, waited + machine.waited
  longest = math.max(longest, machine.longest)
end
print(string.format("scheduler end %d served %d waited %d longest %d checksum %d",
  calendar.now, served, waited, longest, checksum))
