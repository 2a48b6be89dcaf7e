-- covers: graph algorithms: Dijkstra, BFS, union-find, components
-- memory: yes
-- Builds random weighted graphs with adjacency lists and runs the classic
-- algorithms, checking them against each other where they overlap.

local scale = tonumber(arg and arg[1]) or 1
local NODES = math.max(20, math.floor(22000 * scale))
local DEGREE = 4

local seed = 271828
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n
end

local function make_graph(nodes, degree)
  local graph = {}
  for v = 1, nodes do graph[v] = {} end
  for v = 1, nodes do
    for _ = 1, degree do
      local to, weight = random(nodes) + 1, random(100) + 1
      table.insert(graph[v], { to = to, weight = weight })
    end
  end
  return graph
end

-- A heap of (distance, node) pairs in two parallel arrays.
local function dijkstra(graph, source)
  local distance, keys, nodes, size = {}, {}, {}, 0
  for v = 1, #graph do distance[v] = math.huge end

  local function push(key, node)
    size = size + 1
    local at = size
    while at > 1 do
      local parent = math.floor(at / 2)
      if keys[parent] <= key then break end
      keys[at], nodes[at] = keys[parent], nodes[parent]
      at = parent
    end
    keys[at], nodes[at] = key, node
  end

  local function pop()
    local key, node = keys[1], nodes[1]
    local last_key, last_node = keys[size], nodes[size]
    size = size - 1
    local at = 1
    while 2 * at <= size do
      local child = 2 * at
      if child < size and keys[child + 1] < keys[child] then child = child + 1 end
      if keys[child] >= last_key then break end
      keys[at], nodes[at] = keys[child], nodes[child]
      at = child
    end
    keys[at], nodes[at] = last_key, last_node
    return key, node
  end

  distance[source] = 0
  push(0, source)
  while size > 0 do
    local d, v = pop()
    if d == distance[v] then
      for _, edge in ipairs(graph[v]) do
        local candidate = d + edge.weight
        if candidate < distance[edge.to] then
          distance[edge.to] = candidate
          push(candidate, edge.to)
        end
      end
    end
  end
  return distance
end

local function bfs(graph, source)
  local level, queue, head = { [source] = 0 }, { source }, 1
  while head <= #queue do
    local v = queue[head]
    head = head + 1
    for _, edge in ipairs(graph[v]) do
      if not level[edge.to] then
        level[edge.to] = level[v] + 1
        queue[#queue + 1] = edge.to
      end
    end
  end
  return level, #queue
end

local function spanning_tree(graph)
  local parent, rank, edges = {}, {}, {}
  for v, list in ipairs(graph) do
    parent[v], rank[v] = v, 0
    for _, edge in ipairs(list) do
      edges[#edges + 1] = { from = v, to = edge.to, weight = edge.weight }
    end
  end
  table.sort(edges, function(a, b) return a.weight < b.weight end)
  local function find(v)
    while parent[v] ~= v do
      parent[v] = parent[parent[v]]
      v = parent[v]
    end
    return v
  end
  local weight, used = 0, 0
  for _, edge in ipairs(edges) do
    local a, b = find(edge.from), find(edge.to)
    if a ~= b then
      if rank[a] < rank[b] then a, b = b, a end
      parent[b] = a
      if rank[a] == rank[b] then rank[a] = rank[a] + 1 end
      weight, used = weight + edge.weight, used + 1
    end
  end
  return weight, used
end

-- Tarjan's strongly connected components, without recursion.
local function components(graph)
  local index, low, on_stack, stack = {}, {}, {}, {}
  local counter, count, largest = 0, 0, 0
  for start = 1, #graph do
    if not index[start] then
      local work = { { node = start, edge = 1 } }
      counter = counter + 1
      index[start], low[start], on_stack[start] = counter, counter, true
      stack[#stack + 1] = start
      while #work > 0 do
        local frame = work[#work]
        local v = frame.node
        local edge = graph[v][frame.edge]
        if edge then
          frame.edge = frame.edge + 1
          local w = edge.to
          if not index[w] then
            counter = counter + 1
            index[w], low[w], on_stack[w] = counter, counter, true
            stack[#stack + 1] = w
            work[#work + 1] = { node = w, edge = 1 }
          elseif on_stack[w] then
            low[v] = math.min(low[v], index[w])
          end
        else
          work[#work] = nil
          local above = work[#work]
          if above then low[above.node] = math.min(low[above.node], low[v]) end
          if low[v] == index[v] then
            local size, w = 0, nil
            repeat
              w = table.remove(stack)
              on_stack[w] = false
              size = size + 1
            until w == v
            count, largest = count + 1, math.max(largest, size)
          end
        end
      end
    end
  end
  return count, largest
end

local graph = make_graph(NODES, DEGREE)
local far, sum, reached = 0, 0, 0
for round = 1, 2 do
  local distance = dijkstra(graph, round)
  local level, count = bfs(graph, round)
  for v = 1, NODES do
    assert((distance[v] < math.huge) == (level[v] ~= nil), "reachability differs")
    if level[v] then
      sum, far = sum + distance[v], math.max(far, level[v])
    end
  end
  reached = reached + count
end
print(string.format("graphs sum %d far %d reached %d", sum, far, reached))
print(string.format("tree %d edges %d", spanning_tree(graph)))
print(string.format("components %d largest %d", components(graph)))
