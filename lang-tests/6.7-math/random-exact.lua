-- math.random: exact sequences for seeds and ranges (6.7).
-- expect: ok
--| 0.2469118419609948 0.23482927841848023 0.069275939529084729 0.58646399553479667 8746992150480317615 1 1 87 2854383942152437264 0 -5 2897701723202958645 -1916210319650966358 8713787267623415970 680730547272 3 5 1845768475942026370 9223372036854775807
--| 0.93081217803956817 0.45178389935924312 0.54688311243421495 0.79358935263827257 -7059243630996204619 1 2 25 3570341730643388675 1 2 -7872297187403636992 -8437215707573260096 695586496122339134 307431699454 3 2 3672190198671438311 9223372036854775806
--| 0.64588803338814316 0.93513561224856689 0.85629716275528922 0.64594643353090575 -1971808131736728457 1 6 24 1872836993916261270 1 0 4752284313135783596 -6838130056519635436 2407635436787381254 484874045930 3 3 499903366689592488 9223372036854775806
--| 0.44949358084855551 0.22576880156399304 0.73957236111052194 0.34305203708388043 2564551271110323288 1 1 100 2784309321654221247 0 -2 7584452790744926742 -6841266326146160158 3206536883886386211 1027468105006 3 4 1162329314709756085 9223372036854775807
--| 0.84866976228635949 0.31537794997648205 0.28371134512314644 0.52060819263849623 6952779761560506185 1 1 13 5202297332575213198 0 1 6535115939666228816 -7126435769073814615 5240532119213513892 734262814790 3 2 3756983611269824566 9223372036854775806
--| 0.2469118419609948 0.23482927841848023 0.069275939529084729 0.58646399553479667 8746992150480317615 1 1 87 2854383942152437264 0 -5 2897701723202958645 -1916210319650966358 8713787267623415970 680730547272 3 5 1845768475942026370 9223372036854775807
--| 0.77898184896708966 0.38808095006412724 0.74830981146053188 0.36610929344954557 308256026104371513 1 6 22 6355461352509334476 1 3 67784509098838693 -8910560978337669051 3115456910959375856 1059039897385 3 4 3232732482022041177 9223372036854775807
--| true
--| 0.95499969793090433 0.27523021148195559 0.067288903660817856 0.32288874309120386 5805161566611538044 1 5 72 5138498467806409523 0 2 2810085021582476169 -3359259649798977197 9016691775329905288 968056743865 3 6 1743132257809521488 9223372036854775807
--| true
--| 0.17211978188133981 0.80642197722407394 0.99470344731196647 0.62309724338203787 2076284995028257022 1 5 53 127754728654030444 1 2 -4279069624104760842 -8604306583419706776 7572178417173295628 547696856200 3 5 4506896473371594821 9223372036854775806
--| true
--| false	random-exact.lua:40: bad argument #1 to 'randomseed' (number has no integer representation)
--| false	random-exact.lua:40: bad argument #1 to 'randomseed' (number has no integer representation)
--| true
--| true
--| 2	2	integer	7	1	2
--| false	bad argument #1 to 'math.randomseed' (number expected, got table)
--| false	bad argument #2 to 'math.randomseed' (number has no integer representation)
--| false	bad argument #2 to 'math.randomseed' (number expected, got string)
--| false
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	bad argument #1 to 'math.random' (number has no integer representation)
--| false	wrong number of arguments
--| false	bad argument #2 to 'math.random' (number has no integer representation)
--| false	bad argument #1 to 'math.random' (number expected, got string)
--| false	bad argument #1 to 'math.random' (number expected, got table)
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	bad argument #1 to 'math.random' (number has no integer representation)
--| false	bad argument #1 to 'math.random' (number expected, got nil)
--| 0
--| 1052 999 1023 970 977 979

local max, min = math.maxinteger, math.mininteger
local function sequence(...)
  math.randomseed(...); local r = {}; for i = 1, 4 do r[i] = ("%.17g"):format(math.random()) end
  for i, range in ipairs({ { 0 }, { 1 }, { 6 }, { 100 }, { max }, { 0, 1 }, { -5, 5 }, { min, max },
    { min, -1 }, { 0, max }, { 1, 1 << 40 }, { 3, 3 }, { 2.0, "7" }, { -1, 1 << 62 },
    { max - 1, max } }) do
    r[#r + 1] = tostring(math.random(table.unpack(range)))
  end
  print(table.concat(r, " "))
end
sequence(0); sequence(42); sequence(-1); sequence(1, 2); sequence(max, min); sequence(0.0)
for _, seed in ipairs({ "7", 3.7 // 1, 2^53, 1e300, 0.5 }) do print(pcall(sequence, seed)) end
math.randomseed(5); local first = math.random(1e6); math.randomseed(5, 0)
print(first == math.random(1e6)); math.randomseed(5.0); print(first == math.random(1e6))
print(select("#", math.randomseed(1)), select("#", math.randomseed()),
  math.type((math.randomseed(7))), math.randomseed(7), math.randomseed(1, 2))
print(pcall(math.randomseed, {})); print(pcall(math.randomseed, 1, 2.5))
print(pcall(math.randomseed, 1, "x")); print((pcall(math.randomseed, nil)))
for _, a in ipairs({ { 0, -1 }, { 2, 1 }, { -1 }, { 0.5 }, { 1, 2, 3 }, { 1, 2.5 }, { "x" }, { {} },
  { max, min }, { 1e300 }, { nil, 5 } }) do
  print(pcall(math.random, table.unpack(a, 1, #a == 0 and 2 or #a)))
end
-- Two states of the generator do not meet.
math.randomseed(99); local seen, repeats = {}, 0
for i = 1, 2e4 do
  local x = math.random(0); if seen[x] then repeats = repeats + 1 end seen[x] = true
end
print(repeats)
local counts = {} for i = 1, 6000 do local d = math.random(6); counts[d] = (counts[d] or 0) + 1 end
print(table.concat(counts, " "))
