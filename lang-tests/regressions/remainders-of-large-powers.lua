-- The remainder of a float and a constant power of two, up to 2^53 and beyond.
-- expect: ok

local dividends = { 0.0, 1.0, -1.0, 2.5, 4500000000.0, 205032704.5, 1e15 + 0.5, 2^52 + 1, 2^53,
  2^60, -4500000000.0, -2^52 - 1, -0.5, 1e18, 1e300, 5e-324 }

-- the remainder by a divisor that is not known
local function remainder(x, divisor)
  return x % divisor
end

for power = -60, 70 do
  for _, more in ipairs({ 0, 1, -1 }) do
    local exact = 2.0 ^ power + more
    if exact > 0 then
      local divisors = { string.format("%a", exact) }
      if math.tointeger(exact) then divisors[2] = string.format("%d", exact) end
      for _, divisor in ipairs(divisors) do
        local by_constant = assert(load("local x = ... return x % " .. divisor))
        for i, x in ipairs(dividends) do
          local expected = remainder(x, exact)
          for _ = 1, 12 do
            local found = by_constant(x)
            assert(found == expected, divisor)
            assert(math.type(found) == "float" and 1 / found == 1 / expected)
          end
        end
      end
    end
  end
end
