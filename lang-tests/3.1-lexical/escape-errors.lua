-- Malformed escapes and strings, with the text the message quotes (3.1).
-- expect: ok
--| s:1: invalid escape sequence near '"\q'
--| s:1: hexadecimal digit expected near '"\xg'
--| s:1: hexadecimal digit expected near '"\x1"'
--| s:1: decimal escape too large near '"\256"'
--| s:1: decimal escape too large near '"\300a'
--| s:1: missing '{' near '"\u4'
--| s:1: hexadecimal digit expected near '"\u{}'
--| s:1: hexadecimal digit expected near '"\u{z'
--| s:1: missing '}' near '"\u{41"'
--| s:1: UTF-8 value too large near '"\u{80000000'
--| s:1: unfinished string near <eof>
--| s:1: unfinished string near '"unfinished'
--| s:1: unfinished string near <eof>
--| s:2: unfinished string near <eof>
--| s:1: unfinished long string (starting at line 1) near <eof>
--| s:3: unfinished long string (starting at line 1) near <eof>
--| s:3: unfinished long comment (starting at line 1) near <eof>
--| s:1: invalid long string delimiter near '[='
--| s:1: unfinished string near <eof>
--| s:1: unfinished string near <eof>

local function try(s) print(select(2, load(s, "=s"))) end
try([[x = "\q"]])
try([[x = "\xg0"]])
try([[x = "\x1"]])
try([[x = "\256"]])
try([[x = "\300abc"]])
try([[x = "\u41"]])
try([[x = "\u{}"]])
try([[x = "\u{zz}"]])
try([[x = "\u{41"]])
try([[x = "\u{80000000}"]])
try([[x = "unfinished]])
try("x = \"unfinished\ny = 1")
try("x = 'unfinished \\")
try("x = 'a\\\nb")
try("x = [[unfinished")
try("x = [==[unfinished]=]\n\n")
try("--[[ unfinished comment\n\n")
try("x = [=unfinished")
try([[x = "\]])
try("x = 'ok' 'not ok\\z   ")
