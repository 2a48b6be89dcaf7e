-- A tail call of a library function returns all of its results, and no more.
-- expect: ok
--| 0
--| 0
--| 1	98
--| 0
--| 3	97	98	99
--| 1	
--| 1	
--| 0
--| 0
--| 1	b
--| 1	0
--| 2	nil	nil
--| 3	1	nil	3
--| 1	x
--| 0
--| 0
--| 1	5
--| 1	6
--| 1	nil
--| 1	nil
--| 1	nil
--| 1	nil
--| 1	2
--| 1	8
--| 1	nil
--| 1	0
--| 1	1
--| 1	
--| 1	AB
--| 1	nil
--| 1	true
local function byte(...) return string.byte(...) end
local function sub(...) return string.sub(...) end
local function select_(...) return select(...) end
local function assert_(...) return assert(...) end
local function insert(...) return table.insert(...) end
local function remove(...) return table.remove(...) end
local function rawget_(...) return rawget(...) end
local function tonumber_(...) return tonumber(...) end
local function tointeger(...) return math.tointeger(...) end
local function len(...) return string.len(...) end
local function max(...) return math.max(...) end
local function char(...) return string.char(...) end
local function type_(...) return type(...) end
local function setmeta(...) return setmetatable(...) end
local t = {}
for i = 1, 2000 do
  byte("a") sub("abc", 2) select_(2, i, i) assert_(i) insert(t, i) remove(t) rawget_(t, 1)
  tonumber_(i)
  tointeger(i) len("abc") max(i, 1) char(65) type_(i) setmeta({}, t)
end
local function show(...) print(select("#", ...), ...) end
show(byte("")) show(byte("abc", 4)) show(byte("abc", 2)) show(byte("abc", -4))
show(byte("abc", 1, -1))
show(sub("", 1)) show(sub("abc", 5))
show(select_(1)) show(select_(2, "a")) show(select_(-1, "a", "b")) show(select_("#"))
show(select_(1, nil, nil))
show(assert_(1, nil, 3)) show(assert_("x"))
show(insert(t, 5)) show(insert(t, 1, 6)) show(remove(t)) show(remove(t)) show(remove(t))
show(remove(t, 0))
show(rawget_(t, "none")) show(tonumber_("zz")) show(tonumber_("10", 2)) show(tointeger("8"))
show(tointeger(1.5))
show(len("")) show(max(1)) show(char()) show(char(65, 66)) show(type_(nil))
show(getmetatable(setmeta({}, t)) == t)
