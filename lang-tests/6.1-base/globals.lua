-- _G, _VERSION and what the base library holds (6.1).
-- expect: ok
--| Lua 5.4	true	true	table
--| function function function function function function function function function function function function function function function function function function function function function function function function 
--| coroutine table true; debug table true; io table true; math table true; os table true; package table true; string table true; table table true; utf8 table true; 
--| 1
--| nil	1
--| nil
--| nil	nil	nil	nil	nil	nil	nil

print(_VERSION, _G == _ENV, _G._G == _G, type(_G))
local names = { "assert", "collectgarbage", "dofile", "error", "getmetatable", "ipairs", "load",
  "loadfile", "next", "pairs", "pcall", "print", "rawequal", "rawget", "rawlen", "rawset",
  "require", "select", "setmetatable", "tonumber", "tostring", "type", "warn", "xpcall" }
for _, name in ipairs(names) do io.write(type(_G[name]), " ") end print()
for _, name in ipairs({ "coroutine", "debug", "io", "math", "os", "package", "string", "table",
  "utf8" }) do
  io.write(name, " ", type(_G[name]), " ", tostring(package.loaded[name] == _G[name]), "; ")
end
print()
_G.fresh = 1; print(fresh); _G = nil; print(_G, fresh); fresh = nil; print(rawget(_ENV, "fresh"))
print(bit32, unpack, loadstring, setfenv, table.getn, string.gfind, module)
