-- How the name of a chunk is shown in messages (3.1, 4.7).
-- expect: ok
--| plain name:1: unexpected symbol near '='
--| file/name.lua:1: unexpected symbol near '='
--| [string "source text"]:1: unexpected symbol near '='
--| [string "first line..."]:1: unexpected symbol near '='
--| longlonglonglonglonglonglonglonglonglonglonglonglonglonglon:1: unexpected symbol near '='
--| ...dir/dir/dir/dir/dir/dir/dir/dir/dir/dir/dir/dir/file.lua:1: unexpected symbol near '='
--| [string "text text text text text text text text text ..."]:1: unexpected symbol near '='
--| [string ""]:1: unexpected symbol near '='
--| [string "..."]:1: unexpected symbol near '='
--| :1: unexpected symbol near '='
--| :1: unexpected symbol near '='
--| [string "x = = 1"]:1: unexpected symbol near '='
--| [string "x = = 1"]:1: unexpected symbol near '='
--| (load):1: unexpected symbol near '='

local function try(name) print(select(2, load("x = = 1", name))) end
try("=plain name")
try("@file/name.lua")
try("source text")
try("first line\nsecond line")
try("=" .. ("long"):rep(30))
try("@" .. ("dir/"):rep(30) .. "file.lua")
try(("text "):rep(30))
try("")
try("\nleading newline")
try("=")
try("@")
print(select(2, load("x = = 1")))
print(select(2, load(function() return nil end and ("x = = 1"))))
local parts = { "x = ", "= 1" }
print(select(2, load(function() return table.remove(parts, 1) end)))
