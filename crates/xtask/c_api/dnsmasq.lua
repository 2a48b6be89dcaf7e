-- What dnsmasq calls for leases.
local log = io.open(os.getenv "PERILUNE_LOG", "a")
function init() log:write("init\n") log:flush() end
function shutdown() log:write("shutdown\n") log:close() end
function lease(action, info)
  local keys = {}
  for k, v in pairs(info) do
    local varies = k == "lease_expires" or k == "time_remaining"
    if not varies then keys[#keys + 1] = k .. "=" .. tostring(v) end
  end
  table.sort(keys)
  log:write(action, " ", table.concat(keys, " "), "\n") log:flush()
end
