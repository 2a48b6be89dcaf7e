-- os.date: every conversion, the table, and wrong formats (6.9).
-- expect: ok
--| 0	1970-01-01T00:00:00 Thu Thursday Jan January AM 12 001 4 4 70 19  1 01/01/70 1970-01-01 00:00:00 00:00 12:00:00 AM Jan 
--| 	% 00 00 01 1970 70 01/01/70 00:00:00 Thu Jan  1 00:00:00 1970 GMT +0000
--| 1970	1	1	0	0	0	5	1	false
--| true	false
--| 86399	1970-01-01T23:59:59 Thu Thursday Jan January PM 11 001 4 4 70 19  1 01/01/70 1970-01-01 23:59:59 23:59 11:59:59 PM Jan 
--| 	% 00 00 01 1970 70 01/01/70 23:59:59 Thu Jan  1 23:59:59 1970 GMT +0000
--| 1970	1	1	23	59	59	5	1	false
--| true	false
--| 951782400	2000-02-29T00:00:00 Tue Tuesday Feb February AM 12 060 2 2 00 20 29 02/29/00 2000-02-29 00:00:00 00:00 12:00:00 AM Feb 
--| 	% 09 09 09 2000 00 02/29/00 00:00:00 Tue Feb 29 00:00:00 2000 GMT +0000
--| 2000	2	29	0	0	0	3	60	false
--| true	false
--| 1000000000	2001-09-09T01:46:40 Sun Sunday Sep September AM 01 252 0 7 01 20  9 09/09/01 2001-09-09 01:46:40 01:46 01:46:40 AM Sep 
--| 	% 36 36 36 2001 01 09/09/01 01:46:40 Sun Sep  9 01:46:40 2001 GMT +0000
--| 2001	9	9	1	46	40	1	252	false
--| true	false
--| 1234567890	2009-02-13T23:31:30 Fri Friday Feb February PM 11 044 5 5 09 20 13 02/13/09 2009-02-13 23:31:30 23:31 11:31:30 PM Feb 
--| 	% 06 06 07 2009 09 02/13/09 23:31:30 Fri Feb 13 23:31:30 2009 GMT +0000
--| 2009	2	13	23	31	30	6	44	false
--| true	false
--| 1709210096	2024-02-29T12:34:56 Thu Thursday Feb February PM 12 060 4 4 24 20 29 02/29/24 2024-02-29 12:34:56 12:34 12:34:56 PM Feb 
--| 	% 08 09 09 2024 24 02/29/24 12:34:56 Thu Feb 29 12:34:56 2024 GMT +0000
--| 2024	2	29	12	34	56	5	60	false
--| true	false
--| 1735689599	2024-12-31T23:59:59 Tue Tuesday Dec December PM 11 366 2 2 24 20 31 12/31/24 2024-12-31 23:59:59 23:59 11:59:59 PM Dec 
--| 	% 52 53 01 2025 25 12/31/24 23:59:59 Tue Dec 31 23:59:59 2024 GMT +0000
--| 2024	12	31	23	59	59	3	366	false
--| true	false
--| 4102444799	2099-12-31T23:59:59 Thu Thursday Dec December PM 11 365 4 4 99 20 31 12/31/99 2099-12-31 23:59:59 23:59 11:59:59 PM Dec 
--| 	% 52 52 53 2099 99 12/31/99 23:59:59 Thu Dec 31 23:59:59 2099 GMT +0000
--| 2099	12	31	23	59	59	5	365	false
--| true	false
--| -1	1969-12-31T23:59:59 Wed Wednesday Dec December PM 11 365 3 3 69 19 31 12/31/69 1969-12-31 23:59:59 23:59 11:59:59 PM Dec 
--| 	% 52 52 01 1970 70 12/31/69 23:59:59 Wed Dec 31 23:59:59 1969 GMT +0000
--| 1969	12	31	23	59	59	4	365	false
--| time result cannot be represented in this installation	false
--| -2207520000	1900-01-18T00:00:00 Thu Thursday Jan January AM 12 018 4 4 00 19 18 01/18/00 1900-01-18 00:00:00 00:00 12:00:00 AM Jan 
--| 	% 02 03 03 1900 00 01/18/00 00:00:00 Thu Jan 18 00:00:00 1900 GMT +0000
--| 1900	1	18	0	0	0	5	18	false
--| true	false
--| Ec=Sun Sep  9 01:46:40 2001 EC=20 Ex=09/09/01 EX=01:46:40 Ey=01 EY=2001 Ed=error Ee=error EH=error EI=error Em=error EM=error ES=error Eu=error EU=error EV=error Ew=error EW=error Ey=01 Oc=error OC=error Ox=error OX=error Oy=01 OY=error Od=09 Oe= 9 OH=01 OI=01 Om=09 OM=46 OS=40 Ou=7 OU=36 OV=36 Ow=0 OW=36 Oy=01 
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%s')
--|  !"#$&'()*+,-./0123456789:;<=>?@EJKLNOPQ[\]^_`fikloqsv{|}~
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%E')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%Ez')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%O')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%5d')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%-d')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%_d')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%#')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%1')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '% ')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%Q')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%')
--| false	bad argument #1 to 'os.date' (invalid conversion specifier '%Q')
--| true	true	plain text	true	1970	true	*x
--| true	true
--| 24	24	true	boolean	01	02	false	bad argument #2 to 'os.date' (number has no integer representation)
--| false	bad argument #2 to 'os.date' (number expected, got string)
--| false	bad argument #1 to 'os.date' (string expected, got table)
--| false	date result cannot be represented in this installation
--| false	date result cannot be represented in this installation
--| 2147483647	false	date result cannot be represented in this installation
--| -2147481748-001
--| 800
local times = { 0, 86399, 951782400, 1e9 // 1 | 0, 1234567890, 1709210096, 1735689599, 4102444799,
  -1, -86400 * 365 * 70 }
