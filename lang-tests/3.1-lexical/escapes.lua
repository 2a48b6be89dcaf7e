-- Every escape sequence of a short string (3.1).
-- expect: ok
--| 7	8	12	10	13	9	11	92	34	39
--| ABCDE	A1	AJJ
--| 1	1	1	2	10	97
--| single "double" 'single'	double 'single' "double"
--| line one
--| line two
--| skipped spaces	ab	nothing
--| 0	127	194	128	223	191	224	160	128	239	191	191	240	144	128	128	244	143	191	191
--| 253	191	191	191	191	191
--| 248	136	128	128	128	251	191	191	191	191
--| zzz	true	tab	end

print(("\a\b\f\n\r\t\v\\\"\'"):byte(1, -1))
print("\65\066\x43\u{44}\u{0045}", "\0651", "\x41\x4a\x4A")
print(#"\0", #"\00", #"\000", #"\0000", ("\10a"):byte(1, -1))
print('single "double" \'single\'', "double 'single' \"double\"")
print("line one\
line two")
print("skipped \z
       spaces", "a\z b", "nothing\z")
print(("\u{0}\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}"):byte(1, -1))
print(("\u{7FFFFFFF}"):byte(1, -1))
print(("\u{200000}\u{3FFFFFF}"):byte(1, -1))
print("\x7a\122z", "\255" == "\xff", "tab\tend")
