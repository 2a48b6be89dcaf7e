-- expect: ok
--| call	old	new	old
--| call	new	new	new
--| pcall	old	new	old
--| pcall	new	new	new
--| error	old	new	old
--| error	new	new	new
--| error at once	old	new	old
--| error at once	new	new	new
--| xpcall	old	new	old
--| xpcall	new	new	new
--| index	old	new	old
--| index	new	new	new
--| newindex	old	new	old
--| newindex	new	new	new
--| element	old	new	old
--| element	new	new	new
--| add	old	new	old
--| add	new	new	new
--| less	old	new	old
--| less	new	new	new
--| length	old	new	old
--| length	new	new	new
--| concat	old	new	old
--| concat	new	new	new
--| called object	old	new	old
--| called object	new	new	new
--| sort	old	new	old
--| sort	new	new	new
--| gsub	old	new	old
--| gsub	new	new	new
--| iterator	old	new	old
--| iterator	new	new	new
--| wrap	old	new	old
--| wrap	new	new	new
--| closing	old	new	old
--| closing	new	new	new
--| tostring	old	new	old
--| tostring	new	new	new
--| finalizer	old	new	old
--| finalizer	new	new	new
--| loop	old	new	old
--| loop	new	new	new
--| yield	old	new	old
--| yield	new	new	new
-- A debug function changes a variable that the program never assigns, for the first time in the
-- state, while code that relies on it waits: for a metamethod, a callback of the library, a
-- protected call, an iterator, a coroutine, a closing function or a finalizer. With the number of a
-- case as argument, that alone runs, as only the first change deoptimizes frames.

local function index(f, name)
  local i = 1
  while debug.getupvalue(f, i) ~= name do i = i + 1 end
  return i
end

local function case(name, wait, prepare)
  local value = { "old" }
  local act
  local function changed()
    local f = act
    act = nil
    if f then f() end
    return 1
  end
  local env = { changed = changed, prepared = prepare and prepare(changed) }
  local source = [[
    local value, changed, prepared, act = ...
    local function use(t)
      local first = value[1]
      collectgarbage('count') -- after a call, a guard precedes the next use
      local before = value[1]
      ]] .. wait .. [[

      return before, value[1], first
    end
    return use
  ]]
  local use = assert(load(source))(value, changed, env.prepared)
  for i = 1, 60 do
    local a, b = use({ 3, 1, 2 })
    assert(a == "old" and b == "old", name)
  end
  act = function()
    debug.setupvalue(use, index(use, "value"), { "new" })
    collectgarbage()
  end
  print(name, use({ 3, 1, 2 }))
  print(name, use({ 3, 1, 2 }))
end

local function object(events)
  return function(changed)
    local meta = {}
    for _, event in ipairs(events) do meta[event] = changed end
    return setmetatable({}, meta)
  end
end

local which = ...
local cases = {
  { "call", "changed()" },
  { "pcall", "pcall(changed)" },
  { "error", "pcall(function() changed() error('x') end)" },
  { "error at once", "pcall(prepared)",
    function(changed) return function() changed() error("x", 0) end end },
  { "xpcall", "xpcall(error, changed)" },
  { "index", "local _ = prepared.x", object { "__index" } },
  { "newindex", "prepared.x = 1", object { "__newindex" } },
  { "element", "local _ = prepared[t[1]]", object { "__index" } },
  { "add", "local _ = prepared + 1", object { "__add" } },
  { "less", "local _ = prepared < prepared", object { "__lt" } },
  { "length", "local _ = #prepared", object { "__len" } },
  { "concat", "local _ = prepared .. 'x'", object { "__concat" } },
  { "called object", "prepared()", object { "__call" } },
  { "sort", "table.sort(t, prepared)",
    function(changed) return function(a, b) changed() return a < b end end },
  { "gsub", "string.gsub('abc', 'b', prepared)",
    function(changed) return function() changed() return 'x' end end },
  { "iterator", "for _ in prepared do end",
    function(changed)
      local n = 0
      return function() changed() n = n + 1 return n % 3 ~= 0 and n or nil end
    end },
  { "wrap", "coroutine.wrap(changed)()" },
  { "closing", "do local c <close> = prepared end", object { "__close" } },
  { "tostring", "tostring(prepared)",
    function(changed)
      return setmetatable({}, { __tostring = function() changed() return "t" end })
    end },
  { "finalizer", "setmetatable({}, prepared) collectgarbage()",
    function(changed) return { __gc = changed } end },
  { "loop", "for i = 1, 5 do if i == 3 then changed() end t[1] = value[1] end" },
  { "yield", "prepared(changed)",
    function() return function(f) coroutine.wrap(function() coroutine.yield(f()) end)() end end },
}
for i, c in ipairs(cases) do
  if not which or i == tonumber(which) then case(table.unpack(c)) end
end
