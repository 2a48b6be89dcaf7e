-- Functions that tier 2 inlines: one that branches, and one that stores to a variable of its maker.
local count = 0
local function larger(a, b) if a > b then return a end return b end
local function add(n) count = count + n end
local function inlined(x)
  local n = larger(x, 2)
  add(n)
  return count
end
for i = 1, 4 do add(larger(i, 2)) end
for i = 1, 4 do inlined(i) end
