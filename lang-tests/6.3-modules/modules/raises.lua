-- A module that fails while it runs.
error("raised while loading")
