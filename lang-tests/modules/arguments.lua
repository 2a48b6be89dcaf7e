-- For the files wrong-arguments.lua of chapter 6: calls a function with each argument in turn
-- missing and replaced by values of
-- all types, and prints what it says of each argument. "ok" are the values that it takes; a
-- complaint of the form "bad argument
-- #i to 'f' (…, got T)" is printed as what stands in its parentheses, without the "got", once it
-- has been checked.
local names = { "none", "nil", "false", "1.5", "-1", "1e100", "'x'", "'10'", "{}", "print",
  "thread", "file" }
local values = { nil, nil, false, 1.5, -1, 1e100, "x", "10", {}, print, coroutine.create(print),
  io.stdin }

-- Strings may have lost their metatable.
local format, sub = string.format, string.sub

-- Checks `f`, whose errors call it `name`, starting from the valid arguments that follow.
return function(name, f, ...)
  local good = table.pack(...)
  for i = 1, good.n do
    local order, groups = {}, {}
    for v = 1, #names do
      local arguments = table.pack(table.unpack(good, 1, good.n))
      arguments[i] = values[v]
      local n = v == 1 and i - 1 or good.n
      local ok, message = pcall(f, table.unpack(arguments, 1, n))
      local key = "ok"
      if not ok then
        local got = v == 1 and "no value" or names[v] == "file" and "FILE*" or type(values[v])
        local prefix, suffix = format("bad argument #%d to '%s' (", i, name),
          format(", got %s)", got)
        key = tostring(message)
        if sub(key, 1, #prefix) == prefix then
          key = sub(key, #prefix + 1)
          key = sub(key, -#suffix) == suffix and sub(key, 1, -#suffix - 1) or sub(key, 1, -2) .. "!"
        end
      end
      if not groups[key] then
        groups[key] = {}
        order[#order + 1] = key
      end
      table.insert(groups[key], names[v])
    end
    for j, key in ipairs(order) do order[j] = key .. ": " .. table.concat(groups[key], " ") end
    print(format("%s #%d  %s", name, i, table.concat(order, "; ")))
  end
end
