-- covers: maps with string keys, sets, sorting keys
-- memory: yes
-- Counts words and word pairs of a generated text, builds an inverted index and
-- a Markov chain from it, and answers queries.

local scale = tonumber(arg and arg[1]) or 1
local WORDS = math.max(50, math.floor(180000 * scale))

local seed = 8080
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n
end

local ONSETS = { "b", "k", "d", "fl", "gr", "l", "m", "st", "t", "v" }
local VOWELS = { "a", "e", "i", "o", "u", "ai" }

local function make_word()
  local rank = random(40) * random(40) + 1
  local parts = {}
  while rank > 0 do
    parts[#parts + 1] = ONSETS[rank % #ONSETS + 1] .. VOWELS[rank % #VOWELS + 1]
    rank = math.floor(rank / 12)
  end
  return table.concat(parts)
end

local function make_text(count)
  local words = {}
  for i = 1, count do
    words[i] = make_word()
    if i % 11 == 0 then words[i] = words[i] .. "." end
  end
  return table.concat(words, " ")
end

local function count_words(text)
  local counts, order = {}, {}
  for word in text:gmatch("%a+") do
    local n = counts[word]
    if n then
      counts[word] = n + 1
    else
      counts[word] = 1
      order[#order + 1] = word
    end
  end
  return counts, order
end

local function count_pairs(text)
  local pairs_seen, previous, distinct = {}, "", 0
  for word in text:gmatch("%a+") do
    local key = previous .. " " .. word
    if not pairs_seen[key] then distinct = distinct + 1 end
    pairs_seen[key] = (pairs_seen[key] or 0) + 1
    previous = word
  end
  return pairs_seen, distinct
end

local function index_sentences(text)
  local index, number = {}, 0
  for sentence in text:gmatch("[^.]+") do
    number = number + 1
    for word in sentence:gmatch("%a+") do
      local entry = index[word]
      if not entry then
        entry = { last = 0, size = 0 }
        index[word] = entry
      end
      if entry.last ~= number then
        entry.last = number
        entry.size = entry.size + 1
        entry[entry.size] = number
      end
    end
  end
  return index
end

local function common(a, b)
  local i, j, n = 1, 1, 0
  while i <= a.size and j <= b.size do
    if a[i] == b[j] then
      n, i, j = n + 1, i + 1, j + 1
    elseif a[i] < b[j] then
      i = i + 1
    else
      j = j + 1
    end
  end
  return n
end

local text = make_text(WORDS)
local counts, order = count_words(text)
table.sort(order, function(a, b)
  if counts[a] ~= counts[b] then return counts[a] > counts[b] end
  return a < b
end)
local pairs_seen, distinct = count_pairs(text)
local index = index_sentences(text)

local top, shared = {}, 0
for i = 1, math.min(6, #order) do top[i] = order[i] .. "=" .. counts[order[i]] end
for i = 1, math.min(60, #order) do
  for j = 1, i - 1 do shared = shared + common(index[order[i]], index[order[j]]) end
end
local repeated = 0
for _, n in pairs(pairs_seen) do
  if n > 1 then repeated = repeated + 1 end
end
print("word_count " .. table.concat(top, " "))
print(string.format("words %d pairs %d repeated %d shared %d", #order, distinct, repeated, shared))
