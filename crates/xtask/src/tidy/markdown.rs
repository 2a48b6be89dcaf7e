//! Parses the parts of Markdown that the rules need.

/// Returns the pieces of a text between backticks, with the line of each; code blocks are skipped.
pub(super) fn quoted(text: &str) -> Vec<(usize, String)> {
    let mut in_block = false;
    let mut words = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block && !line.starts_with("    ") {
            for c in line.chars().chain(['\n']) {
                match (c, &mut open) {
                    ('`', Some(_)) => words.extend(open.take()),
                    ('`', None) => open = Some((number + 1, String::new())),
                    (c, Some((_, word))) => word.push(c),
                    (_, None) => {}
                }
            }
        }
    }
    words
}

/// Returns the lines of a section, from its heading to the next one of the same or a higher level.
///
/// # Panics
/// Panics if no heading is `heading`.
pub(super) fn section(text: &str, heading: &str) -> String {
    let level = heading.bytes().take_while(|b| *b == b'#').count();
    let mut lines = text.lines().skip_while(|l| *l != heading);
    assert!(lines.next().is_some(), "no section '{heading}'");
    let inside = |l: &&str| {
        let n = l.bytes().take_while(|b| *b == b'#').count();
        n == 0 || n > level
    };
    lines.take_while(inside).collect::<Vec<_>>().join("\n")
}

/// Returns a line of Rust without its comment; string literals are not recognized.
pub(super) fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}
