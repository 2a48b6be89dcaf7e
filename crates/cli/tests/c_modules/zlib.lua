-- needs: zlib
-- package: lua-zlib
local zlib = require "zlib"
local text = ("the quick brown fox "):rep(2000)
local deflate = zlib.deflate(9)
local packed, eof, n_in = deflate(text, "finish")
print(#packed < 500, eof, n_in)
local plain, done = zlib.inflate()(packed)
print(plain == text, done)
print(pcall(zlib.inflate(), "no zlib stream"))
local crc = zlib.crc32()
print(crc "abc", crc "def", zlib.adler32()("abc"))
local parts, inflate = {}, zlib.inflate()
for i = 1, #packed, 50 do parts[#parts + 1] = (inflate(packed:sub(i, i + 49))) end
print(table.concat(parts) == text)
