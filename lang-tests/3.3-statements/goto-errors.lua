-- What goto and labels may not do (3.3.4).
-- expect: ok
--| s:1: no visible label 'nowhere' for <goto> at line 1
--| s:1: no visible label 'l' for <goto> at line 1
--| s:1: no visible label 'l' for <goto> at line 1
--| s:1: <goto l> at line 1 jumps into the scope of local 'a'
--| accepted
--| accepted
--| accepted
--| accepted
--| s:1: label 'l' already defined on line 1
--| s:1: label 'l' already defined on line 1
--| accepted
--| accepted
--| s:1: no visible label 'l' for <goto> at line 1
--| s:1: no visible label 'l' for <goto> at line 1
--| s:1: <goto c> at line 1 jumps into the scope of local 'y'
--| s:1: <goto c> at line 1 jumps into the scope of local 'y'
--| s:1: <name> expected near '='
--| s:1: <name> expected near '5'
--| s:1: <name> expected near '5'
--| s:1: '::' expected near <eof>
--| s:1: <goto l> at line 1 jumps into the scope of local 'f'
--| s:5: no visible label 'missing' for <goto> at line 3
--| accepted
--| s:1: no visible label 'l1' for <goto> at line 1

local function try(s) local f, m = load(s, "=s"); print(m or "accepted") end
try("goto nowhere")
try("do ::l:: end goto l")
try("goto l; do ::l:: end")
try("goto l; local a; ::l:: print(a)")
try("goto l; local a; ::l::")
try("do goto l; local a; ::l:: end")
try("goto l; local a; ::l:: ; ;")
try("goto l; local a; ::l:: ::m::")
try("::l:: ::l::")
try("::l:: do ::l:: end")
try("do ::l:: end ::l::")
try("::l:: function f() ::l:: end")
try("function f() goto l end ::l::")
try("::l:: function f() goto l end")
try("repeat if x then goto c end; local y; ::c:: until y")
try("repeat if x then goto c end; local y; do end ::c:: until true")
try("goto = 1")
try("goto 5")
try(":: 5 ::")
try("::l")
try("goto l; local function f() end ::l:: f()")
try("\n\ngoto missing\n\n")
try("for i = 1, 2 do goto c; local x; ::c:: end")
try("goto l1; do local a; ::l1:: end")
