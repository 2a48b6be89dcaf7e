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
        local prefix, suffix = ("bad argument #%d to '%s' ("):format(i, name),
          (", got %s)"):format(got)
        key = tostring(message)
        if key:sub(1, #prefix) == prefix then
          key = key:sub(#prefix + 1)
          key = key:sub(-#suffix) == suffix and key:sub(1, -#suffix - 1) or key:sub(1, -2) .. "!"
        end
      end
      if not groups[key] then
        groups[key] = {}
        order[#order + 1] = key
      end
      table.insert(groups[key], names[v])
    end
    for j, key in ipairs(order) do order[j] = key .. ": " .. table.concat(groups[key], " ") end
    print(("%s #%d  %s"):format(name, i, table.concat(order, "; ")))
  end
end
