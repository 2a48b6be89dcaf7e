-- `load` stops reading at a syntax error, and an error of its own about a reader passes through
-- message handlers (6.1).
-- expect: ok

local function reader(...)
  local pieces, i = table.pack(...), 0
  return function()
    i = i + 1
    local piece = pieces[(i - 1) % pieces.n + 1]
    if type(piece) == 'function' then return piece() end
    return piece
  end
end

-- These never end.
local _, message = load(reader('x x '), '=r')
assert(message == "r:1: syntax error near 'x'")
_, message = load(reader('local a = 1\nfor '), '=r')
assert(message == "r:2: '=' or 'in' expected near 'a'"
  or message == "r:2: <name> expected near 'local'", message)
_, message = load(reader('\27Lua'), '=r', 't')
assert(message == "attempt to load a binary chunk (mode is 't')")
_, message = load(reader('return 1 '), '=r', 'b')
assert(message == "attempt to load a text chunk (mode is 'b')")
_, message = load(reader('a = "\\q" '), '=r')
assert(message == [[r:1: invalid escape sequence near '"\q']], message)

-- The first of two errors counts.
local function fail() error('reader', 0) end
assert(select(3, pcall(load, reader('a = = ', 'b ', fail),
  '=r')) == "r:1: unexpected symbol near '='")
assert(select(3, pcall(load, reader('a =', '=', fail), '=r')) == 'reader')
assert(select(3, pcall(load, reader('a = "x', fail), '=r')) == 'reader')
assert(select(3, pcall(load, reader('a = [=', '=[ ]==] ', fail), '=r')) == 'reader')
assert(select(3, pcall(load, reader('goto x ', fail), '=r')) == 'reader')
assert(select(3, pcall(load, reader('break ', fail), '=r')) == 'reader')
assert(select(3, pcall(load, reader('a = 1 + ', fail), '=r')) == 'reader')

-- Tokens in pieces.
assert(load(reader('ret', 'urn 1', '2 .', '. "a', 'b"', ' == [', '=[12', 'ab]', '=]',
  nil))() == true)
assert(load(reader('ret', 'urn 1', '', ' error'))() == 1)

-- Message handlers.
local seen
local function handler(m) seen = m return 'handled ' .. tostring(m) end
local function loaded(...) return select(2, xpcall(load, handler, ...)) end
_, message = loaded(reader({}))
assert(message == 'handled reader function must return a string'
  and seen == 'reader function must return a string', message)
_, message = loaded(reader(fail))
assert(message == 'handled reader')
seen = nil
_, message = loaded(reader('x x '), '=r')
assert(message == "r:1: syntax error near 'x'" and seen == nil)
_, message = xpcall(function() return select(2, load(reader(true))) end, handler)
assert(message:find('^handled .*:%d+: reader function must return a string$'), message)
_, message = xpcall(function() return select(2, load(reader(true))) end, function()
  return debug.traceback('m', 1)
end)
assert(message:find("^m\nstack traceback:\n[^\n]*in function <[^\n]*\n"
  .. "%s*%[C%]: in function 'load'\n"), message)

-- So do errors of the parser that PUC raises at run time.
local deep = ('('):rep(300)
_, message = loaded(deep)
assert(message == 'handled C stack overflow')
_, message = loaded(reader(deep, nil))
assert(message == 'handled C stack overflow')
assert(select(3, pcall(load, deep)) == 'C stack overflow')
_, message = xpcall(function() return select(2, load(deep)) end, function() return {} end)
assert(type(message) == 'table')
_, message = loaded(('goto x '):rep(33000), '=s')
assert(message == 'handled too many labels/gotos (limit is 32767)', message)
