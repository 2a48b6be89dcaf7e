//! Templates of functions that run hot: what machine code is made for, and what then turns out otherwise.
//!
//! `«a¦b¦c»` stands for one of the texts between the bars; all else is as in [`crate::generate`]. Loops have fixed bounds and renew the budget at
//! each turn; `V` is a list of values whose types change as the loop goes on, `v` is the value of the turn.

/// The beginning of every hot function: values that change their type from one stretch of the loop to the next.
pub(crate) const HEAD: &str = "R() P(pcall(function(...)
local V = {«1¦0¦7¦-3¦math.maxinteger¦math.mininteger», «2¦2.5¦-0.0¦1e300¦2^53¦0/0», «'3'¦'x'¦'0x10'¦3¦true¦nil», «4¦-1.5¦{}¦'4.0'¦math.huge¦5», «1¦1.0¦'1'»}
local M = {__index = function(t, k) return «k¦#k¦nil¦1¦rawget(t, 1)» end, __add = function(a, b) return «1¦2.5¦'s'¦a» end, __lt = function(a, b) return «true¦nil¦1¦false» end,
 __le = function(a, b) return «false¦0» end, __eq = function() return «true¦nil¦1» end, __concat = function(a, b) return «'cat'¦1¦{}» end, __len = function() return «3¦'len'¦nil» end,
 __call = function(self, ...) return select('#', ...), ... end, __unm = function() return «'neg'¦nil» end, __close = function(o, e) P('close', A(e)) end, __name = 'Hot'}
local acc, x, y, s, t, o, LAST, log = «0¦1¦0.0», «1¦0.5¦-2», «3¦1e15¦7.25», «'abc'¦'10'¦''», {«1, 2, 3,¦¦1.5, 2.5,¦'a', 1, 2,¦10, 20.5, 30,» n = 5}, {x = 1, y = «2¦2.5¦'2'»}, «24¦40¦40¦70¦130», {}
local u, w = H(«0¦1¦2», 3), H(«0¦1¦2», 8)
";

/// Its end.
pub(crate) const TAIL: &str = "debug.sethook() P(acc, x, y, K(s), t, o, log) return acc, x, y end«¦, 1¦, nil, 2¦, 1, 2, 3»))\n";

/// Loops around one or more bodies.
pub(crate) const LOOPS: &[&str] = &[
    "for i = 1, LAST do R() local v = V[i // 9 % 5 + 1]\n",
    "for i = 1, LAST do R() local v = V[i // 9 % 5 + 1]\n",
    "for i = 1, LAST do R() local v = V[i % 5 + 1]\n",
    "for i = LAST, 1, «-1¦-2¦-3» do R() local v = V[i // 11 % 5 + 1]\n",
    "for i = 1.0, LAST, «1¦1.5¦0.75» do R() local v = V[i // 9 % 5 // 1 + 1]\n",
    "local i = 0 while i < LAST do R() i = i + 1 local v = V[i // 9 % 5 + 1]\n",
    "for i, u in ipairs(table.move(V, 1, 4, 5, {1, 2, 3, 4})) do R() local v = V[i % 5 + 1]\n",
    "for i in (function(m, c) c = c + 1 if c <= m then return c, c * 2 end end), LAST, 0 do R() local v = V[i // 9 % 5 + 1]\n",
    "for i in coroutine.wrap(function() for i = 1, LAST do coroutine.yield(i) end end) do R() local v = V[i // 9 % 5 + 1]\n",
];

