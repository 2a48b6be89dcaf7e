-- Long brackets: levels, the first newline, and no escapes (3.1).
-- expect: ok
--| simple	with ]] inside	with ]=] inside
--| first newline is dropped
--| 1	0	0
--| \n\x41\z no escapes
--| line one
--| line two
--| 	tab
--| [nested	[[x]]
--| 1	1
--| ab	true
--| 97	10	98	10	99	10	100
--| 1	1	2

print([[simple]], [=[with ]] inside]=], [==[with ]=] inside]==])
print([[
first newline is dropped]])
print(#[[

]], #[[
]], #[==[]==])
print([[\n\x41\z no escapes]])
print([[line one
line two
	tab]])
print(([[[nested]]), [=[[[x]]]=])
local t = {}
t[ [[key]] ] = 1
print(t.key, t[ [=[key]=] ])
print([[a]] .. [[b]], #[[]] == 0)
print(load("return [[a\r\nb\rc\n\rd]]")():byte(1, -1))
print(#load("return [[\r\nx]]")(), #load("return [[\n\rx]]")(), #load("return [[\n\nx]]")())
