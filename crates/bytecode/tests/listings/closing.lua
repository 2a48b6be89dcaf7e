local function f(x)
  local a <close> = x
  do local b <close> = x; if x then return x end end
  while x do local c <close> = x; if a then break end local d = function() return c end end
  for i = 1, 2 do local e <close> = x; goto continue; ::continue:: end
  local b <const>, c <close> = 1, x
  return f(x)
end