/// Bodies of hot loops. `i` is the turn, `v` a value of changing type.
pub(crate) const BODIES: &[&str] = &[
    // arithmetic and its types
    "acc = acc «+¦-¦*» «v¦i¦x¦1¦2.0¦y¦'2'»",
    "x = x «+¦-¦*¦/» «i¦v¦1¦0.5¦y» y = y «+¦-» «1¦x¦v»",
    "acc = «acc¦i¦v» «//¦%» «i¦v¦-3¦7¦2.5¦(i - 20)¦0¦-1¦0.0»",
    "acc = «acc¦i¦v¦3» «&¦|¦~¦<<¦>>» «i¦v¦7¦1¦64¦-1¦2.0»",
    "acc = acc «+¦-¦*» math.maxinteger x = -x acc = -acc",
    "acc = ~«i¦v¦acc» x = «2¦i¦v¦x» ^ «2¦0.5¦i¦v»",
    "acc = (acc + i * «3¦v¦x») % «1000¦97.5¦-13»",
    "acc = math.tointeger(acc) or 0 acc = acc + (v == v and 1 or 2)",
    "if «v¦acc¦x¦i» «<¦<=¦>¦>=» «v¦3¦2.5¦acc¦x¦i¦'3'» then acc = «acc¦1¦i» else x = «x¦y¦0» end",
    "if «v¦acc¦x¦i¦s¦o» «==¦~=» «v¦3¦2.0¦acc¦x¦'3'¦nil¦true¦'abc'¦o¦0» then acc = «acc¦1¦i» else x = «x¦y¦0» end",
    "P(v «<¦<=» v, «x < y¦i < 3¦3 >= i¦x ~= x»)",
    "acc = «v¦x» and «acc¦i» or «x¦nil¦0» acc = acc or 1",
    "local w = not v acc = w == (v == nil) and i or acc",
    "acc = «'10'¦'0x1p1'¦' 3 '¦'9007199254740993'¦s» «+¦*¦-¦//¦%» «i¦v¦1¦2.5»",
    "s = K(«s¦i¦v¦x» .. «i¦'-'¦x¦v¦1.5» .. «s¦i¦'z'»)",
    "acc = «#s¦S(t) and #t¦#('x'):rep(i)» x = #K(s .. i)",
    "for j = «math.maxinteger - 3, math.maxinteger¦math.mininteger + 2, math.mininteger, -1¦3, 1¦1, 3, v¦1, 2.5¦v, 5¦1, v¦0.1, 0.5, 0.1¦5, 1, -2¦1, math.huge¦-1, -math.huge, -1¦1, 3, 0¦'1', 2¦2^53, 2^53 + 2¦1, 0/0» do acc = j if j > 1e9 or j < -1e9 then log[#log + 1] = j break end if j == 6 or j == -6 then break end end",
    "for j = i, i + 3 do local k = j j = j * 2 acc = (acc + j - k) end",
    // fields
    "o = ({{x = 1, y = 2}, {y = i, x = 4}, {x = '5', z = 1}, setmetatable({}, M), setmetatable({}, {__index = {x = 9, y = i}}), {x = 1.5, y = 2, z = 3}, {y = 1, a = 2, b = 3, x = i}, setmetatable({y = 1}, {__index = setmetatable({}, {__index = {x = 3}})})})[i % «8¦3¦2¦4¦1» + 1] acc = o.x x = o.y",
    "o.x = «i¦v¦nil¦x¦o.y» o.y = «o.x¦i¦v» acc = o.«x¦y¦zz»",
    "o['k' .. i % «3¦40¦200»] = «i¦v¦nil» acc = o.k1 o.k2 = «i¦v»",
    "if i == «9¦20¦33» then setmetatable(o, «M¦{__index = t}¦{__newindex = function(t, k, v) rawset(t, k, i) end}¦{__newindex = t}¦{}») end o.fresh = «i¦nil» acc = o.fresh or o.n",
    "if i == «9¦20¦33» then setmetatable(t, «M¦{__index = function(_, k) return k end}¦{__newindex = function(t, k, v) rawset(t, k, v) end}¦nil») end t[i % 7] = «i¦v¦x» acc = t[«i % 9¦i¦v or 1¦x»]",
    "if i == «12¦21» then setmetatable(o, {__index = function(t, k) if i > 30 then error('late ' .. k) end return k end}) end acc = o.x s = o.missing",
    "rawset(o, 'x', «i¦v») acc = rawget(o, «'x'¦'y'¦i») x = «rawlen(s)¦S(t, true) and rawlen(t)» log[1] = rawequal(«o, o¦t, o¦v, v¦1, 1.0»)",
    "local P2 = setmetatable({}, {__index = o}) P2.z = i acc = P2.x o.x = «i¦nil¦v» acc = P2.x P2.x = 1 acc = P2.x",
    "o = {x = i, «y = v¦[i] = 1¦'a', 'b'¦f = function() return i end» } acc = o.x t.o = o t.o.x = «i¦v¦nil»",
    "local C = {} C.__index = C function C.new(a) return setmetatable({a = a}, C) end function C:get(b) return self.a, b, i end function C:set(b) self.a = b return self end acc = C.new(i):set(v or 0):get() x = select('#', C.new(1):get(1, 2))",
    "o.m = o.m or function(self, a, ...) return self == o, a, ... end s = K(tostring(select(«1¦2¦'#'», o:m(«i, v¦¦i¦1, 2, 3»))))",
    "P(pcall(function() return «v.x¦v.x.y¦v[1]¦o.x.y.z¦v:m()¦o:nope()¦t[nil]¦undefined.x» end))",
    "P(pcall(function() «v.x = 1¦v[1] = 2¦t[nil] = 1¦t[0/0] = 1¦o.x.y = 1¦undefined.x = 1» end))",
    // arrays
    "if S(t) then t[#t + 1] = «i¦v¦x¦1.5¦'s'¦o» if #t > 12 then t = {} end end",
    "if S(t) then table.insert(t, «i¦v or 0¦x») acc = #t if #t > 9 then acc = table.remove(t) x = table.remove(t, 1) end end",
    "if S(t) and #t > 2 then table.insert(t, 2, i) acc = table.remove(t, 3) t[#t] = nil acc = #t end",
    "t = {i, i + 1, «v¦2.5¦nil¦'x'», i} acc = t[1] + t[2] t[3] = «x¦i¦nil¦v» acc = t[3] or t[4]",
    "t = {} for j = 1, «5¦i % 7¦20» do t[j] = «j¦j + 0.5¦v¦j == 4 and 'odd' or j¦{j}» end acc = S(t) and #t x = t[«1¦3¦0¦-1¦2.0»]",
    "t = {10, 20, 30, 40} for k, w in «pairs(t)¦next, t¦ipairs(t)» do t[k] = «nil¦w¦w .. ''¦k» acc = k end acc = next(t) == nil",
    "local sum = 0 for k, w in pairs({a = 1, b = 2, [i] = 3, «[2.5] = 4¦[true] = 5¦9, 8» }) do sum = sum + w end acc = sum",
    "for k, w in pairs(setmetatable({}, {__pairs = function(t) return function(_, k) k = (k or 0) + 1 if k < 4 then return k, v end end, t, nil end})) do acc = k x = w or x end",
    "for k, w in ipairs(setmetatable({1, 2}, {__index = function(t, k) if k < 5 then return k * 10 end end})) do acc = w x = k end",
    "local r = {} for k in pairs({1, 2, 3, x = 1}) do r[#r + 1] = tostring(k) end table.sort(r) s = table.concat(r, ',')",
    "t = {5, 3, i, 1} table.sort(t, «nil¦function(a, b) return a > b end¦function(a, b) if i == 20 then error('cmp') end return a < b end») acc = t[1]",
    "acc = select('#', table.unpack({1, nil, 3}, 1, «3¦i % 4¦0»)) s = table.concat({1, 2.5, 'x'}, «'-'¦''», «1¦2», «3¦2»)",
    // calls
    "local function f(a, b, c) return a, b, c end acc = «f(i)¦f()¦f(i, v, x, y)¦(f(1, 2))¦select('#', f(table.unpack(V, 1, i % 6)))¦#{f(1, 2, 3)}»",
    "local function f(...) local a, b = ... return select('#', ...), a, b, ... end acc = select(«1¦2¦'#'¦-1», f(«i¦¦nil, nil¦i, v, x¦table.unpack(V, 1, 5)»))",
    "local function f(a, ...) if a > 2 then return a, ... end return f(a + 1, a, ...) end acc = select('#', f(«0¦1¦i % 3», «v¦i, x¦nil»))",
    "local function f(k, a) if k < 1 then return a end return f(k - 1, a + k) end acc = f(«50¦i¦200», «0¦0.5»)",
    "local function f(k) if k < 1 then return «0¦v¦{}¦'z'» end return 1 + f(k - 1) end acc = f(i % «6¦30»)",
    "local function f(k) if k < 2 then return k end return f(k - 1) + f(k - 2) end acc = f(«8¦i % 9¦5.0»)",
    "local even, odd function even(k) if k < 1 then return true end return odd(k - 1) end function odd(k) if k < 1 then return false end return even(k - 1) end acc = even(«i¦100») and 1 or 2",
    "local fs = {} for j = 1, 3 do fs[j] = function(d) j = j + d acc = acc == acc and 1 or 0 return i, j end end acc = select(2, fs[i % 3 + 1](1)) x = fs[1](2)",
    "log[1] = function() i = i acc = 1 return acc end x = log[1]() if i > 1 then log[1] = nil end",
    "local a, b = i, v local f = function() a = «b¦a¦nil¦i + 1» return a, b end b = x f() acc = a x = b",
    "acc = setmetatable({}, M)(«i¦¦1, 2, v») x = pcall(v, i)",
    "local f = ({function(a) return a end, math.abs, setmetatable({}, M), 5, print.x, tostring, function() return end, function(...) return ... end})[i % «8¦3¦2» + 1] P(pcall(f, «i¦-1.5»))",
    "local f = ({function(a) return a end, math.abs, function() end, function(...) return ... end, select})[i % «5¦2¦3» + 1] acc = f(«i¦1») x = {f(«1, 2¦i»)} x = S(x) and #x",
    "acc = (function(...) local a <const>, b = ... return a, b end)(i, v) x = (function(...) return ... end)(«1¦2.5¦x»)",
    "acc = (function(...) local t = {...} return #t, ... end)(«1, 2, 3¦1¦i») t = {(function(...) return ... end)(i, v, i)}",
    // errors
    "acc = select(2, pcall(error, «i¦v¦'m'¦{}»)) acc = type(acc) == 'table' and 1 or acc",
    "local ok, m = pcall(function(a) local b = a «+¦..¦<¦&¦//» «v¦{}¦'x'¦nil» return b end, «i¦v¦2.5») log[i % 4 + 1] = A(m)",
    "local ok, m = xpcall(function() local w = i local r = w + «v¦nil¦o¦'a'» return r end, function(m) return (debug.traceback(m):gsub('\\n[^\\n]*harness.*', '')) end) log[i % 4 + 1] = A(m)",
    "local function deep(k) if k < 1 then error('deep' .. i, «0¦1¦2¦3») end local r = deep(k - 1) return r end log[1] = select(2, pcall(deep, i % «4¦3»))",
    "local function deep(k) if k < 1 then local z = nil + i end deep(k - 1) return 1 end log[1] = select(2, xpcall(deep, function(m) return (debug.traceback(m):gsub('\\n[^\\n]*harness.*', '')) end, i % 4))",
    "local function tailed(k) if k < 1 then error('tail') end return tailed(k - 1) end log[1] = select(2, xpcall(tailed, function(m) return (debug.traceback(m):gsub('\\n[^\\n]*harness.*', '')) end, i % 3))",
    "if i == «20¦33¦21» then error(«'stop'¦{}¦nil¦'stop', 2¦i») end",
    "if i == «20¦33¦21» then return «i¦acc, x, v¦...¦(function() return i, v end)()¦» end",
    "if i > «20¦30» then acc = acc «+¦..¦<» «{}¦nil¦print» end",
    "pcall(string.rep) log[1] = select(2, pcall(string.rep, 'x', -i)) log[2] = select(2, pcall(math.floor, v)) log[3] = select(2, pcall(ipairs))",
    "P(select(2, pcall(function() return math.floor(«v¦{}¦nil¦'x'») end)), select(2, pcall(function() return ('x'):rep({}) end)))",
    // to-be-closed variables
    "do local c <close> = setmetatable({}, M) acc = i «if i % 5 == 0 then goto out end¦¦local d <close> = nil¦local d <close> = setmetatable({}, M)» ::out:: end",
    "pcall(function() local c <close> = setmetatable({}, {__close = function(_, e) log[1] = A(e) «¦error('closing', 0)¦acc = i» end}) «return i¦error('body' .. i, 0)¦local d <close> = v¦return (function() return i end)()» end)",
    "for k in next, {1}, nil, setmetatable({}, M) do acc = k «break¦¦if i > 30 then return k end» end",
    "acc = select('#', (function() local c <close> = setmetatable({}, M) return i, v, x end)())",
    "log[1] = select(2, pcall(function() local c <close> = «v¦5» end))",
    // jumps
    "if i % 3 == 0 then goto continue end acc = «i¦v» ::continue::",
    "do local j = 0 ::top:: j = j + 1 local c = function() return j end if j < «4¦i % 6» then goto top end acc = j + c() end",
    "for j = 1, 4 do for k = 1, 4 do if j * k == i % 9 then goto done end acc = k end end ::done::",
    "repeat local q = i acc = q until «q > 0¦v or true¦true»",
    "local j = 0 while true do j = j + 1 if j > i % 5 then break end end acc = j",
    // coroutines
    "local co = coroutine.wrap(function(a) for j = 1, «3¦5» do a = coroutine.yield(«j¦a¦j, a¦») end return 'end' end) acc = co(i) x = co(v) x = co()",
    "local co = coroutine.create(function(...) local r = pcall(function(...) coroutine.yield(...) error('in') end, ...) coroutine.yield(r) for k in (function(_, c) coroutine.yield('it') if not c then return 1 end end) do acc = k end return select('#', ...) end) while coroutine.status(co) ~= 'dead' do log[1] = select(2, coroutine.resume(co, i, v)) end",
    "local co = coroutine.wrap(function() local m = setmetatable({}, {__add = function(a, b) return coroutine.yield(b) end, __index = function(_, k) return coroutine.yield(k) end, __lt = function() return coroutine.yield('lt') end, __concat = function(a, b) return coroutine.yield('cat') end, __call = function(_, a) return coroutine.yield(a) end, __len = function() return coroutine.yield('len') end, __eq = function() return coroutine.yield('eq') end, __close = function() coroutine.yield('close') end}) for j = 1, 3 do local c <close> = m local r = «m + j¦m.key¦m < 3¦m < m¦m .. 'x'¦m(j)¦#m¦m == setmetatable({}, getmetatable(m))» log[j] = r end return 'done' end) for j = 1, 7 do local r = co(«j¦v¦true») s = tostring(r) if r == 'done' then break end end",
    "local co = coroutine.create(function() local c <close> = setmetatable({}, M) for j = 1, 9 do coroutine.yield(j) end end) for j = 1, i % 5 do acc = select(2, coroutine.resume(co)) end P(coroutine.close(co), coroutine.status(co))",
    "local co co = coroutine.wrap(function(k) if k > 0 then local inner = coroutine.wrap(function() coroutine.yield(k) return k * 2 end) inner() coroutine.yield(inner()) end error('dead' .. k) end) log[1] = co(1) log[2] = select(2, pcall(co))",
    // debug
    "log[1] = debug.getinfo(1, 'l').currentline - debug.getinfo(1, 'S').linedefined log[2] = (debug.getlocal(1, 1))",
    "local w = i; (function() local k = 1 while true do local name, val = debug.getlocal(2, k) if not name then break end if name == 'w' then debug.setlocal(2, k, «'set'¦v¦i + 0.5¦nil») end k = k + 1 end end)() acc = w",
    "local up = i local function f() up = up return up end debug.setupvalue(f, 1, «v¦i + 1¦'u'») acc = f() x = up",
    // globals and environments
    "G1 = «i¦v¦nil» acc = G1 G2 = (G2 or 0) + 1 x = G2 «G2 = nil¦¦»",
    "local _ENV = «{G1 = i}¦setmetatable({}, {__index = _G})¦setmetatable({}, {__index = function(_, k) return k end, __newindex = function(e, k, w) rawset(e, k, 1) end})» G1 = i G3 = G1",
    "if i == 20 then setmetatable(_G, {__index = function(_, k) return 'dflt' .. k end}) elseif i == 26 then setmetatable(_G, nil) end acc = undefined",
    // library functions by name, some replaced midway
    "acc = math.«floor¦abs¦ceil¦sqrt¦tointeger¦type¦ult»(«i¦x¦v¦2.5», i) x = math.«max¦min¦fmod»(i, «3¦x¦v¦2.5»)",
    "local floor = math.floor if i == «20¦21» then math.floor = function(a) return 'mine' end end acc = math.floor(«i¦x¦2.5¦v») math.floor = floor",
    "local a1, b1, c1, d1, e1 = string.sub, string.byte, string.len, select, type local old = «string.sub¦string.byte¦string.len¦select¦type¦rawget¦tostring¦table.insert» if i == «20¦21» then string.sub, string.byte, string.len, select, type = old, old, old, select, type end acc = s:sub(i % 4, «-1¦i¦2») string.sub, string.byte, string.len, select, type = a1, b1, c1, d1, e1",
    "s = ('hello world'):sub(i % 12, «i % 9¦-1¦-3¦i») acc = s:byte(«1¦i % 5¦-1¦1, 3») x = #s s = s:upper() .. string.char(65 + i % 26)",
    "acc = select(«i % 3 + 1¦-1¦'#'», «1, 2, 3¦v, i, x¦s, t, o») x = type(«v¦nil¦i»)",
    "acc = tostring(«v¦i¦x¦1e15¦2^63¦nil») acc = A(acc) x = tonumber(«s¦'10'¦v¦'z', 36¦'1e1'»)",
    "s = K(string.format(«'%d %s', i, A(v)¦'%5.1f|%g', i, x¦'%x', i¦'%q', s¦'%d', v»)) acc = s:find(«'1'¦'%d+'¦'', 1, true») x = (s:gsub('%d', «'<%0>'¦function(d) return d + 1 end¦{['1'] = 'one'}»))",
    "for w in ('a1 b2 c3'):gmatch('%a%d') do acc = w s = s:sub(1, 20) .. w:rep(«1¦2») end",
    "acc = utf8 and utf8.char(65 + i % 60) or 0 x = utf8.len(«acc¦'äö'»)",
    "acc = next(«{}¦{i}¦{x = i}») x = table.pack(«i, v¦¦nil»).n",
    "local d = load(string.dump(function(a) local r = 0 for j = 1, 5 do r = r + a end return r end)) acc = d(«i¦x¦v»)",
    "local f = load('local a = ... local r = 0 for j = 1, 9 do r = r + (a or 0) * j end return r') acc = f(«i¦v¦x»)",
    "local a, b, c = «i, v¦(function() return 1, 2, 3 end)()¦...¦v, i, x, y» acc, x = «b, a¦a, c¦c, b» a, b = b, a y = a",
    "acc, t[1], o.x, x = x, acc, i, «o.x¦t[1]¦v»",
    "$B",
    "P($E)",
    "acc = $*",
    "x = $n",
    "o.$F = $* acc = o.$F",
];

