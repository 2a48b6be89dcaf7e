-- The generator is xoshiro256**, seeded as PUC seeds it (6.7).
-- expect: ok
--| 37	809	89	-5391743551570447441
--| 0.62380824708341	-855379	932846089786
--| 2	9	4419330032540126364

math.randomseed(123)
print(math.random(1000), math.random(1000), math.random(1000), math.random(0))
print(("%.14g"):format(math.random()), math.random(-1000000, 1000000), math.random(1 << 40))
math.randomseed(1, 2)
print(math.random(100), math.random(100), math.random(math.mininteger, math.maxinteger))
