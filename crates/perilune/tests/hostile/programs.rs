//! Hostile scripts.

/// The program that runs before each script, without limits.
pub(crate) const SETUP: &str = "
find, match, gmatch, gsub, rep, format = string.find, string.match, string.gmatch, string.gsub, \
string.rep, string.format
wrap, yield, concat, sort, unpack = coroutine.wrap, coroutine.yield, table.concat, table.sort, \
table.unpack
function a(n) return ('a'):rep(n // 1 | 0) end
function with(event, f) return setmetatable({}, { [event] = f }) end
function spin() while true do end end
function lies(length, value) return setmetatable({}, { __len = function() \
return length // 1 | 0 end, __index = function() return value end }) end
";

/// Scripts that run forever and catch no errors.
pub(crate) const ENDLESS: &[&str] = &[
    // plain
    "while true do end",
    "::top:: goto top",
    "local x = 0 while true do x = x + 1 end",
    "for i = math.mininteger, math.maxinteger do end",
    "for i = 1.0, math.huge, 1e-300 do end",
    "local function f(n) return f(n + 1) end f(1)",
    "local f, g function f() return g() end function g(...) return f(...) end f()",
    "local t = {} while true do t.x = (t.x or 0) + 1 end",
    "while true do local t = { 1, 2, x = {} } end",
    "local s = 'a' while true do s = s .. 'b' if #s > 1000 then s = '' end end",
    "for k in function() return 1 end do end",
    "local t = { 1 } while true do for k, v in pairs(t) do t[k] = v end end",
    "local t = {} while true do t[#t + 1] = 1 t[#t] = nil end",
    "while true do load('local x = 1 return x')() end",
    "while true do local n = 0 assert(load(function() n = n + 1 \
     return n < 1000 and 'x = 1 ' or nil end)) end",
    "while true do print() ; (function(...) return select('#', ...) end)(unpack({}, 1, 200)) end",
    // metamethods
    "return with('__index', spin).x",
    "with('__newindex', spin).x = 1",
    "return with('__call', spin)()",
    "local t = with('__call', function(self) return self() end) t()",
    "return with('__add', spin) + 1",
    "return 1 .. with('__concat', spin)",
    "return with('__eq', spin) == with('__eq', spin)",
    "return with('__lt', spin) < 1",
    "return #with('__len', spin)",
    "return -with('__unm', spin)",
    "return tostring(with('__tostring', spin))",
    "return ('%s'):format(with('__tostring', spin))",
    "for k in pairs(with('__pairs', spin)) do end",
    "return getmetatable(with('__index', function(t, k) \
     return t[k + 1] and 1 end)).__index(with('__index', spin), 1)",
    "local t = with('__index', function(t, k) return k end) local i = 1 \
     while t[i] do i = i + 1 end",
    "local t = setmetatable({}, { __index = function(t, k) rawset(t, k, nil) return 1 end }) \
     while t.x do end",
    "error(with('__tostring', spin))",
    // patterns
    "find(a(1e5), '.-.-.-.-x')",
    "find(a(1e5), 'a*a*a*a*a*b')",
    "while true do match(a(1e5), '^(.-)(.-)(.-)%1%2%3$') end",
    "match(a(1e5), '(a*)(a*)(a*)(a*)%4%3%2%1b')",
    "gsub(a(1e5), 'a*a*a*b', {})",
    "for x in gmatch(a(1e5), '(.-)(.-)(.-)x') do end",
    "find(rep('(', 1e6 // 1 | 0), '%b()') repeat find(rep('(', 100000), '%b()') until false",
    "repeat until find(a(1e6), 'b', 1, true)",
    "repeat until find(a(1e5), a(1000) .. 'b', 1, true)",
    "while true do gsub(a(1e6), 'a', 'b') end",
    "while true do gsub(a(1e6), '', '-') end",
    "gsub(a(1e6), '.', spin)",
    "gsub(a(1e6), '.', with('__index', spin))",
    // strings
    "while true do rep('x', 4000000) end",
    "while true do rep('', 1 << 40) end",
    "while true do rep('x', 1000000, ', ') end",
    "local s = a(1e6) while true do s = s:sub(2) .. 'a' end",
    "local s = a(1e6) .. 'b' local t = a(1e6) .. 'c' repeat until s == t or s > t",
    "while true do format('%99.99f %s', 1e300, a(1e5)) end",
    "local f = rep('%d', 200) local t = {} for i = 1, 200 do t[i] = i end while true do format(f, \
     unpack(t)) end",
    "while true do format('%q', a(1e6)) end",
    "while true do string.byte(a(1e5), 1, 100) string.char(unpack({ 97, 98 })) end",
    "while true do utf8.len(a(1e6)) utf8.codepoint(a(100), 1, 100) end",
    "while true do tonumber(rep('1', 1e5 // 1 | 0)) end",
    "while true do tonumber(rep('z', 1e5 // 1 | 0), 36) end",
    // tables
    "sort({ 1, 2, 3 }, spin)",
    "local t = {} for i = 1, 1e5 do t[i] = i % 7 end while true do sort(t) end",
    "local t = {} for i = 1, 1e5 do t[i] = i * 7919 % 1e5 end while true do sort(t, function(x, y) \
     return x < y end) end",
    "sort(lies(2^31 - 2, 1))",
    "concat(lies(1e18, ''), '', 1, 1 << 60)",
    "concat(lies(1e18, ''), '', math.mininteger, math.maxinteger)",
    "table.move({}, 1, 1 << 60, 2)",
    "table.move({ 1 }, 1, 1 << 60, 1, {})",
    "table.insert(lies(1 << 60, 1), 1, 0)",
    "table.remove(lies(1 << 60, 1), 1)",
    "while true do math.max(unpack(setmetatable({}, { __index = function() \
     return 1 end }), 1, 10000)) end",
    "for i, v in ipairs(with('__index', function() return 1 end)) do end",
    "local t = {} for i = 1, 1e5 do t[i] = i end while true do for i = #t, 1, -1 do \
     table.remove(t, 1) table.insert(t, 1, i) end end",
    "while next({ 1 }) do end",
    "local t = {} for i = 1, 1e5 do t['k' .. i] = i end for k in pairs(t) do t[k] = nil end \
     while true do next(t) end",
    // coroutines
    "wrap(spin)()",
    "local co = wrap(function() while true do yield() end end) while true do co() end",
    "while true do wrap(function() end)() end",
    "local function chain(n) if n == 0 then spin() end return wrap(function() \
     chain(n - 1) end)() end chain(100)",
    "local function chain(n) return wrap(function() if n > 0 then chain(n - 1) end \
     while true do yield() end end) end while true do chain(50)() end",
    "local a, b a = wrap(function() while true do b = wrap(function() \
     while true do yield() end end) b() yield() end end) while true do a() end",
    "for x in wrap(function() while true do yield(1) end end) do end",
    // variables that are closed, the collector
    "do local c <close> = with('__close', spin) end",
    "for i = 1, math.huge do local c <close> = with('__close', function() end) end",
    "for k in next, {}, nil, with('__close', spin) do end",
    "local function f() local c <close> = with('__close', spin) error('e') end f()",
    "while true do collectgarbage('step', 1) end",
    "local t = {} for i = 1, 1e5 do t[i] = { i } end while true do collectgarbage() end",
    "local t = nil for i = 1, 1e5 do t = { t } end while true do collectgarbage() end",
    "local t = setmetatable({}, { __mode = 'k' }) for i = 1, 1e5 do t[{}] = { i } end \
     while true do collectgarbage() t[{}] = 1 end",
    "while true do collectgarbage('generational') collectgarbage('incremental') end",
    "collectgarbage('generational') local t = {} for i = 1, 1e5 do t[i] = { i } end \
     while true do collectgarbage('step') end",
    "local t = {} for i = 1, 1e5 do t[i] = { i } end while true do collectgarbage('step', 1 << 30) \
     end",
    "local keep with('__gc', function(o) keep = o setmetatable(o, getmetatable(o)) end) \
     while true do collectgarbage() end",
    // jumps
    "while true do do goto continue end ::continue:: end",
    "for i = 1, math.maxinteger do if i > 0 then goto continue end ::continue:: end",
    "local i = 0 ::top:: i = i + 1 if i % 2 == 0 then goto continue end \
     i = i + 1 ::continue:: goto top",
    "repeat local x = {} if x then goto continue end ::continue:: until false",
    "::a:: do goto b end ::b:: do goto c end ::c:: for i = 1, 2 do if i == 2 then goto a end end \
     goto a",
    "for i = 1, 1e18 do for j = 1, 3 do if j == 2 then break end end end",
    "while true do for k in pairs({ 1, 2 }) do goto next end ::next:: end",
    // metamethods that are library functions, so that no code of the script runs
    "table.move(with('__index', rawlen), 1, 1 << 60, 1, with('__newindex', rawlen))",
    "while true do unpack(with('__index', rawlen), 1, 900000) end",
    "table.insert(setmetatable({}, { __index = rawlen, __newindex = rawlen, __len = function() \
     return 1 << 60 end }), 1, 0)",
    "concat(setmetatable({}, { __index = rawlen, __len = function() return 1 << 60 end }), '', 1, \
     1 << 60)",
    "sort(setmetatable({}, { __index = rawlen, __newindex = rawlen, __len = function() \
     return 2^31 - 2 | 0 end }))",
    "for i, v in ipairs(with('__index', rawlen)) do end",
    "gsub(a(1e7), '.', with('__index', rawlen))",
    "gsub(a(1e7), '.', string.upper)",
    "gsub(a(1e7), '()', math.abs)",
    "for k in next, setmetatable({ 1 }, {}) do goto continue ::continue:: for w in gmatch(a(1e7), \
     'a') do end end spin()",
    // introspection
    "while true do debug.traceback('x') debug.getinfo(1, 'nSltuf') end",
    "debug.sethook(function() debug.sethook() spin() end, '', 1) while true do end",
    "local n = 0 debug.sethook(function() n = n + 1 if n > 1e4 then debug.sethook() end end, \
     'crl', 1) spin()",
    "debug.sethook(function() debug.sethook() spin() end, 'c') print()",
    "local function deep(n) if n == 0 then while true do debug.traceback() end end \
     return (deep(n - 1)) end deep(10000)",
];

/// Scripts that run forever in few instructions, each of which takes long.
pub(crate) const SLOW: &[&str] = &[
    // calls of the library, each of which takes long
    "local s = a(1.5e7) while true do local x = s .. s end",
    "local t = {} while true do local x = t[a(2e7)] end",
    "local s = a(1e6) while true do s:upper() s:lower() s:reverse() end",
    "while true do unpack({}, 1, 100000) end",
    "while true do select(-1, unpack({}, 1, 100000)) end",
    "while true do table.pack(unpack({}, 1, 100000)) end",
    "while true do tonumber(rep('1', 2e7 // 1 | 0)) end",
    "while true do tonumber(rep('z', 2e7 // 1 | 0), 36) end",
    "while true do tonumber('0x' .. rep('f', 2e7 // 1 | 0)) end",
    "while true do tonumber(rep(' ', 2e7 // 1 | 0) .. '1') end",
    "while true do format('%q', a(1e7)) end",
    "while true do format('%q', rep('\\n\\0', 5e6 // 1 | 0)) end",
    "while true do format('%s', a(2e7)) end",
    "while true do utf8.len(a(5e7)) end",
    "while true do for p, c in utf8.codes(a(1e7)) do end end",
    "local s = a(3e7) while true do utf8.offset(s, -1) utf8.offset(s, 3e7 // 1 | 0) end",
    "while true do rep('x', 6e7 // 1 | 0) end",
    "while true do rep('ab', 1e7 // 1 | 0, ', ') end",
    "local s = a(5e7) while true do s:find('b') s:find('[b]') s:find('b', 1, true) s:gsub('b', '') \
     s:match('^a*b') end",
    "local s = a(2e7) while true do s:upper() s:reverse() s:sub(2) end",
    "while true do string.unpack(rep('b', 200), a(200)) end",
    "local f = rep('b', 1e6 // 1 | 0) while true do string.packsize(f) end",
    "local f = rep('x', 1e7 // 1 | 0) while true do string.pack(f) string.unpack(f, a(1e7)) end",
    "while true do string.char(unpack(lies(1, 97), 1, 2e5 // 1 | 0)) end",
    "local t = {} for i = 1, 1000 do t[i] = a(2e3) end while true do concat(t) concat(t, ', ') end",
    "while true do tostring(1.5) tostring(12345678901) tostring({}) tostring(print) end",
    "local t = 'x' for i = 1, 100 do local u = t t = with('__tostring', function() \
     return tostring(u) .. 'x' end) end while true do tostring(t) end",
    "while true do select('#', unpack({}, 1, 900000)) end",
    // the system
    "local f = io.open('/dev/zero') while true do f:read(1 << 20) end",
    "while true do for l in io.lines('/dev/zero', 1 << 16) do end end",
    "local f = io.open('/dev/zero') while true do f:read('n') f:read(0) end",
    "local f = io.open('/dev/null', 'w') while true do f:write('x', 1, 2.5) end",
    "local f = io.open('/dev/null', 'w') f:setvbuf('no') while true do f:write(a(1e6)) f:flush() \
     f:seek('set') end",
    "while true do io.open('/dev/null'):close() end",
    "while true do io.open('/dev/null') end",
    "while true do os.date('%c', 0) os.time() os.clock() os.getenv('HOME') end",
    "while true do os.date(rep('%c', 1e5 // 1 | 0), 0) end",
    "io.popen([[yes '']]):read('n') spin()",
    // sources and binaries
    "local s = rep('x = 1 ', 1e5 // 1 | 0) while true do load(s) end",
    "local s = rep('local function f() return f end ', 100) while true do load(s)() end",
    "local s = 'return ' .. rep('1 .. ', 1e5 // 1 | 0) .. '1' while true do load(s) end",
    "local s = string.dump(assert(load(rep('x = 1 ', 1e4 // 1 | 0)))) \
     while true do load(s, '', 'b') end",
    "local f = assert(load(rep('x = 1 ', 1e4 // 1 | 0))) while true do string.dump(f) end",
    "while true do loadfile('/dev/zero') end",
    "while true do load('--' .. a(2e7)) end",
    "while true do load('--[[' .. a(2e7)) end",
    "while true do load(rep(' ', 2e7 // 1 | 0)) end",
    "while true do load(rep('\\n', 2e7 // 1 | 0)) end",
    "while true do load(rep(';', 1e7 // 1 | 0)) end",
    "while true do load(rep('--\\n', 7e6 // 1 | 0)) end",
    "while true do load('return [[' .. a(2e7) .. ']]') end",
    "while true do load('return [[' .. rep('\\n', 2e7 // 1 | 0) .. ']]') end",
    "while true do load('return [[' .. rep(']', 2e7 // 1 | 0) .. ']]') end",
    "while true do load('return \"' .. a(2e7) .. '\"') end",
    "while true do load('return \"' .. rep('\\\\n', 1e7 // 1 | 0) .. '\"') end",
    "while true do load('return \"\\\\z' .. rep(' ', 2e7 // 1 | 0) .. '\"') end",
    "while true do load('return ' .. rep('9', 2e7 // 1 | 0)) end",
    "while true do load('return 0x' .. rep('f', 2e7 // 1 | 0)) end",
    "while true do load(a(2e7)) end",
    "while true do load('return {' .. rep('1,', 2e6 // 1 | 0) .. '}') end",
];

/// Scripts that run forever on large data. The first part of each creates the data, without limits.
pub(crate) const LARGE: &[(&str, &str)] = &[
    ("t = {} for i = 1, N do t[i] = { i } end", "while true do collectgarbage() end"),
    (
        "t = {} for i = 1, N do t[i] = { i } end",
        "while true do collectgarbage('step', 1 << 30) end",
    ),
    (
        "t = {} for i = 1, N do t[i] = { i } end",
        "collectgarbage('generational') while true do collectgarbage('step') end",
    ),
    (
        "t = {} for i = 1, N do t[i] = { i } end collectgarbage('generational')",
        "while true do t[#t + 1] = {} collectgarbage() end",
    ),
    ("t = {} for i = 1, N do t[i] = { i } end", "t = nil while true do collectgarbage() end"),
    ("t = nil for i = 1, N do t = { t } end", "while true do collectgarbage() end"),
    ("t = {} for i = 1, N do t['k' .. i] = i end", "while true do collectgarbage() end"),
    ("t = {} for i = 1, N do t['k' .. i] = i end", "t = nil while true do collectgarbage() end"),
    (
        "t = setmetatable({}, { __mode = 'k' }) k = {} for i = 1, N // 2 do k[i] = {} \
         t[k[i]] = { i } end",
        "while true do collectgarbage() end",
    ),
    (
        "t = setmetatable({}, { __mode = 'k' }) local k = {} for i = 1, N // 2 do local n = {} \
         t[k] = n k = n end",
        "while true do collectgarbage() end",
    ),
    (
        "t = {} k = {} for i = 1, N // 10 do t[i] = setmetatable({}, { __mode = 'k' }) \
         k[i] = {} end for i = 1, #t - 1 do t[i][k[i]] = k[i + 1] end local first = k[1] k = first",
        "while true do collectgarbage() end",
    ),
    (
        "t = setmetatable({}, { __mode = 'v' }) for i = 1, N do t[i] = { i } end",
        "while true do collectgarbage() end",
    ),
    (
        "t = setmetatable({}, { __mode = 'kv' }) k = {} for i = 1, N // 2 do k[i] = {} \
         t[k[i]] = k[i] end",
        "while true do collectgarbage() end",
    ),
    (
        "t = {} local m = { __gc = function() end } for i = 1, N // 2 do t[i] = setmetatable({}, \
         m) end",
        "while true do collectgarbage() end",
    ),
    (
        "t = {} local m = { __gc = function() end } for i = 1, N // 2 do t[i] = setmetatable({}, \
         m) end",
        "t = nil while true do collectgarbage() end",
    ),
    (
        "t = {} for i = 1, N // 20 do t[i] = wrap(function() yield() end) t[i]() end",
        "while true do collectgarbage() end",
    ),
    (
        "t = {} for i = 1, N // 20 do t[i] = wrap(function() yield() end) t[i]() end",
        "t = nil while true do collectgarbage() end",
    ),
    (
        "t = {} for i = 1, N // 50 do t[i] = load('local a = ... return a.x') end",
        "while true do collectgarbage() end",
    ),
    (
        "t = {} for i = 1, N do local x = i t[i] = function() return x end end",
        "while true do collectgarbage() end",
    ),
    (
        "t = {} for i = 1, 30 do t[i] = rep('x', N) end",
        "t = nil while true do collectgarbage() end",
    ),
    ("t = {} for i = 1, N do t[i] = {} end", "for i = 1, #t do t[i].x = i end spin()"),
    (
        "t = {} for i = 1, N do t[i] = (i * 7919) % N end",
        "while true do sort(t, function(x, y) return x < y end) end",
    ),
    (
        "t = {} for i = 1, N do t[i] = 'k' .. (i * 7919) % N end",
        "while true do sort(t) concat(t, ', ') end",
    ),
    ("t = {} for i = 1, N do t[i] = i * 7919 % N + 0.5 end", "while true do sort(t) end"),
    (
        "t = {} for i = 1, N do t[i] = i end",
        "while true do table.insert(t, 1, 0) table.remove(t, 1) table.move(t, 1, #t, 2) end",
    ),
    (
        "t = {} for i = 1, N do t['k' .. i] = i end for k in pairs(t) do t[k] = nil end",
        "while true do next(t) end",
    ),
    (
        "s = rep('x', 30 * N)",
        "while true do local u = s .. 'y' if u == s or u < s then break end end",
    ),
];

/// Scripts that run forever and catch errors, so that an error that is raised once does not stop
/// them.
pub(crate) const CATCHING: &[&str] = &[
    "with('__gc', spin) collectgarbage()",
    "with('__gc', spin) while true do local t = {} end",
    "local function again() with('__gc', again) end again() while true do collectgarbage() end",
    "while true do with('__gc', function() end) end",
    "while true do local co = coroutine.create(function() local c <close> = with('__close', \
     function() end) yield() end) coroutine.resume(co) coroutine.close(co) end",
    "local co = coroutine.create(function() local c <close> = with('__close', spin) yield() end) \
     coroutine.resume(co) coroutine.close(co)",
    "local f = rep('b', 1e6 // 1 | 0) while true do pcall(string.unpack, f, a(1e6)) end",
    "local f = rep('i16', 1e5 // 1 | 0) while true do pcall(string.packsize, f) end",
    "while true do local t = {} for i = 1, 1000 do t[i] = i end pcall(sort, t, function() \
     return math.random() < 0.5 end) end",
    "while true do local t = {} for i = 1, 1000 do t[i] = i end pcall(sort, t, function() \
     return true end) end",
    "while true do pcall(error) end",
    "while true do pcall(spin) end",
    "while true do pcall(pcall, spin) end",
    "while true do xpcall(spin, function(e) return e end) end",
    "while true do xpcall(spin, spin) end",
    "local function f() pcall(spin) return f() end f()",
    "local function f() while true do pcall(f) end end f()",
    "local function f(n) pcall(f, n + 1) pcall(f, n + 1) end while true do f(1) end",
    "while true do wrap(function() pcall(spin) end)() end",
    "while true do coroutine.resume(coroutine.create(spin)) end",
    "while true do coroutine.resume(coroutine.create(function() \
     while true do pcall(spin) end end)) end",
    "while true do local co = coroutine.create(function() pcall(yield) spin() end) \
     coroutine.resume(co) coroutine.resume(co) coroutine.close(co) end",
    "while true do pcall(find, a(1e5), '.-.-.-.-x') end",
    "while true do pcall(gsub, a(1e5), '.', function() pcall(spin) end) end",
    "while true do pcall(sort, { 1, 2, 3 }, function() pcall(spin) end) end",
    "while true do pcall(rep, 'x', 1 << 40) end",
    "while true do pcall(rep, 'x', 1 << 26) end",
    "while true do pcall(load, spin) end",
    "while true do pcall(function() local c <close> = with('__close', spin) spin() end) end",
    "while true do pcall(function() for i = 1, 10 do local c <close> = with('__close', function() \
     pcall(spin) end) error() end end) end",
    "while true do pcall(error, with('__tostring', spin)) pcall(tostring, with('__tostring', \
     spin)) end",
    "while true do with('__gc', spin) pcall(collectgarbage) end",
    "with('__gc', function() while true do pcall(spin) end end) \
     while true do pcall(collectgarbage) end",
    "local t = with('__index', function(t, k) return t[k] end) while true do pcall(function() \
     return t.x end) end",
    "local t = setmetatable({}, {}) getmetatable(t).__newindex = function(t, k, v) t[k] = v end \
     while true do pcall(function() t.x = 1 end) end",
    "local t = with('__tostring', tostring) while true do pcall(tostring, t) end",
    "local function f() return f() + 1 end while true do pcall(f) end",
    "local function f() return 1 + f() end while true do pcall(wrap(f)) end",
    "while true do xpcall(error, function() error() end) end",
    "local function h(e) return h(e) + 1 end while true do xpcall(error, h) end",
    "while true do pcall(load, rep('(', 1000)) pcall(load, rep('{', 1000)) \
     pcall(load, 'x = ' .. rep('-', 1000)) end",
    "local function deep(n) return wrap(function() deep(n + 1) end)() end \
     while true do pcall(deep, 1) end",
    "while true do pcall(string.dump, print) pcall(load, string.dump(spin), '', 'b') \
     pcall(load, '\\27Lua', '', 'b') end",
    "local s = string.dump(function(a) local t = { a } return t.x end) \
     while true do for i = 1, #s do pcall(load, s:sub(1, i), '', 'b') end end",
    "while true do pcall(setmetatable, 1) pcall(next, {}, 1) pcall(select, 0) end",
    "local t = {} while true do pcall(function() while true do t = { t } end end) t = {} end",
    "while true do with('__gc', function() wrap(spin)() end) collectgarbage() end",
    "while true do with('__gc', function() while true do pcall(spin) end end) collectgarbage() end",
    "with('__gc', function() while true do wrap(function() pcall(spin) end)() end end) \
     collectgarbage() spin()",
    "while true do local co = wrap(function() local c <close> = with('__close', function() \
     while true do pcall(spin) end end) error() end) pcall(co) end",
    "local co = coroutine.create(function() local a <close>, b = with('__close', function() \
     while true do pcall(spin) end end) yield() end) coroutine.resume(co) \
     while true do pcall(coroutine.close, co) end",
    "while true do local co = coroutine.create(function() \
     for i = 1, 100 do local c <close> = with('__close', error) yield() end end) \
     coroutine.resume(co) coroutine.close(co) end",
    "while true do pcall(error, setmetatable({}, { __tostring = function(e) \
     return tostring(e) end })) end",
    "while true do xpcall(error, function(e) return xpcall(spin, function() spin() end) end) end",
    "local function h() return xpcall(error, h) end while true do h() end",
    "while true do xpcall(function() local x = nil + 1 end, debug.traceback) end",
    "while true do pcall(load, 'return {' .. rep('{},', 1e6 // 1 | 0) .. '}') end",
    "while true do pcall(load, 'return {' .. rep('1,', 2e5 // 1 | 0) .. '}') end",
    "while true do pcall(load, rep('x = { y = { z = 1 } } ', 1e5 // 1 | 0)) end",
    "while true do pcall(table.move, { 1 }, 1, 1 << 40, 1 << 41) end",
    "while true do pcall(io.lines, '/dev/zero', 'n') pcall(io.open, '/nowhere') \
     pcall(io.lines, '/nowhere') end",
    "while true do pcall(io.lines('/dev/zero')) end",
    "while true do pcall(require, 'x' .. math.random(1e9 // 1 | 0)) end",
    "local t = setmetatable({}, {}) getmetatable(t).__lt = function() pcall(spin) return true end \
     while true do pcall(sort, { t, t, t }) end",
    "while true do pcall(string.format, rep('%99.99f', 1000), unpack({}, 1, 1000)) \
     pcall(format, '%1000d', 1) end",
    "debug.sethook(function() debug.sethook() while true do pcall(spin) end end, 'l') \
     local x = 1\nx = 2",
    "local function f() local c <close> = with('__close', function() f() end) return f() end f()",
    "local o = setmetatable({}, {}) local function f() local c <close> = o f() end \
     getmetatable(o).__close = function() f() end f()",
    "local function f() local a <close> = with('__close', function() end) \
     local b <close> = with('__close', function() pcall(spin) end) error('e') end f()",
    "local co = coroutine.create(function() local a <close> = with('__close', function() end) \
     local b <close> = with('__close', function() pcall(spin) end) yield() end) \
     coroutine.resume(co) error(select(2, coroutine.close(co)))",
    "local m = {} local function f() local a <close>, b = setmetatable({}, m), 1 f() end \
     m.__close = function() f() f() end f()",
    "local m = {} local function f() for i = 1, 3 do local a <close> = setmetatable({}, m) f() end \
     end m.__close = function() f() end f()",
    "local f f = function() for _ in function() return 1 end, nil, nil, \
     with('__close', function() f() end) do f() end end f()",
    "local function f() local c <close> = with('__close', function() f() end) return f() end \
     while true do coroutine.close(coroutine.create(f)) pcall(wrap(f)) end",
];

/// Scripts that use more and more memory.
pub(crate) const GROWING: &[&str] = &[
    // tables
    "local t = {} while true do t[#t + 1] = {} end",
    "local t = {} while true do t = { t } end",
    "local t = {} for i = 1, math.huge do t[i] = i end",
    "local t = {} for i = 1, math.maxinteger do t[i] = i end",
    "local t = {} for i = 1, math.maxinteger do t[i] = i + 0.5 end",
    "local t = {} for i = 1, math.maxinteger do t[-i] = i end",
    "local t = {} for i = 1, math.maxinteger do t[i + 0.5] = i end",
    "local t = {} for i = 1, math.maxinteger do t['k' .. i] = i end",
    "local t = {} while true do t[{}] = true end",
    "local t = setmetatable({}, { __mode = 'v' }) local keep = {} \
     while true do keep[#keep + 1] = {} t[#t + 1] = keep[#keep] end",
    "for i = 1, math.maxinteger do _G['global' .. i] = i end",
    "local t = {} for i = 1, math.maxinteger do t[i] = { x = i, y = i, z = { i } } end",
    "local t = {} for i in function() return 1 end do table.insert(t, { x = 1, y = 2 }) end",
    "local t = setmetatable({}, { __index = function(t, k) t[k] = {} return t[k] end }) \
     for i = 1, math.huge do t[i].x = i end",
    "local t = {} for i = 1, math.maxinteger do t[i] = setmetatable({}, { __index = t }) end",
    "local t = {} for i = 1, math.maxinteger do t[i] = load('return { f' .. i .. ' = 1 }')() end",
    "local t = {} for i = 1, math.maxinteger do t[i] = {} \
     for k = 1, 20 do t[i]['f' .. i * k] = k end end",
    "local t = {} while true do t[#t + 1] = table.pack(unpack({}, 1, 1000)) end",
    "local t = {} while true do t[#t + 1] = table.move({ 1, 2, 3, 4, 5, 6, 7, 8 }, 1, 8, 1, {}) \
     end",
    "local t = {} t[1 << 25] = 1 for i = 1, 1 << 30 do t[i] = 1 end",
    // strings
    "local s = 'x' while true do s = s .. s end",
    "local s = 'x' while true do s = rep(s, 10) end",
    "local s = 'x' while true do s = gsub(s, '.', '%0%0') end",
    "local s = 'x' while true do s = gsub(s, '.', { x = 'xxxxxxxx' }) end",
    "local s = 'x' while true do s = gsub(s, '', 'yy') end",
    "local s = 'x' while true do s = format('%s%s', s, s) end",
    "local s = 'x' while true do s = format('%q', s .. '\\0' .. s) end",
    "local s = 'x' while true do s = concat({ s, s }, s) end",
    "local s = 'x' while true do s = string.pack('s8s8', s, s) end",
    "rep('x', 1 << 30)",
    "rep('x', 1 << 20, a(1000))",
    "local s = '' while true do s = s .. a(1e6) end",
    "local s = a(1e6) local t = {} while true do t[#t + 1] = s:sub(1, -1 - #t) end",
    "local s = a(1e6) local t = {} while true do t[#t + 1] = s:upper():sub(#t + 2) end",
    "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
    "local t = {} while true do t[#t + 1] = tostring({}) end",
    "local t, gaps = {} while true do for i = 1, 10 do gaps = { i, i, i, i } end \
     t[#t + 1] = tostring(#t) end",
    "local t = {} while true do t[#t + 1] = utf8.char(#t % 60000 + 1):rep(50) end",
    "concat(lies(1 << 40, a(1e5)))",
    "concat({ 'x', 'y' }, a(1e7)) concat(lies(100, 'x'), a(1e6))",
    "local t = {} for i = 1, 1e5 do t[i] = a(1e4) end return concat(t)",
    // functions, coroutines, code
    "local t, n = {}, 0 while true do n = n + 1 t[n] = function() return n end end",
    "local t = {} while true do local x = {} t[#t + 1] = function() return x end end",
    "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
    "local t = {} while true do t[#t + 1] = wrap(function() yield() end) t[#t]() end",
    "local t = {} while true do t[#t + 1] = load('local a, b = 1, {} return function() \
     return a, b end') end",
    "local t = {} for i = 1, math.maxinteger do t[i] = load('return ' .. i .. ', \
     \"text ' .. i .. '\"') end",
    "local t = {} while true do t[#t + 1] = string.dump(load('return 1')) .. #t end",
    "assert(load(function() return 'x = 1 ' end))",
    "assert(load('return {' .. rep('{},', 1e7 // 1 | 0) .. '}'))",
    "local t = {} for i = 1, 1e6 do t[i] = 'x' .. i .. ' = 1' end return load(concat(t, ' '))",
    "local function f(n, ...) local t = { ... } return f(n + 1, n, ...), t end f(1)",
    "local function f(n) local t = {} for i = 1, 1000 do t[i] = n end return f(n + 1), t end f(1)",
    "local t = {} while true do t[#t + 1] = with('__gc', function() end) end",
    "local function f() local c <close> = with('__close', function() end) local t = {} \
     for i = 1, 1e4 do t[i] = i end return (f()) end f()",
    "local keep = {} local function again() local g = with('__gc', again) \
     keep[#keep + 1] = { g } end while true do again() end",
    "local t = {} while true do pcall(error, t) t[#t + 1] = { pcall(error, { t }) } end",
    "local t = {} for w in gmatch(a(1e7), '.') do t[#t + 1] = { w } end",
    "while true do require = { require } package.loaded[#package.loaded + 1] = {} end",
    "local t = table.move(with('__index', rawlen), 1, 1 << 60, 1, {})",
    "local t = table.move(with('__index', rawlen), 1, 1 << 60, -1 << 60, {})",
    "local t = {} for i = 1, math.huge do rawset(t, -i, i) end",
    "local t = {} for i = 1, math.huge do rawset(t, i, i) end",
    "local t = {} for i = 1, 1 << 20 do t[i] = i end t.x = 1 for i = 1, 1 << 20 do t[i] = 'x' end \
     for i = 1, math.huge do t[-i] = i end",
    "local t = {} while true do t[#t + 1] = { unpack({}, 1, 250) } t[#t] = { unpack(t, 1, \
     250) } end",
    "local t = {} for i = 1, math.huge do t[i] = { unpack(t) } end",
    "local s = a(1e6) local t = {} while true do t[#t + 1] = s .. #t end",
    "local s = a(1e6) local t = {} while true do t[#t + 1] = s:sub(2, -#t) end",
    "local s = a(1e6) local t = {} while true do t[#t + 1] = s:match('^(.-)$', #t) end",
    "local s = a(1e6) local t = {} while true do t[#t + 1] = gsub(s, 'a', 'b') end",
    "local s = a(1e6) local t = {} while true do t[#t + 1] = format('%s%d', s, #t) end",
    "local s = a(1e6) local t = {} while true do t[#t + 1] = string.unpack('z', s .. '\0') end",
    "local s = assert(load(rep('x = 1 ', 1e4 // 1 | 0))) local t = {} \
     while true do t[#t + 1] = string.dump(s) end",
    "format(rep('%s', 250), unpack(lies(1, a(1e6)), 1, 250))",
    "gsub(a(1e6), '.', a(1e3))",
    "gsub(a(1e6), '.', function() return a(1e5) end)",
    "gsub(a(1e6), '.', { a = a(1e4) })",
    "string.pack(rep('s', 200), unpack(lies(1, a(1e6)), 1, 200))",
    "assert(io.lines('/dev/zero'))()",
    "io.open('/dev/zero'):read('a')",
    "io.open('/dev/zero'):read(1 << 38)",
    "assert(loadfile('/dev/zero'))",
    "local t = {} while true do t[#t + 1] = io.open('/dev/zero'):read(1 << 16) end",
    "local t = {} while true do t[#t + 1] = debug.traceback(a(1e4)) end",
    "local t = {} while true do local ok, e = pcall(error, a(1e4) .. #t) t[#t + 1] = e end",
    "local function f(...) return f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, ...) end f()",
    "local function f(...) return 1, f(...) end f(unpack({}, 1, 200))",
    "local function f() local t = { f } return wrap(function() return f() end)(), t end f()",
    "local t = {} while true do local co = coroutine.create(function() \
     local x <close> = with('__close', spin) yield(a(1e4)) end) coroutine.resume(co) \
     t[#t + 1] = co end",
    "while true do local co = wrap(function(...) yield(...) end) co(unpack({}, 1, 1e5 // 1 | 0)) \
     package[#package + 1] = co end",
];

/// Scripts that end by themselves, with or without an error, although they are unusual.
pub(crate) const ODD: &[&str] = &[
    // depth of the source
    "load(rep('(', 1e6 // 1 | 0))",
    "load('return ' .. rep('{', 1e6 // 1 | 0))",
    "load('return ' .. rep('-', 1e6 // 1 | 0) .. '1')",
    "load('return ' .. rep('not ', 1e5 // 1 | 0) .. '1')",
    "load('return ' .. rep('1 .. ', 1e5 // 1 | 0) .. '1')",
    "load('return ' .. rep('1 + ', 1e5 // 1 | 0) .. '1')",
    "load('return ' .. rep('1 ^ ', 1e5 // 1 | 0) .. '1')",
    "load('return ' .. rep('a.', 1e5 // 1 | 0) .. 'a')",
    "load('return a' .. rep('()', 1e5 // 1 | 0))",
    "load('return a' .. rep('[1]', 1e5 // 1 | 0))",
    "load(rep('do ', 1e5 // 1 | 0))",
    "load(rep('if x then ', 1e5 // 1 | 0))",
    "load(rep('function f() ', 1e5 // 1 | 0))",
    "load(rep('while true do ', 1e5 // 1 | 0))",
    "load('local a ' .. rep('; local a', 1000))",
    "load('goto x ' .. rep('goto x ', 1e4 // 1 | 0) .. ' ::x::')",
    "load('x = [' .. rep('=', 1e6 // 1 | 0) .. '[')",
    "load('x = \"' .. a(1e6) .. '\"')",
    "load('x = ' .. rep('9', 1e6 // 1 | 0))",
    "load('return ' .. rep('function() return ', 190) .. '1' .. rep(' end', 190))()",
    // depth of data and of calls
    "local t = {} for i = 1, 1e6 do t = { t } end t = nil collectgarbage()",
    "local t for i = 1, 3e5 do t = setmetatable({}, { __index = t }) end return t.x",
    "local t = {} for i = 1, 1e5 do t = setmetatable({}, { __newindex = t }) end t.x = 1",
    "local t for i = 1, 1e5 do t = wrap(function() return t end) end collectgarbage()",
    "local f = function() end for i = 1, 1e5 do local g = f f = function() return g() end end f()",
    "local function f() return f() + 1 end f()",
    "local function f(n) return wrap(function() return f(n + 1) end)() end f(1)",
    "local function f(s) return gsub(s, '.', f) end f('x')",
    "local function f() return sort({ 1, 2, 3 }, f) end f()",
    "local t = with('__tostring', tostring) tostring(t)",
    "local t = {} setmetatable(t, { __index = t }) return t.x",
    "local t = {} setmetatable(t, { __call = t }) t()",
    "local t = setmetatable({}, {}) for i = 1, 1000 do t = setmetatable({}, { __call = t }) end \
     t()",
    "local function f() return pcall(f) end f()",
    "local function f() return select(2, pcall(f)) end f()",
    "local function f(e) return xpcall(error, f) end f()",
    "local function f() return load(function() return f() end) end f()",
    "local function f() local c <close> = with('__close', f) end f()",
    "local function f() local c <close> = with('__close', function() error(f) end) error() end f()",
    "local co co = coroutine.create(function() return coroutine.resume(co) end) \
     return coroutine.resume(co)",
    "local co co = wrap(function() return pcall(co) end) return co()",
    "local co co = coroutine.create(function() coroutine.close(co) end) coroutine.resume(co)",
    "string.format('%s', with('__tostring', function() return 1 end))",
    // errors in handlers
    "error(with('__tostring', error))",
    "error(with('__tostring', function() return {} end))",
    "error(setmetatable({}, { __name = a(1e6) }))",
    "xpcall(error, function() error() end)",
    "xpcall(error, error, error, error)",
    "xpcall(function() local x = nil + 1 end, function(e) return e + 1 end)",
    "with('__gc', error) collectgarbage()",
    "with('__gc', function(self) setmetatable(self, getmetatable(self)) error(self) end) \
     collectgarbage() collectgarbage()",
    "with('__close', 1) local c <close> = with('__close', error)",
    // ranges
    "unpack({}, 1, 1e8)",
    "unpack({}, math.mininteger, math.maxinteger)",
    "return #{ unpack({}, 1, 2e5) }",
    "return select('#', unpack({}, 1, 9e5))",
    "concat({}, 'x', 1, 1e8)",
    "string.byte(a(1e7), 1, -1)",
    "string.char(unpack(lies(1, 97), 1, 2e5))",
    "rep('x', math.maxinteger)",
    "rep('x', 1 << 62, 'y')",
    "rep('', math.maxinteger)",
    "rep('', math.maxinteger, '')",
    "format(rep('%s', 300), 1)",
    "format('%' .. rep('0', 1e6 // 1 | 0) .. 'd', 1)",
    "format('%99.99d', 1) format('%100d', 1)",
    "string.pack('i17', 1)",
    "string.pack(rep('s', 1e6 // 1 | 0), a(10))",
    "string.unpack('s8', '\\255\\255\\255\\255\\255\\255\\255\\127')",
    "find('x', rep('(', 1e6 // 1 | 0))",
    "find('x', rep('[', 1e6 // 1 | 0))",
    "find('x', rep('x-', 1e5 // 1 | 0))",
    "find(a(1e6), rep('a?', 1e5 // 1 | 0))",
    "find('x', '%')",
    "gsub('x', 'x', rep('%1', 1e5 // 1 | 0))",
    "math.random(math.mininteger, math.maxinteger) math.random(0)",
    "for i = math.maxinteger - 1, math.maxinteger do end for i = math.mininteger + 1, \
     math.mininteger, -1 do end",
    "for i = 1, 10, 0 do end",
    "utf8.char(1 << 31)",
    "utf8.codepoint(a(1e6), 1, -1)",
    "local t = table.pack(unpack({}, 1, 250)) t.n = 1 << 40 return unpack(t, 1, t.n)",
    "table.insert({}, math.maxinteger, 1) ",
    "table.move({ 1, 2 }, math.mininteger, math.maxinteger, 1)",
    "sort(lies(1 << 40, 1))",
    "sort({ 3, 1, 2, 0 / 0, 5, 0 / 0, 1 })",
    "sort({ 3, 'x', 1 })",
];
