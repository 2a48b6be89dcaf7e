-- covers: allocation, recursion over trees
-- memory: yes
-- Binary trees of several depths made and dropped while one long-lived tree
-- stays, and a treap with insertion, deletion and an in-order walk.

local scale = tonumber(arg and arg[1]) or 1
local DEPTH = 14
local ROUNDS = math.max(1, math.floor(22 * scale))

local function make(depth)
  if depth == 0 then return { left = nil, right = nil } end
  return { left = make(depth - 1), right = make(depth - 1) }
end

local function count(tree)
  if not tree.left then return 1 end
  return 1 + count(tree.left) + count(tree.right)
end

local seed = 1
local function random()
  seed = (seed * 16807) % 2147483647
  return seed
end

local function split(node, key)
  if not node then return nil, nil end
  if node.key < key then
    local left, right = split(node.right, key)
    node.right = left
    return node, right
  end
  local left, right = split(node.left, key)
  node.left = right
  return left, node
end

local function merge(a, b)
  if not a then return b end
  if not b then return a end
  if a.priority > b.priority then
    a.right = merge(a.right, b)
    return a
  end
  b.left = merge(a, b.left)
  return b
end

local function insert(root, key)
  local left, right = split(root, key)
  return merge(merge(left, { key = key, priority = random() }), right)
end

local function remove(root, key)
  local left, rest = split(root, key)
  local _, right = split(rest, key + 1)
  return merge(left, right)
end

local function walk(node, visit)
  if node then
    walk(node.left, visit)
    visit(node.key)
    walk(node.right, visit)
  end
end

local long_lived = make(DEPTH + 1)
local nodes = 0
for _ = 1, ROUNDS do
  for depth = 4, DEPTH, 3 do
    for _ = 1, 2 ^ (DEPTH - depth) do
      nodes = nodes + count(make(depth))
    end
  end
end

local root
for _ = 1, 1500 * ROUNDS do root = insert(root, random() % 20000) end
for _ = 1, 700 * ROUNDS do root = remove(root, random() % 20000) end
local size, checksum = 0, 0
walk(root, function(key)
  size = size + 1
  checksum = (checksum * 3 + key) % 1000003
end)
print(string.format("trees nodes %d kept %d treap %d checksum %d",
  nodes, count(long_lived), size, checksum))