/// Further bodies of programs without userdata.
pub(crate) const HOOKED: &[&str] = &[
    "if i == «20¦21» then debug.sethook(function(e, l) acc = «acc¦i» log[1] = l end, «'l'¦'c'¦'r'¦'lcr'») elseif i == «23¦30» then debug.sethook() end",
    "if i == 20 then local c = 0 debug.sethook(function(e, l) c = c + 1 log[1] = e if c > «3¦9» then debug.sethook() «¦error('hooked')» end end, «'l'¦'c'¦'r'») end acc = «i¦math.abs(i)¦#s»",
];

/// Further bodies of programs with userdata, but without hooks: mlua looks some members up by Lua code of its own, which hooks see.
pub(crate) const HOSTED: &[&str] = &[
    "acc = «u¦w»:get() s = «u¦w»:name() «u¦w»:bump()",
    "local h = ({u, w, H(2, i), H(1, i), {get = function() return i end, name = function() return 'table' end}, H(0, i)})[i % «6¦2¦3¦1» + 1] acc = h:get() s = h:name()",
    "acc = «u¦w».«n¦half¦unit» acc = «acc¦u.n¦w.half» or 0",
    "pcall(function() «u¦w».n = «i¦x¦v» end) acc = «u¦w»:get()",
    "acc, x = «u¦w»:same(«i, v¦v¦x¦¦i, x, s») local k = {«u¦w»:same(i, v)} acc = k[1]",
    "if i == «20¦21» then debug.setmetatable(u, {__index = «{get = function() return 'dbg' end, name = function() return 'set' end, bump = type}¦function(_, k) return function() return k end end») elseif i == «23¦30» then debug.setmetatable(u, debug.getmetatable(w)) end s = u:name()",
    "local mt = debug.getmetatable(H(0, 0)) if i == «20¦21» then mt.__index = setmetatable({name = function() return 'mine' end}, {__index = mt.__index}) end acc = H(0, i):name()",
    "log[1] = select(2, pcall(function() return u «+¦-¦..¦<¦<=¦&» «w¦i¦v» end)) log[1] = A(log[1]) acc = u == «w¦u¦v»",
    "log[2] = select(2, pcall(function() return «#u¦-u¦u(i, v)¦u.zz.zz¦u[i]¦#w + 1» end)) log[2] = A(log[2])",
    "local ok = pcall(function() u.zz = i return u.zz end) acc = ok and u.zz or 1",
];
