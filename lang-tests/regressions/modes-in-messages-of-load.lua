-- expect: ok
--| attempt to load a text chunk (mode is 'q\255\128')
--| attempt to load a text chunk (mode is 'b\195')
-- A mode is shown as it is, also if it is not UTF-8.
for _, mode in ipairs { "q\xff\x80", "b\xc3\0t" } do
    local _, message = load("x = 1", "=n", mode)
    print((message:gsub("[\x80-\xff]", function(c) return "\\" .. c:byte() end)))
end
