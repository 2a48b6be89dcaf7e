-- Remainders of floats of every sign and size, loops over floats with steps of both signs, and
-- shifts by variable distances, in hot code.
-- expect: ok
--| 159899.6760571757
--| 0 0 0 0 0 0 0 0
--| inf inf inf inf
--| -0 -0 -0 -0 -0 -0 -0 -0
--| -inf -inf -inf -inf
--| 1 1 1 0 0 -2 0.09999999999999995 1
--| - - inf -
--| 9 9 3 -0 -0 -1 5.5511151231257827e-17 inf
--| - - -inf -
--| 0.5 0.5 0.5 0.5 0 -2.5 0.099999999999999978 0.5
--| - - - -
--| 9.5 9.5 3.5 0.5 -0 -0.5 2.7755575615628914e-17 inf
--| - - - -
--| 2 2 2 0 0 -1 0.099999999999999895 2
--| - - inf -
--| 3 3 3 0 0 0 0.099999999999999839 3
--| - - inf inf
--| 7 7 1 -0 -0 -0 1.6653345369377348e-16 inf
--| - - -inf -inf
--| 0 0 2 0 0 -2 0.09999999999999945 10
--| inf - inf -
--| 0.25 0.25 2.25 0.25 0.25 -1.75 0.049999999999999434 10.25
--| - - - -
--| 9.75 9.75 1.75 0.75 0.25 -1.25 0.050000000000000572 inf
--| - - - -
--| 0 0 0 0 0 -2 0.044488848768742179 1000000000000000
--| inf inf inf -
--| 6 6 0 0 0 -2 0.050000000000000017 4503599627370496
--| - inf inf -
--| 2 2 0 0 0 -1 2.7755575615628914e-17 9007199254740992
--| - inf inf -
--| 4 4 2 0 0 -2 0.099999999999999922 9007199254740994
--| - - inf -
--| 8 8 -0 -0 -0 -2 0.099999999999999978 inf
--| - -inf -inf -
--| 8 8 0 0 0 -1 2.8421709430404007e-14 9.2233720368547758e+18
--| - inf inf -
--| 2 2 -0 -0 -0 -2 0.099999999999971584 inf
--| - -inf -inf -
--| 0 0 0 0 0 0 0.00011215964963492975 1.0000000000000001e+300
--| inf inf inf inf
--| 4.9406564584124654e-324 4.9406564584124654e-324 4.9406564584124654e-324 4.9406564584124654e-324 4.9406564584124654e-324 -3 4.9406564584124654e-324 4.9406564584124654e-324
--| - - - -
--| nan nan nan nan nan nan nan nan
--| - - - -
--| nan nan nan nan nan nan nan nan
--| - - - -
--| nan nan nan nan nan nan nan nan
--| - - - -
--| 7 7 3 0 0 -2 0.099999999999999617 7
--| - - inf -
--| 0 0 0 0 0 -2 0.099999944488848774 1000000000
--| inf inf inf -
--| 3.75 3.75 3.75 0.75 0.25 -2.25 0.049999999999999795 3.75
--| - - - -
--| nan nan 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 nan 0 0 0
--| nan nan -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 -0 nan -0 -0 -0
--| nan nan 0 0 0 0 1 1 -2 1 1 -9.25 1 1 1 1 -9007199254740991 1 -9.2233720368547758e+18 1 0 1 -inf nan 1 1 1
--| nan nan -0 -0 -0 -0 1 2 -1 9 9.25 -1 999999999999999 4503599627370495 9007199254740991 9007199254740992 -1 9.2233720368547758e+18 -1 1.0000000000000001e+300 -0 inf -1 nan 6 999999999 2.75
--| nan nan 0.5 -0.5 0 0 0.5 0.5 -2.5 0.5 0.5 -9.75 0.5 0.5 0.5 0.5 -9007199254740992 0.5 -9.2233720368547758e+18 0.5 0 0.5 -inf nan 0.5 0.5 0.5
--| nan nan 0.5 -0.5 -0 -0 1.5 2.5 -0.5 9.5 9.75 -0.5 999999999999999.5 4503599627370495.5 9007199254740992 9007199254740994 -0.5 9.2233720368547758e+18 -0.5 1.0000000000000001e+300 -0 inf -0.5 nan 6.5 999999999.5 3.25
--| nan nan 0 0 0 0 0 2 -1 2 2 -8.25 2 2 2 2 -9007199254740990 2 -9.2233720368547758e+18 2 0 2 -inf nan 2 2 2
--| nan nan 0 0 0 0 1 0 0 3 3 -7.25 3 3 3 3 -9007199254740989 3 -9.2233720368547758e+18 3 0 3 -inf nan 3 3 3
--| nan nan -0 -0 -0 -0 1 -0 -0 7 7.25 -3 999999999999997 4503599627370493 9007199254740989 9007199254740991 -3 9.2233720368547758e+18 -3 1.0000000000000001e+300 -0 inf -3 nan 4 999999997 0.75
--| nan nan 0 0 0 0 0 1 -2 0 10 -0.25 10 10 10 10 -9007199254740982 10 -9.2233720368547758e+18 10 0 10 -inf nan 3 10 2.5
--| nan nan 0.25 -0.75 0.25 -0.25 0.25 1.25 -1.75 0.25 0 0 10.25 10.25 10.25 10.25 -9007199254740982 10.25 -9.2233720368547758e+18 10.25 0 10.25 -inf nan 3.25 10.25 2.75
--| nan nan 0.75 -0.25 0.25 -0.25 1.75 1.75 -1.25 9.75 -0 -0 999999999999989.75 4503599627370486 9007199254740982 9007199254740984 -10.25 9.2233720368547758e+18 -10.25 1.0000000000000001e+300 -0 inf -10.25 nan 3.75 999999989.75 1
--| nan nan 0 0 0 0 0 1 -2 0 1 -9.25 0 1000000000000000 1000000000000000 1000000000000000 -8007199254740992 1000000000000000 -9.2223720368547758e+18 1000000000000000 0 1000000000000000 -inf nan 6 0 2.5
--| nan nan 0 0 0 0 0 1 -2 6 6.25 -4 503599627370496 0 4503599627370496 4503599627370496 -4503599627370496 4503599627370496 -9.2188684372274053e+18 4503599627370496 0 4503599627370496 -inf nan 2 627370496 1
--| nan nan 0 0 0 0 0 2 -1 2 2.25 -8 7199254740992 0 0 9007199254740992 0 9007199254740992 -9.2143648376000348e+18 9007199254740992 0 9007199254740992 -inf nan 4 254740992 2
--| nan nan 0 0 0 0 0 1 -2 4 4.25 -6 7199254740994 2 2 0 -9007199254740990 9007199254740994 -9.2143648376000348e+18 9007199254740994 0 9007199254740994 -inf nan 6 254740994 0.25
--| nan nan -0 -0 -0 -0 -0 1 -2 8 8 -2.25 992800745259008 -0 -0 2 -0 9.2143648376000348e+18 -9007199254740992 1.0000000000000001e+300 -0 inf -9007199254740992 nan 3 745259008 1.75
--| nan nan 0 0 0 0 0 2 -1 8 8 -2.25 372036854775808 0 0 9007199254738946 0 0 0 9.2233720368547758e+18 0 9.2233720368547758e+18 -inf nan 1 854775808 0.5
--| nan nan -0 -0 -0 -0 -0 1 -2 2 2.25 -8 627963145224192 -0 -0 2048 -0 -0 -0 1.0000000000000001e+300 -0 inf -9.2233720368547758e+18 nan 6 145224192 3.25
--| nan nan 0 0 0 0 0 0 0 0 8.5 -1.75 865459400540160 0 0 1192454727768706 0 0 0 0 0 1.0000000000000001e+300 -inf nan 1 400540160 0
--| nan nan 4.9406564584124654e-324 -1 4.9406564584124654e-324 -0.5 4.9406564584124654e-324 4.9406564584124654e-324 -3 4.9406564584124654e-324 4.9406564584124654e-324 -10.25 4.9406564584124654e-324 4.9406564584124654e-324 4.9406564584124654e-324 4.9406564584124654e-324 -9007199254740992 4.9406564584124654e-324 -9.2233720368547758e+18 4.9406564584124654e-324 0 4.9406564584124654e-324 -inf nan 4.9406564584124654e-324 4.9406564584124654e-324 4.9406564584124654e-324
--| nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan
--| nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan
--| nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan
--| nan nan 0 0 0 0 1 1 -2 7 7 -3.25 7 7 7 7 -9007199254740985 7 -9.2233720368547758e+18 7 0 7 -inf nan 0 7 3.25
--| nan nan 0 0 0 0 0 1 -2 0 6.25 -4 1000000000 1000000000 1000000000 1000000000 -9007198254740992 1000000000 -9.2233720358547763e+18 1000000000 0 1000000000 -inf nan 6 0 2.5
--| nan nan 0.75 -0.25 0.25 -0.25 1.75 0.75 -2.25 3.75 3.75 -6.5 3.75 3.75 3.75 3.75 -9007199254740988 3.75 -9.2233720368547758e+18 3.75 0 3.75 -inf nan 3.75 3.75 0
--| 0/1 0/1 0/-1 0/-1 1/2 1/2 2/2 7/0 -9223372036854775801/-1 0/7 0/-7 0/1 0/1 0/-1 0/-1 1/2 1/2 2/2 7/0 -9.2233720368547758e+18/-1 0/7 0/-7 0/-1 -0/-1 0/1 -0/1 2/-3 2/-3 0.5/-3 9223372036854775800/-1 -7/0 0/-7 0/7 -0/-1 -0/-1 -0/1 -0/1 2/-3 2/-3 0.5/-3 9.2233720368547758e+18/-1 -7/0 -0/-7 -0/7 3/0 3/0 -4/-1 -4/-1 0/1 0/1 0.5/1 3/0 -9223372036854775805/-1 0/3 0/-3 3/0 3/0 -4/-1 -4/-1 0/1 0/1 0.5/1 3/0 -9.2233720368547758e+18/-1 0/3 0/-3 2.5/0 2.5/0 -4.5/-1 -4.5/-1 2.5/0 2.5/0 0/1 2.5/0 -9.2233720368547758e+18/-1 0.5/2 -0.5/-3 0/1317624576693539401 1/1.3176245766935393e+18 0/-1317624576693539401 -6/-1.3176245766935393e+18 1/3074457345618258602 2/3.0744573456182584e+18 0.5/3.6893488147419105e+18 0/1 -1/-1 0/9223372036854775807 0/-9223372036854775807 6/-1317624576693539402 6/-1.3176245766935393e+18 -1/1317624576693539401 -1/1.3176245766935393e+18 1/-3074457345618258603 1/-3.0744573456182584e+18 2/-3.6893488147419105e+18 9223372036854775806/-2 0/1 0/-9223372036854775808 0/-9223372036854775808 1/0 1/0 -6/-1 -6/-1 1/0 1/0 1/0 1/0 -9223372036854775807/-1 0/1 0/-1 6/-1 6/-1 -1/0 -1/0 2/-1 2/-1 1.5/-1 9223372036854775806/-1 -1/0 0/-1 0/1
--| false	attempt to perform 'n%0'
--| nan inf
--| false	attempt to mod a 'number' with a 'string'
--| 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 5:1 0:nil 2:1 2:1 3:1 0:nil 0:nil 11:2.5 0:nil 3:2 3:2 6:2.5 0:nil 0:nil 0:nil 13:-3 0:nil 0:nil 0:nil 4:-3 2:-2.5 0:nil 15:-3.5 0:nil 0:nil 0:nil 4:-3 2:-2.5 41:10 0:nil 11:10 11:10 21:10 0:nil 0:nil 1001:250 0:nil 1001:1000 1001:1000 1001:500 0:nil 0:nil 0:nil 1001:-250 0:nil 0:nil 0:nil 1001:-1000 1001:-2500 1:0 1:0 1:0 0:nil 1:0 1001:-1000 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 5:1 0:nil 2:1 2:1 3:1 0:nil 0:nil 11:2.5 0:nil 3:2 3:2 6:2.5 0:nil 0:nil 0:nil 13:-3 0:nil 0:nil 0:nil 4:-3 2:-2.5 0:nil 15:-3.5 0:nil 0:nil 0:nil 4:-3 2:-2.5 41:10 0:nil 11:10 11:10 21:10 0:nil 0:nil 1001:250 0:nil 1001:1000 1001:1000 1001:500 0:nil 0:nil 0:nil 1001:-250 0:nil 0:nil 0:nil 1001:-1000 1001:-2500 1:0 1:0 1:0 1:0 1:0 1:0 1:0 0:nil 5:0 0:nil 0:nil 0:nil 2:0 1:1 0:nil 5:0 0:nil 0:nil 0:nil 2:0 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 7:2.5 0:nil 2:2 2:2 4:2.5 0:nil 0:nil 0:nil 17:-3 0:nil 0:nil 0:nil 5:-3 2:-1.5 0:nil 19:-3.5 0:nil 0:nil 0:nil 5:-3 2:-1.5 37:10 0:nil 10:10 10:10 19:10 0:nil 0:nil 1001:251 0:nil 1001:1001 1001:1001 1001:501 0:nil 0:nil 0:nil 1001:-249 0:nil 0:nil 0:nil 1001:-999 1001:-2499 1:1 1:1 1:1 0:nil 1:1 1001:-999 1:1 0:nil 11:0 0:nil 0:nil 0:nil 3:0.5 2:0 0:nil 11:0 0:nil 0:nil 0:nil 3:0.5 2:0 0:nil 7:1 0:nil 0:nil 0:nil 2:1.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 0:nil 23:-3 0:nil 0:nil 0:nil 6:-2.5 3:-2.5 0:nil 25:-3.5 0:nil 0:nil 0:nil 7:-3.5 3:-2.5 31:10 0:nil 8:9.5 8:9.5 16:10 0:nil 0:nil 1001:252.5 0:nil 1001:1002.5 1001:1002.5 1001:502.5 0:nil 0:nil 0:nil 1001:-247.5 0:nil 0:nil 0:nil 1001:-997.5 1001:-2497.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 13:0 0:nil 4:0 4:0 7:0 0:nil 0:nil 13:0 0:nil 4:0 4:0 7:0 0:nil 0:nil 17:1 0:nil 5:1 5:1 9:1 0:nil 0:nil 23:2.5 0:nil 6:2 6:2 12:2.5 0:nil 0:nil 1:-3 1:-3 1:-3 1:-3 1:-3 1:-3 1:-3 0:nil 3:-3.5 0:nil 0:nil 0:nil 1:-3 1:-3 53:10 0:nil 14:10 14:10 27:10 0:nil 0:nil 1001:247 0:nil 1001:997 1001:997 1001:497 0:nil 0:nil 0:nil 1001:-253 0:nil 0:nil 0:nil 1001:-1003 1001:-2503 1:-3 1:-3 1:-3 0:nil 1:-3 1001:-1003 1:-3 15:0 0:nil 4:-0.5 4:-0.5 8:0 0:nil 0:nil 15:0 0:nil 4:-0.5 4:-0.5 8:0 0:nil 0:nil 19:1 0:nil 5:0.5 5:0.5 10:1 0:nil 0:nil 25:2.5 0:nil 7:2.5 7:2.5 13:2.5 0:nil 0:nil 3:-3 0:nil 1:-3.5 1:-3.5 2:-3 0:nil 0:nil 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 55:10 0:nil 14:9.5 14:9.5 28:10 0:nil 0:nil 1001:246.5 0:nil 1001:996.5 1001:996.5 1001:496.5 0:nil 0:nil 0:nil 1001:-253.5 0:nil 0:nil 0:nil 1001:-1003.5 1001:-2503.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 0:nil 41:0 0:nil 0:nil 0:nil 11:0 5:0 0:nil 41:0 0:nil 0:nil 0:nil 11:0 5:0 0:nil 37:1 0:nil 0:nil 0:nil 10:1 4:2.5 0:nil 31:2.5 0:nil 0:nil 0:nil 8:3 4:2.5 0:nil 53:-3 0:nil 0:nil 0:nil 14:-3 6:-2.5 0:nil 55:-3.5 0:nil 0:nil 0:nil 14:-3 6:-2.5 1:10 1:10 1:10 1:10 1:10 1:10 1:10 1001:260 0:nil 1001:1010 1001:1010 1001:510 0:nil 0:nil 0:nil 1001:-240 0:nil 0:nil 0:nil 1001:-990 1001:-2490 1:10 1:10 1:10 0:nil 1:10 1001:-990 1:10 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 1:inf 1:inf 1:inf 1:inf 1:inf 1:inf 1:inf 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 1001:-inf 1001:-inf 1001:-inf 1001:-inf 1001:-inf 1001:-inf 1:-inf 1:-inf 1:-inf 1:-inf 1:-inf 1:-inf 1:-inf 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan
--| 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 5:1 0:nil 2:1 2:1 3:1 0:nil 0:nil 11:2.5 0:nil 3:2 3:2 6:2.5 0:nil 0:nil 0:nil 13:-3 0:nil 0:nil 0:nil 4:-3 2:-2.5 0:nil 15:-3.5 0:nil 0:nil 0:nil 4:-3 2:-2.5 41:10 0:nil 11:10 11:10 21:10 0:nil 0:nil 1001:250 0:nil 1001:1000 1001:1000 1001:500 0:nil 0:nil 0:nil 1001:-250 0:nil 0:nil 0:nil 1001:-1000 1001:-2500 1:0 1:0 1:0 0:nil 1:0 1001:-1000 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0 5:1 0:nil 2:1 2:1 3:1 0:nil 0:nil 11:2.5 0:nil 3:2 3:2 6:2.5 0:nil 0:nil 0:nil 13:-3 0:nil 0:nil 0:nil 4:-3 2:-2.5 0:nil 15:-3.5 0:nil 0:nil 0:nil 4:-3 2:-2.5 41:10 0:nil 11:10 11:10 21:10 0:nil 0:nil 1001:250 0:nil 1001:1000 1001:1000 1001:500 0:nil 0:nil 0:nil 1001:-250 0:nil 0:nil 0:nil 1001:-1000 1001:-2500 1:0 1:0 1:0 1:0 1:0 1:0 1:0 0:nil 5:0 0:nil 0:nil 0:nil 2:0 1:1 0:nil 5:0 0:nil 0:nil 0:nil 2:0 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 7:2.5 0:nil 2:2 2:2 4:2.5 0:nil 0:nil 0:nil 17:-3 0:nil 0:nil 0:nil 5:-3 2:-1.5 0:nil 19:-3.5 0:nil 0:nil 0:nil 5:-3 2:-1.5 37:10 0:nil 10:10 10:10 19:10 0:nil 0:nil 1001:251 0:nil 1001:1001 1001:1001 1001:501 0:nil 0:nil 0:nil 1001:-249 0:nil 0:nil 0:nil 1001:-999 1001:-2499 1:1 1:1 1:1 0:nil 1:1 1001:-999 1:1 0:nil 11:0 0:nil 0:nil 0:nil 3:0.5 2:0 0:nil 11:0 0:nil 0:nil 0:nil 3:0.5 2:0 0:nil 7:1 0:nil 0:nil 0:nil 2:1.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 0:nil 23:-3 0:nil 0:nil 0:nil 6:-2.5 3:-2.5 0:nil 25:-3.5 0:nil 0:nil 0:nil 7:-3.5 3:-2.5 31:10 0:nil 8:9.5 8:9.5 16:10 0:nil 0:nil 1001:252.5 0:nil 1001:1002.5 1001:1002.5 1001:502.5 0:nil 0:nil 0:nil 1001:-247.5 0:nil 0:nil 0:nil 1001:-997.5 1001:-2497.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 1:2.5 13:0 0:nil 4:0 4:0 7:0 0:nil 0:nil 13:0 0:nil 4:0 4:0 7:0 0:nil 0:nil 17:1 0:nil 5:1 5:1 9:1 0:nil 0:nil 23:2.5 0:nil 6:2 6:2 12:2.5 0:nil 0:nil 1:-3 1:-3 1:-3 1:-3 1:-3 1:-3 1:-3 0:nil 3:-3.5 0:nil 0:nil 0:nil 1:-3 1:-3 53:10 0:nil 14:10 14:10 27:10 0:nil 0:nil 1001:247 0:nil 1001:997 1001:997 1001:497 0:nil 0:nil 0:nil 1001:-253 0:nil 0:nil 0:nil 1001:-1003 1001:-2503 1:-3 1:-3 1:-3 0:nil 1:-3 1001:-1003 1:-3 15:0 0:nil 4:-0.5 4:-0.5 8:0 0:nil 0:nil 15:0 0:nil 4:-0.5 4:-0.5 8:0 0:nil 0:nil 19:1 0:nil 5:0.5 5:0.5 10:1 0:nil 0:nil 25:2.5 0:nil 7:2.5 7:2.5 13:2.5 0:nil 0:nil 3:-3 0:nil 1:-3.5 1:-3.5 2:-3 0:nil 0:nil 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 55:10 0:nil 14:9.5 14:9.5 28:10 0:nil 0:nil 1001:246.5 0:nil 1001:996.5 1001:996.5 1001:496.5 0:nil 0:nil 0:nil 1001:-253.5 0:nil 0:nil 0:nil 1001:-1003.5 1001:-2503.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 1:-3.5 0:nil 41:0 0:nil 0:nil 0:nil 11:0 5:0 0:nil 41:0 0:nil 0:nil 0:nil 11:0 5:0 0:nil 37:1 0:nil 0:nil 0:nil 10:1 4:2.5 0:nil 31:2.5 0:nil 0:nil 0:nil 8:3 4:2.5 0:nil 53:-3 0:nil 0:nil 0:nil 14:-3 6:-2.5 0:nil 55:-3.5 0:nil 0:nil 0:nil 14:-3 6:-2.5 1:10 1:10 1:10 1:10 1:10 1:10 1:10 1001:260 0:nil 1001:1010 1001:1010 1001:510 0:nil 0:nil 0:nil 1001:-240 0:nil 0:nil 0:nil 1001:-990 1001:-2490 1:10 1:10 1:10 0:nil 1:10 1001:-990 1:10 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 1001:inf 0:nil 1001:inf 0:nil 0:nil 0:nil 1001:inf 1001:inf 1:inf 1:inf 1:inf 1:inf 1:inf 1:inf 1:inf 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 0:nil 1001:-inf 1001:-inf 1001:-inf 0:nil 0:nil 1001:-inf 1001:-inf 1001:-inf 1001:-inf 1001:-inf 1001:-inf 1001:-inf 1:-inf 1:-inf 1:-inf 1:-inf 1:-inf 1:-inf 1:-inf 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan 1:nan
--| false	'for' step is zero
--| false	'for' step is zero
--| false	bad 'for' limit (number expected, got table)
--| false	bad 'for' initial value (number expected, got string)
--| 1/1 2/0 80000000/0 8000000000000000/0 0/0 0/0 0/2 0/8000000000000000 0/0 0/0 0/0 0/0 ffffffffffffffff/ffffffffffffffff fffffffffffffffe/7fffffffffffffff ffffffff80000000/1ffffffff 8000000000000000/1 0/0 0/0 7fffffffffffffff/fffffffffffffffe 1/8000000000000000 0/0 0/0 0/0 0/0 1234567890abcdef/1234567890abcdef 2468acf121579bde/91a2b3c4855e6f7 4855e6f780000000/2468acf1 8000000000000000/0 0/0 0/0 91a2b3c4855e6f7/2468acf121579bde 0/8000000000000000 0/0 0/0 0/0 0/0 8000000000000000/8000000000000000 0/4000000000000000 0/100000000 0/1 0/0 0/0 4000000000000000/0 1/0 0/0 0/0 0/0 0/0 7fffffffffffffff/7fffffffffffffff fffffffffffffffe/3fffffffffffffff ffffffff80000000/ffffffff 8000000000000000/0 0/0 0/0 3fffffffffffffff/fffffffffffffffe 0/8000000000000000 0/0 0/0 0/0 0/0
--| 16	16	true
local function text(v)
  if v ~= v then return "nan" end
  return math.type(v) == "float" and string.format("%.17g", v) or tostring(v)
