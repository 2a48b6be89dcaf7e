-- string.format with float conversions (6.4).
-- expect: ok
--| 3.141590 3.14 2      3.142|3.1       |	1.234568e+04 1.20E-04	1e+20 0.0001 100000 1E-10
--| 0.1	0.10000000000000001	1e+15	1.23e+03	1.00	+1.0  1.0	002.5|+0007
--| 1000000000000000.000000	0.1	0 2 2	 -0.0|	10.000000	5.5	0.50000000000000000000
--| inf -inf inf	  inf|-inf    |	9007199254740992.000	9.22337e+18	true
--| 0x1p+0 0X1P-1	0x2.0p+0	0x0p+0	inf
--| false	bad argument #2 to 'string.format' (number expected, got string)
--| false	bad argument #2 to 'string.format' (no value)
--| false	bad argument #2 to 'string.format' (number expected, got table)
--| false	invalid conversion specification: '%.100f'

local f = string.format
print(f("%f %.2f %.0f %10.3f|%-10.1f|", 3.14159, 3.14159, 2.5, 3.14159, 3.14159),
  f("%e %.2E", 12345.678, 0.00012), f("%g %g %g %G", 1e20, 0.0001, 100000, 1e-10))
print(f("%.14g", 0.1), f("%.17g", 0.1), f("%g", 1e15), f("%.3g", 1234.5), f("%#.3g", 1),
  f("%+.1f % .1f", 1, 1), f("%05.1f|%+05d", 2.5, 7))
print(f("%f", 1e15), f("%.1f", 0.05), f("%.0f %.0f %.0f", 0.5, 1.5, 2.5), f("%5.1f|", -0.04),
  f("%f", 10), f("%g", "5.5"), f("%.20f", 0.5))
print(f("%f %g %e", 1/0, -1/0, 1/0), f("%5.1f|%-8g|", 1/0, -1/0), f("%.3f", 2^53), f("%g", 2^63),
  f("%.99f", 1) == "1." .. ("0"):rep(99))
print(f("%a %A", 1, 0.5), f("%.1a", 1.999), f("%a", 0), f("%a", 1/0))
print(pcall(f, "%f", "x")); print(pcall(f, "%f")); print(pcall(f, "%g", {}))
print(pcall(f, "%.100f", 1))