for _, t in ipairs(times) do
  print(t, os.date("!%Y-%m-%dT%H:%M:%S %a %A %b %B %p %I %j %w %u %y %C %e %D %F %T %R %r %h "
    .. "%n%t%% %U %W %V %G %g %x %X %c %Z %z", t))
  local d = os.date("!*t", t)
  print(d.year, d.month, d.day, d.hour, d.min, d.sec, d.wday, d.yday, d.isdst)
  local l = os.date("*t", t); local ok, back = pcall(os.time, l)
  print(ok and back == t or back, l.isdst)
end
for _, c in ipairs({ "E", "O" }) do
  for letter in ("cCxXyYdeHImMSuUVwWy"):gmatch(".") do
    local ok, r = pcall(os.date, "!%" .. c .. letter, 1e9)
    io.write(c, letter, "=", ok and r or "error", " ")
  end
end
print(); print(pcall(os.date, "!%s", 5))
for b = 32, 126 do
  local ok, r = pcall(os.date, "!%" .. string.char(b), 0)
  if not ok then io.write(string.char(b)) end
end
print()
for _, f in ipairs({ "%", "abc%", "%E", "%Ez", "%O", "%Ey%", "%5d", "%-d", "%_d", "%#", "%1", "% ",
  "!%Q", "%\0", "%Ec%Q" }) do
  print(pcall(os.date, f, 0))
end
print(os.date("!", 0) == "", os.date("", 0) == "", os.date("plain text", 0),
  os.date("!a\0b%Y", 0) == "a\0b1970", os.date("!*t", 0).year, pcall(os.date, "*x", 0))
print(pcall(os.date, "!*tx", 0) == true, os.date("!**", 0) ~= nil)
print(#os.date(), #os.date("%c"), os.date("*t").year >= 2024, type(os.date("*t").isdst),
  os.date("!%H", 3600.0), os.date("!%H", "7200"), pcall(os.date, "%H", 1.5))
print(pcall(os.date, "%H", "x")); print(pcall(os.date, {})); print(pcall(os.date, "!%Y", 1 << 60))
print(pcall(os.date, "!*t", math.maxinteger))
print(os.date("!%Y", 67767976233532799), pcall(os.date, "!%Y", 67768036191676800))
print(os.date("!%Y-%j", -67768040609740800)); print(#os.date("!" .. ("%Y"):rep(200), 0))