end
local function show(...)
  local parts = {}
  for n = 1, select("#", ...) do parts[n] = text((select(n, ...))) end
  print(table.concat(parts, " "))
end

local function failure(...)
  local ok, message = pcall(...)
  return ok, (message:gsub("^.-:%d+: ", ""))
end

local floats = {
  0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 10.0, 10.25, -10.25, 1e15, 2.0 ^ 52, 2.0 ^ 53,
  2.0 ^ 53 + 2, -2.0 ^ 53, 2.0 ^ 63, -2.0 ^ 63, 1e300, 5e-324, 1 / 0, -1 / 0, 0 / 0, 7.0, 1e9, 3.75,
}

local function by_ten(x) return x % 10 end
local function by_ten_point(x) return x % 10.0 end
local function by_four(x) return x % 4.0 end
local function by_one(x) return x % 1 end
local function by_half(x) return x % 0.5 end
local function by_minus_three(x) return x % -3.0 end
local function by_point_one(x) return x % 0.1 end
local function by_zero(x) return x % 0.0 end
local function by_infinity(x) return x % math.huge end
local function by(x, y) return x % y end
local function whole(x, y) return x // y end

local function hash(all)
  local sum = 0
  for round = 1, 60 do
    for _, x in ipairs(all) do
      for _, f in ipairs { by_ten, by_ten_point, by_four, by_one, by_half, by_minus_three,
                           by_point_one, by_zero, by_infinity } do
        local v = f(x)
        if v == v and v > 0 and v < 1e6 then sum = sum + v end
      end
      for _, y in ipairs(all) do
        local v, w = by(x, y), whole(x, y)
        if v == v and v > -1e6 and v < 1e6 then sum = sum + v end
        if w == w and w > -1e6 and w < 1e6 then sum = sum + w end
      end
    end
  end
  return sum
