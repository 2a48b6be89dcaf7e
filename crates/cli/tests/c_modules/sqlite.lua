-- needs: luasql.sqlite3
-- package: lua-sql-sqlite3
local env = require("luasql.sqlite3").sqlite3()
local db = assert(env:connect ":memory:")
print(db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL)")
for i = 1, 50 do
  assert(db:execute(("INSERT INTO t (name, value) VALUES ('n%d', %f)"):format(i, i / 4)))
end
local cursor = assert(db:execute "SELECT * FROM t WHERE id % 10 = 0 ORDER BY id")
print(table.concat(cursor:getcolnames(), " "), table.concat(cursor:getcoltypes(), " "))
local row = cursor:fetch({}, "a")
while row do
  print(row.id, row.name, row.value)
  row = cursor:fetch(row, "a")
end
print(cursor:close(), (select(2, db:execute "SELECT nothing FROM t")))
db:setautocommit(false)
db:execute "DELETE FROM t"
print(db:rollback(), db:execute("SELECT count(*) FROM t"):fetch())
collectgarbage()
print(db:close(), env:close())
