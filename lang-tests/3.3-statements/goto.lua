-- goto jumps to a visible label (3.3.4).
-- expect: ok
--| 1 2 3 
--| 1 3 5 
--| found
--| l1
--| l2
--| l3
--| in function

do
  local i = 1
  ::top::
  if i <= 3 then io.write(i, " "); i = i + 1; goto top end
  print()
end
for i = 1, 5 do
  if i % 2 == 0 then goto continue end
  io.write(i, " ")
  ::continue::
end
print()
for i = 1, 3 do
  for j = 1, 3 do
    if i * j == 4 then goto found end
  end
end
::found:: print("found")
do goto skip; print("never") ::skip:: end
do
  goto l1
  ::l2:: print("l2") goto l3
  ::l1:: print("l1") goto l2
  ::l3:: print("l3")
end
while true do do goto out end end
::out::
repeat local x = 1; if x then goto cont end; x = 2 ::cont:: until true
do local function f() goto e; ::e:: return "in function" end print(f()) end