end
show(hash(floats))

for _, x in ipairs(floats) do
  show(by_ten(x), by_ten_point(x), by_four(x), by_one(x), by_half(x), by_minus_three(x),
       by_point_one(x), by_infinity(x))
  local signs = {}
  for n, f in ipairs { by_ten, by_four, by_one, by_minus_three } do
    local v = f(x)
    signs[n] = v == 0 and tostring(1 / v) or "-"
  end
  print(table.concat(signs, " "))
end
for _, x in ipairs(floats) do
  local line = {}
  for n, y in ipairs(floats) do line[n] = text(by(x, y)) end
  print(table.concat(line, " "))
end

-- the operands are integers and floats in turn
local mixed = { 7, 7.0, -7, -7.0, 3, 3.0, 2.5, math.maxinteger, math.mininteger, 1, -1 }
local function remainders()
  local out = {}
  for _, x in ipairs(mixed) do
    for _, y in ipairs(mixed) do
      out[#out + 1] = text(x % y) .. "/" .. text(x // y)
    end
  end
  return table.concat(out, " ")
end
local first = remainders()
for _ = 1, 200 do assert(remainders() == first) end
print(first)
local function divide(x, y) return x % y, x // y end
for _ = 1, 500 do divide(7, 2); divide(7.5, 2); divide(7, 2.5) end
print(failure(divide, 1, 0))
show(divide(1.0, 0))
print(failure(divide, 1, "x"))

local function loop(from, to, step)
  local n, last = 0, nil
  for x = from, to, step do
    n = n + 1
    last = x
    if n > 1000 then break end
  end
  return n, last
end
local function up(from, to)
  local n, last = 0, nil
  for x = from, to, 0.25 do n, last = n + 1, x; if n > 1000 then break end end
  return n, last
end
local function down(from, to)
  local n, last = 0, nil
  for x = from, to, -0.25 do n, last = n + 1, x; if n > 1000 then break end end
  return n, last
end
local function from_float(from, to)
  local n, last = 0, nil
  for x = from + 0.0, to do n, last = n + 1, x; if n > 1000 then break end end
  return n, last
end
local ends = { 0, 0.0, 1, 2.5, -3, -3.5, 10, 1 / 0, -1 / 0, 0 / 0 }
for round = 1, 60 do
  local lines = {}
  for _, from in ipairs(ends) do
    for _, to in ipairs(ends) do
      for _, f in ipairs { up, down, from_float } do
        local n, last = f(from, to)
        lines[#lines + 1] = n .. ":" .. text(last)
      end
      for _, step in ipairs { 1, 0.5, -1, -2.5 } do
        local n, last = loop(from, to, step)
        lines[#lines + 1] = n .. ":" .. text(last)
      end
    end
  end
  if round % 30 == 0 then print(table.concat(lines, " ")) end
end
print(failure(loop, 1.0, 2, 0))
print(failure(loop, 1, 2, 0.0))
print(failure(loop, 1.5, {}, 1))
print(failure(up, "a", 1))

local function left(x, n) return x << n end
local function right(x, n) return x >> n end
local line = {}
for round = 1, 200 do
  line = {}
  for _, x in ipairs { 1, -1, 0x1234567890ABCDEF, math.mininteger, math.maxinteger } do
    for _, n in ipairs { 0, 1, 31, 63, 64, 65, -1, -63, -64, -65, math.mininteger,
                         math.maxinteger } do
      line[#line + 1] = string.format("%x/%x", left(x, n), right(x, n))
    end
  end
end
print(table.concat(line, " "))
print(left(1.0, 4), right(256.0, 4.0), pcall(left, 1.5, 1) == false)
