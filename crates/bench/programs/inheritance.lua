-- covers: inheritance over three levels, dynamic dispatch
-- Drawing elements in three levels of classes (Element, Container and Shape, and
-- their children) that are laid out, moved, measured and searched many times.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(1700 * scale))

local function class(parent)
  local c = {}
  c.__index = c
  c.new = function(...)
    local object = setmetatable({}, c)
    object:init(...)
    return object
  end
  return setmetatable(c, { __index = parent })
end

local Element = class(nil)
function Element:init(name)
  self.name, self.x, self.y, self.visible = name, 0, 0, true
end
function Element:move(dx, dy)
  self.x, self.y = self.x + dx, self.y + dy
end
function Element:is_visible() return self.visible end
function Element:area() return 0 end
function Element:depth() return 1 end
function Element:describe() return self.name end

local Shape = class(Element)
function Shape:init(name, border)
  Element.init(self, name)
  self.border = border
end
function Shape:outline() return self:perimeter() * self.border end

local Rectangle = class(Shape)
function Rectangle:init(name, width, height)
  Shape.init(self, name, 1)
  self.width, self.height = width, height
end
function Rectangle:area() return self.width * self.height end
function Rectangle:perimeter() return 2 * (self.width + self.height) end

local Square = class(Rectangle)
function Square:init(name, side) Rectangle.init(self, name, side, side) end
function Square:describe() return "square " .. Rectangle.describe(self) end

local Triangle = class(Shape)
function Triangle:init(name, base, height)
  Shape.init(self, name, 2)
  self.base, self.height = base, height
end
function Triangle:area() return self.base * self.height / 2 end
function Triangle:perimeter()
  return self.base + 2 * math.sqrt(self.base * self.base / 4 + self.height * self.height)
end

local Container = class(Element)
function Container:init(name)
  Element.init(self, name)
  self.children = {}
end
function Container:add(child)
  self.children[#self.children + 1] = child
  return child
end
function Container:move(dx, dy)
  Element.move(self, dx, dy)
  for _, child in ipairs(self.children) do child:move(dx, dy) end
end
function Container:area()
  local total = 0
  for _, child in ipairs(self.children) do
    if child:is_visible() then total = total + child:area() end
  end
  return total
end
function Container:depth()
  local deepest = 0
  for _, child in ipairs(self.children) do deepest = math.max(deepest, child:depth()) end
  return deepest + 1
end
function Container:outline()
  local total = 0
  for _, child in ipairs(self.children) do
    if child.outline then total = total + child:outline() end
  end
  return total
end

local Row = class(Container)
function Row:layout(gap)
  local offset = 0
  for i, child in ipairs(self.children) do
    child.x = self.x + offset
    child.visible = i % 7 ~= 0
    offset = offset + (child.width or child.base or 10) + gap
    if child.layout then child:layout(gap) end
  end
  return offset
end

local function build(level, width)
  local row = Row.new("row" .. level)
  for i = 1, width do
    local kind = (i + level) % 4
    if kind == 0 and level > 1 then
      row:add(build(level - 1, width))
    elseif kind == 1 then
      row:add(Rectangle.new("r" .. i, i, level))
    elseif kind == 2 then
      row:add(Square.new("s" .. i, i + level))
    else
      row:add(Triangle.new("t" .. i, i + 1, level))
    end
  end
  return row
end

local root = build(4, 14)
local area, outline, span, letters = 0, 0, 0, 0
for round = 1, ROUNDS do
  span = span + root:layout(round % 3)
  root:move(round, -round)
  area = area + root:area()
  outline = outline + root:outline()
  for _, child in ipairs(root.children) do letters = letters + #child:describe() end
end
print(string.format("inheritance area %.1f outline %.3f span %d depth %d letters %d at %d",
  area, outline, span, root:depth(), letters, root.children[3].y))
