-- covers: floats, records of numbers
-- A softened star cluster integrated with the leapfrog scheme: every pair of
-- stars attracts each other, and the total energy is reported before and after.

local scale = tonumber(arg and arg[1]) or 1
local STARS = 40
local STEPS = math.max(1, math.floor(5500 * scale))
local DT = 0.001
local SOFTENING = 0.05

local seed = 4711
local function random()
  seed = (seed * 16807) % 2147483647
  return seed / 2147483647
end

local function new_star()
  local radius = 0.2 + random()
  local angle = 2 * math.pi * random()
  local speed = math.sqrt(radius)
  return {
    x = radius * math.cos(angle),
    y = radius * math.sin(angle),
    z = 0.2 * (random() - 0.5),
    vx = -speed * math.sin(angle),
    vy = speed * math.cos(angle),
    vz = 0.0,
    ax = 0.0, ay = 0.0, az = 0.0,
    mass = (0.5 + random()) / STARS,
  }
end

local function accelerate(stars)
  local n = #stars
  for i = 1, n do
    local s = stars[i]
    s.ax, s.ay, s.az = 0.0, 0.0, 0.0
  end
  for i = 1, n - 1 do
    local a = stars[i]
    for j = i + 1, n do
      local b = stars[j]
      local dx, dy, dz = b.x - a.x, b.y - a.y, b.z - a.z
      local d2 = dx * dx + dy * dy + dz * dz + SOFTENING
      local inv = 1.0 / (d2 * math.sqrt(d2))
      local fa, fb = b.mass * inv, a.mass * inv
      a.ax = a.ax + dx * fa
      a.ay = a.ay + dy * fa
      a.az = a.az + dz * fa
      b.ax = b.ax - dx * fb
      b.ay = b.ay - dy * fb
      b.az = b.az - dz * fb
    end
  end
end

local function kick(stars, dt)
  for _, s in ipairs(stars) do
    s.vx = s.vx + s.ax * dt
    s.vy = s.vy + s.ay * dt
    s.vz = s.vz + s.az * dt
  end
end

local function drift(stars, dt)
  for _, s in ipairs(stars) do
    s.x = s.x + s.vx * dt
    s.y = s.y + s.vy * dt
    s.z = s.z + s.vz * dt
  end
end

local function energy(stars)
  local total = 0.0
  for i, a in ipairs(stars) do
    total = total + 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz)
    for j = i + 1, #stars do
      local b = stars[j]
      local dx, dy, dz = b.x - a.x, b.y - a.y, b.z - a.z
      total = total - a.mass * b.mass / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
    end
  end
  return total
end

local stars = {}
for i = 1, STARS do stars[i] = new_star() end

accelerate(stars)
local before = energy(stars)
for _ = 1, STEPS do
  kick(stars, DT / 2)
  drift(stars, DT)
  accelerate(stars)
  kick(stars, DT / 2)
end
print(string.format("cluster %.6f %.6f", before, energy(stars)))
