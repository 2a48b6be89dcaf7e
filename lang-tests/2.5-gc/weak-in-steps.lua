-- Between steps of the collector, a traversal of a weak table sees each entry of live objects once,
-- and entries of others only as a whole (2.5.4).
-- expect: ok
--| k	90	90
--| v	90	90
--| kv	90	90
--| k	90	90
--| v	90	90
--| kv	90	90

local function run(mode)
  local weak = setmetatable({}, { __mode = mode })
  local strong, made = {}, 0
  local function add(keep)
    made = made + 1
    local object = { id = made }
    if made % 5 == 0 then setmetatable(object, { __gc = function(o) assert(o.id) end }) end
    if keep then strong[#strong + 1] = object end
    if mode == "v" then
      weak[made] = object
    else
      weak[object] = mode == "k" and { id = made, key = object } or object
    end
  end
  local function check()
    local seen, live = {}, 0
    for k, v in pairs(weak) do
      local id = v.id
      assert(k == id or k.id == id, "an entry of two objects")
      assert(not seen[id], "an entry that is seen twice")
      seen[id] = true
    end
    for i = 1, #strong do
      assert(seen[strong[i].id], "an entry that is missing")
      live = live + 1
    end
    return live
  end
  for i = 1, 90 do add(i % 3 == 0) end
  for round = 1, 60 do
    add(true)
    for i = 1, 5 do add(false) end
    collectgarbage("step", round % 7)
    if round % 4 == 0 then check() end
  end
  collectgarbage()
  collectgarbage()
  local count = 0
  for _ in pairs(weak) do count = count + 1 end
  print(mode, check(), count)
end

for _, mode in ipairs { "k", "v", "kv" } do run(mode) end
collectgarbage("generational")
for _, mode in ipairs { "k", "v", "kv" } do run(mode) end
