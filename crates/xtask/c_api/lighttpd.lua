-- Requests that mod_magnet of lighttpd answers.
local r = lighty.r
if r.req_attr["uri.path"] == "/lua" then
  local t = {}
  for k, v in string.gmatch(r.req_attr["uri.query"] or "", "([^&=]+)=([^&=]*)") do
    t[#t + 1] = v .. ":" .. k
  end
  table.sort(t)
  r.resp_header["Content-Type"] = "text/plain"
  r.resp_body:set({ "served by Lua\n", table.concat(t, "\n"), "\n" })
  return 200
elseif r.req_attr["uri.path"] == "/old" then
  r.resp_header["Location"] = "/lua?moved=1"
  return 302
elseif r.req_attr["uri.path"] == "/fail" then
  error "failed on purpose"
end
