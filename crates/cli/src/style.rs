//! Colours on the terminal.

use std::borrow::Cow;

/// The role of a piece of text, which determines its look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Text without a special look.
    Plain,
    Keyword,
    Constant,
    Number,
    String,
    Comment,
    /// Erroneous source text.
    Wrong,
    /// Functions and other objects that have no text of their own; hints.
    Faint,
    /// A command of the console.
    Command,
    /// The bracket under the cursor and its counterpart.
    Bracket,
}

impl Role {
    /// Returns the parameters of the control sequence that selects the look.
    fn code(self) -> &'static str {
        match self {
            Role::Plain => "",
            Role::Keyword => "1;34",
            Role::Constant => "35",
            Role::Number => "36",
            Role::String => "32",
            Role::Comment | Role::Faint => "90",
            Role::Wrong => "31",
            Role::Command => "33",
            Role::Bracket => "1;4",
        }
    }
}

/// Returns the text in the look of its role.
pub(crate) fn paint(text: &str, role: Role) -> Cow<'_, str> {
    match role.code() {
        "" => Cow::Borrowed(text),
        code => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
    }
}

/// Returns whether a stream gets colours: a terminal does, unless the environment variable
/// `NO_COLOR` is set and not empty.
pub(crate) fn wanted(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Returns the text without control sequences of the terminal.
pub(crate) fn strip(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            plain.push(c);
        } else if chars.next() == Some('[') {
            // skip the parameters and the letter that ends the sequence
            let _ = chars.by_ref().find(|c| ('@'..='~').contains(c));
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{Role, paint, strip};

    #[test]
    fn painted_text_keeps_its_letters() {
        assert_eq!(paint("a", Role::Plain), "a");
        assert_eq!(strip(&paint("a = 1", Role::Keyword)), "a = 1");
        assert_eq!(strip("\x1b[1;31mred\x1b[0m>\x1b"), "red>");
    }
}
