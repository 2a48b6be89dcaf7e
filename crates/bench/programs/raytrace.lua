-- covers: objects with shared metatables, operator metamethods
-- A ray tracer over spheres and a plane whose vectors are objects with __add,
-- __sub, __mul and __unm in one metatable shared by every vector.

local scale = tonumber(arg and arg[1]) or 1
local WIDTH = 320
local HEIGHT = math.max(2, math.floor(230 * scale))

local Vector = {}
Vector.__index = Vector
local function vec(x, y, z)
  return setmetatable({ x = x, y = y, z = z }, Vector)
end
function Vector.__add(a, b) return vec(a.x + b.x, a.y + b.y, a.z + b.z) end
function Vector.__sub(a, b) return vec(a.x - b.x, a.y - b.y, a.z - b.z) end
function Vector.__mul(a, k) return vec(a.x * k, a.y * k, a.z * k) end
function Vector.__unm(a) return vec(-a.x, -a.y, -a.z) end
function Vector:dot(b) return self.x * b.x + self.y * b.y + self.z * b.z end
function Vector:length() return math.sqrt(self:dot(self)) end
function Vector:unit() return self * (1 / self:length()) end
function Vector:reflect(normal) return self - normal * (2 * self:dot(normal)) end

local Sphere = {}
Sphere.__index = Sphere
function Sphere.new(center, radius, shine, tone)
  return setmetatable({ center = center, radius = radius, shine = shine, tone = tone }, Sphere)
end
function Sphere:hit(origin, direction)
  local oc = origin - self.center
  local b = oc:dot(direction)
  local c = oc:dot(oc) - self.radius * self.radius
  local discriminant = b * b - c
  if discriminant < 0 then return nil end
  local distance = -b - math.sqrt(discriminant)
  if distance < 1e-6 then return nil end
  return distance
end
function Sphere:normal(point) return (point - self.center) * (1 / self.radius) end
function Sphere:color() return self.tone end

local Floor = {}
Floor.__index = Floor
function Floor.new(height, shine)
  return setmetatable({ height = height, shine = shine, up = vec(0, 1, 0) }, Floor)
end
function Floor:hit(origin, direction)
  if direction.y > -1e-6 then return nil end
  return (self.height - origin.y) / direction.y
end
function Floor:normal() return self.up end
function Floor:color(point)
  return (math.floor(point.x) + math.floor(point.z)) % 2 == 0 and 0.9 or 0.3
end

local scene = {
  Sphere.new(vec(0, 0.2, 4), 1.2, 0.4, 0.8),
  Sphere.new(vec(-1.8, -0.3, 3.2), 0.7, 0.2, 0.6),
  Sphere.new(vec(1.6, -0.4, 2.8), 0.6, 0.6, 0.5),
  Floor.new(-1, 0.2),
}
local light = vec(-4, 6, -2)

local function nearest(origin, direction)
  local best, object
  for _, candidate in ipairs(scene) do
    local distance = candidate:hit(origin, direction)
    if distance and distance > 1e-6 and (not best or distance < best) then
      best, object = distance, candidate
    end
  end
  return best, object
end

local function trace(origin, direction, depth)
  local distance, object = nearest(origin, direction)
  if not object then return 0.2 + 0.3 * math.max(0, direction.y) end
  local point = origin + direction * distance
  local normal = object:normal(point)
  local to_light = (light - point):unit()
  local start = point + normal * 1e-4
  local brightness = 0.1
  if not nearest(start, to_light) then
    brightness = brightness + 0.9 * math.max(0, normal:dot(to_light))
  end
  brightness = brightness * object:color(point)
  if depth > 0 and object.shine > 0 then
    local mirrored = -(-direction):reflect(normal)
    brightness = brightness * (1 - object.shine)
      + object.shine * trace(start, mirrored:unit(), depth - 1)
  end
  return brightness
end

local total, eye = 0, vec(0, 0.3, -2)
for row = 1, HEIGHT do
  for column = 1, WIDTH do
    local direction = vec((column - WIDTH / 2) / WIDTH, (HEIGHT / 2 - row) / HEIGHT, 1):unit()
    total = total + trace(eye, direction, 3)
  end
end
print(string.format("raytrace %.6f", total))
