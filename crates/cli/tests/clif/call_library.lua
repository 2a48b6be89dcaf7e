-- Functions of the library: one that is computed, and one that is called without a frame.
local byte, rawlen = string.byte, rawlen
local function library(s, i) return byte(s, i) + rawlen(s) end
for i = 1, 4 do library("text", i) end
