-- The list of diagnostics, which every part of the compiler adds to.

local report = { list = {} }

function report.add(line, message, ...)
  report.list[#report.list + 1] = { line = line, text = string.format(message, ...) }
end

-- Orders the diagnostics by line, then text.
function report.sort()
  table.sort(report.list, function(a, b)
    if a.line ~= b.line then return a.line < b.line end
    return a.text < b.text
  end)
end

return report
