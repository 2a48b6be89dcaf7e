-- needs: cjson
-- package: lua-cjson
local cjson = require "cjson"
print(cjson.encode { 1, 2.5, "three\n\"", true, cjson.null, { key = "v" }, {} })
local t = cjson.decode '{"x":[1,2.5,"s\\u00e9",null,{"y":false}],"n":-1e3}'
print(t.x[1], t.x[2], t.x[3], t.x[4] == cjson.null, t.x[5].y, t.n)
print(pcall(cjson.decode, "{bad"))
print(pcall(cjson.encode, print))
local loop = {}
loop.loop = loop
print(pcall(cjson.encode, loop))
local big = {}
for i = 1, 5000 do big[i] = { id = i, name = "item" .. i, tags = { "a", "b" } } end
local text = cjson.encode(big)
local again = cjson.decode(text)
print(#again, again[5000].name, again[77].id, #cjson.encode(again[1].tags))
local other = cjson.new()
other.encode_sparse_array(true)
print(other.encode { [3] = "x" })
print(cjson.encode_max_depth(10))
