-- A module in a folder.
return { name = (...) }
