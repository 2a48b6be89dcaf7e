local a, b, c = ...
local x = a + b * 2 - c / 3
x = 5 - a; x = 5 % a; x = a + 255; x = a + 256; x = a - 1; x = a - -1; x = a << 3; x = 1 << a
x = a & 7; x = 7 & a; x = a & 7.0; x = a ~ b; x = ~a; x = -a; x = not a; x = #a
x = a .. b .. "s" .. 1 .. c
x = 1 + 2 * 3 ^ 2 // 4 .. ""
x = 0 / 0; x = 1 // 0; x = -0.0; x = 3 | 4.0; x = "1" + 1
x = a.b[c][1][256][1.5]["long name that is longer than forty bytes, really"]
x = (a.b); x = (f()); x = (...)
