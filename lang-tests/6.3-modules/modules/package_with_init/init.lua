-- A module found as an init file.
return { name = ... .. " init" }
