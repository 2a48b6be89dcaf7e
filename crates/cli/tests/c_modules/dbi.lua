-- needs: DBI
-- package: lua-dbi-sqlite3
local DBI = require "DBI"
local db = assert(DBI.Connect("SQLite3", ":memory:"))
db:autocommit(true)
assert(DBI.Do(db, "CREATE TABLE t (a INTEGER, b TEXT)"))
local insert = assert(db:prepare "INSERT INTO t VALUES (?, ?)")
for i = 1, 10 do insert:execute(i, "row " .. i) end
local select = assert(db:prepare "SELECT a, b FROM t WHERE a > ?")
select:execute(7)
for row in select:rows(true) do print(row.a, row.b) end
print(db:ping(), db:close())
