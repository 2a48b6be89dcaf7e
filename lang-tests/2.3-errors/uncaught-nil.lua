-- An uncaught nil error is reported by its type (2.3).
-- expect: error
--! (error object is a nil value)

error()
