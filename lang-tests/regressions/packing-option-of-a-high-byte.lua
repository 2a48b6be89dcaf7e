-- The message for a packing option that is no ASCII character names that byte (6.4.2).
-- expect: ok
--| true	25
--| true	25
--| true	25
--| true	25
--| true	25
--| true	25
--| true	25
--| true	25
--| true	25

for _, option in ipairs({ "\xff", "\x80", "\xe4" }) do
  for _, f in ipairs({ string.pack, string.unpack, string.packsize }) do
    local _, message = pcall(f, option, "")
    print(message == "invalid format option '" .. option .. "'", #message)
  end
end
