-- The configuration of neomutt.
mutt.set("realname", "Perilune " .. 6 * 7)
for i = 1, 3 do mutt.command.alias("a" .. i, "Name <n" .. i .. "@example.org>") end
mutt.set("sort", "date") 
mutt.print("from lua: " .. tostring(mutt.get("realname")))
local ok, e = pcall(mutt.set, "nosuchvar", 1)
mutt.print(tostring(ok) .. " " .. tostring(e))
