-- A function has at most 255 upvalues (implementation limit).
-- expect: ok
--| 100
--| 255
--| nil	s:4: too many upvalues (limit is 255) in function at line 4 near 'end'

local function nested(n)
  local source = {}
  local per = 150
  local made = 0
  local level = 0
  local uses = {}
  while made < n do
    local names = {}
    for i = 1, math.min(per, n - made) do
      made = made + 1
      names[i] = "v" .. made
      uses[made] = "v" .. made
    end
    source[#source + 1] = "local " .. table.concat(names, ", ") .. " = " .. ("1, "):rep(#names - 1)
      .. "1"
    if made < n then
      source[#source + 1] = "local function f" .. level .. "()"; level = level + 1
    end
  end
  source[#source + 1] = "return function() return " .. table.concat(uses, " + ") .. " end"
  for i = level - 1, 0, -1 do source[#source + 1] = "end return f" .. i .. "()" end
  return table.concat(source, "\n")
end
print(load(nested(100), "=s")()())
print(load(nested(255), "=s")()())
print(load(nested(256), "=s"))
