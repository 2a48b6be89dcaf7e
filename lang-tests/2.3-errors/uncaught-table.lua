-- An uncaught error object without __tostring is reported by its type (2.3).
-- expect: error
--! (error object is a table value)
--| before

print("before")
error({ code = 2 })
