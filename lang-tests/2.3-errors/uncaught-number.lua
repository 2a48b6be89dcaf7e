-- An uncaught number is reported as its text (2.3).
-- expect: error
--! 42

error(42)
