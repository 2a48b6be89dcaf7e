-- An assignment to a constant in the script (3.3.7).
-- expect: error
--! const-assignment-file.lua:7: attempt to assign to const variable 'limit'

local limit <const> = 10
print(limit)
limit = 11
