return function(...) return ... end, "second value is lost"
