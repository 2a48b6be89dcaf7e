-- coroutine.close in every status (6.2).
-- expect: ok
--| true	dead	false	cannot resume dead coroutine
--| true
--| true	y
--| closing b	nil
--| closing a	nil
--| true	dead
--| true
--| false	cannot resume dead coroutine
--| closing b	nil
--| closing a	from b
--| false	from a
--| dead	true
--| false	cannot resume dead coroutine
--| false	object
--| 2	dead
--| true
--| false	kept
--| true
--| false	nil
--| dead	true
--| false	cannot close a running coroutine
--| running
--| normal	false	cannot close a normal coroutine
--| false	cannot close a running coroutine
--| false	cannot close a running coroutine
--| false	cannot close a normal coroutine
--| false	attempt to yield across a C-call boundary
--| true
--| true	in close
--| back	r
--| true	end
--| true
--| false
--| closing c	body
--| closing b	body
--| closing a	b
--| false
--| true	1
--| closing for	nil
--| true
local close, create, resume, status, yield = coroutine.close, coroutine.create, coroutine.resume,
  coroutine.status, coroutine.yield
local function closing(name, raised)
  return setmetatable({}, { __close = function(_, e)
    print("closing " .. name, type(e) == "table" and e[1] or e); if raised then error(raised, 0) end
  end })
end
local co = create(print); print(close(co), status(co), resume(co)); print(close(co))
co = create(function()
  local a <close> = closing("a"); local b <close> = closing("b"); yield("y"); print("never")
end)
print(resume(co)); print(close(co), status(co)); print(close(co)); print(resume(co))
co = create(function()
  local a <close> = closing("a", "from a"); local b <close> = closing("b", "from b"); yield()
end)
resume(co); print(close(co)); print(status(co), close(co)); print(resume(co))
co = create(function() error(setmetatable({}, { __tostring = function() return "object" end })) end)
print(resume(co)); print(select("#", close(co)), status(co)); print(close(co))
co = create(error); resume(co, "kept"); print(close(co)); print(close(co))
co = create(function() error() end); resume(co); print(close(co))
co = create(function() return 1 end); resume(co); print(status(co), close(co))
-- Not the running one, nor one that waits for another.
co = create(function() print(pcall(close, co)); print(status(co)) end); resume(co)
local outer
outer = create(function()
  resume(create(function() print(status(outer), pcall(close, outer)) end))
end)
resume(outer)
print(pcall(close, (coroutine.running())))
print(coroutine.wrap(function() return pcall(close, (coroutine.running())) end)())
local main = coroutine.running(); resume(create(function() print(pcall(close, main)) end))
-- A closing method may yield only while the coroutine runs, not while it is closed.
co = create(function()
  local x <close> = setmetatable({}, { __close = function() print(pcall(yield, "in close")) end })
  yield()
end)
resume(co); print(close(co))
co = create(function()
  do
    local x <close> = setmetatable({}, { __close = function()
      print("back", yield("in close"))
    end })
  end
  return "end"
end)
print(resume(co)); print(resume(co, "r")); print(close(co))
-- The error value goes through all of them.
co = create(function()
  local a <close> = closing("a"); local b <close> = closing("b", { "b" })
  local c <close> = closing("c"); error("body", 0)
end)
print((resume(co))); print((close(co)))
co = create(function()
  for i in function() return 1 end, nil, nil, closing("for") do yield(i) end
end)
print(resume(co)); print(close(co))
