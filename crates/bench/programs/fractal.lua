-- covers: floats in nested loops
-- Escape times of the Mandelbrot set, the burning ship and one Julia set on a
-- coarse grid, summed into a histogram.

local scale = tonumber(arg and arg[1]) or 1
local WIDTH = 512
local HEIGHT = math.max(1, math.floor(380 * scale))
local LIMIT = 120

local function mandelbrot(cx, cy)
  local x, y = 0.0, 0.0
  for i = 1, LIMIT do
    local x2, y2 = x * x, y * y
    if x2 + y2 > 4.0 then return i end
    y = 2.0 * x * y + cy
    x = x2 - y2 + cx
  end
  return LIMIT
end

local function burning_ship(cx, cy)
  local x, y = 0.0, 0.0
  for i = 1, LIMIT do
    local x2, y2 = x * x, y * y
    if x2 + y2 > 4.0 then return i end
    y = math.abs(2.0 * x * y) + cy
    x = x2 - y2 + cx
  end
  return LIMIT
end

local function julia(x, y)
  for i = 1, LIMIT do
    local x2, y2 = x * x, y * y
    if x2 + y2 > 4.0 then return i end
    x, y = x2 - y2 - 0.8, 2.0 * x * y + 0.156
  end
  return LIMIT
end

local function render(escape, left, right, top, bottom)
  local histogram = {}
  for i = 1, LIMIT do histogram[i] = 0 end
  for row = 0, HEIGHT - 1 do
    local cy = top + (bottom - top) * row / HEIGHT
    for column = 0, WIDTH - 1 do
      local cx = left + (right - left) * column / WIDTH
      local steps = escape(cx, cy)
      histogram[steps] = histogram[steps] + 1
    end
  end
  return histogram
end

local function summarize(name, histogram)
  local weighted = 0
  for steps, count in ipairs(histogram) do
    weighted = weighted + steps * count
  end
  print(string.format("%s inside %d weighted %d", name, histogram[LIMIT], weighted))
end

summarize("mandelbrot", render(mandelbrot, -2.0, 1.0, -1.25, 1.25))
summarize("burning ship", render(burning_ship, -1.8, -1.7, -0.08, 0.02))
summarize("julia", render(julia, -1.5, 1.5, -1.0, 1.0))
