//! The syntax of the console's commands, which start with a dot, such as `.help`.

/// The command that takes a file.
pub(super) const LOAD: &str = ".load";

/// Every command.
pub(super) const NAMES: [&str; 4] = [".dump", ".help", LOAD, ".time"];

/// Returns the command and the text after it, if the text is a command: it starts with a dot and a
/// letter, as no Lua code does.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let name = text.strip_prefix('.')?;
    if !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    Some((&text[..end], text[end..].trim_start()))
}

/// Returns whether code follows the command.
pub(super) fn takes_code(command: &str) -> bool {
    matches!(command, ".time" | ".dump")
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn commands_and_code() {
        assert_eq!(split(".help"), Some((".help", "")));
        assert_eq!(split("  .time  f(1) "), Some((".time", "f(1) ")));
        assert_eq!(split("."), Some((".", "")));
        assert_eq!(split(".5 + 1"), None);
        assert_eq!(split("..."), None);
        assert_eq!(split("x.help"), None);
    }
}
