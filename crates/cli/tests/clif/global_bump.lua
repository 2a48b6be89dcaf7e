-- A load of a global and a store to it.
counter = 0
local function bump() counter = counter + 1 end
for i = 1, 4 do bump() end
