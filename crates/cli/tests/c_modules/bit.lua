-- needs: bit
-- package: lua-bitop
local bit = require "bit"
print(bit.band(0xff, 0x0f), bit.bor(1, 6), bit.bxor(1, 3), bit.bnot(0), bit.tohex(255, 4))
print(bit.lshift(1, 31), bit.rshift(-1, 28), bit.arshift(-16, 2), bit.rol(0x12345678, 8))
print(bit.bswap(0x12345678), bit.tobit(0xffffffff), pcall(bit.band, "x"))
print(pcall(bit.band))
local sum = 0
for i = 1, 200000 do sum = bit.bxor(sum + i, bit.lshift(i, 3)) end
print(sum)
