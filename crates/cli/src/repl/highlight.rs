//! Colours of source text while it is typed.

use perilune::syntax::{LexemeKind, lexemes};

use super::dot_command;
use crate::style::{Role, paint};

/// Returns the text with colours. A bracket at `cursor` and its counterpart are marked.
pub(super) fn highlight(text: &str, cursor: Option<usize>) -> String {
    let mut shown = String::new();
    let mut code = 0;
    if let Some((command, rest)) = dot_command::split(text) {
        code = if dot_command::takes_code(command) { text.len() - rest.len() } else { text.len() };
        let end = text.len() - text.trim_start().len() + command.len();
        shown.push_str(&paint(&text[..end], Role::Command));
        shown.push_str(&text[end..code]);
    }
    let pair = cursor.and_then(|c| brackets(text, code, c));
    let mut done = code;
    for lexeme in lexemes(&text.as_bytes()[code..]) {
        let (start, end) = (code + lexeme.span.start as usize, code + lexeme.span.end as usize);
        // If an error is in the middle of a character, leave the text as it is.
        let (Some(gap), Some(word)) = (text.get(done..start), text.get(start..end)) else {
            continue;
        };
        let role = match lexeme.kind {
            LexemeKind::Symbol if pair.is_some_and(|(a, b)| start == a || start == b) => {
                Role::Bracket
            }
            kind => role(kind),
        };
        shown.push_str(gap);
        shown.push_str(&paint(word, role));
        done = end;
    }
    shown.push_str(&text[done..]);
    shown
}

fn role(kind: LexemeKind) -> Role {
    match kind {
        LexemeKind::Comment => Role::Comment,
        LexemeKind::Keyword => Role::Keyword,
        LexemeKind::Constant => Role::Constant,
        LexemeKind::Number => Role::Number,
        LexemeKind::String => Role::String,
        LexemeKind::BadString | LexemeKind::Invalid => Role::Wrong,
        _ => Role::Plain,
    }
}

/// Returns the bracket at the cursor or before it, and its counterpart.
fn brackets(text: &str, code: usize, cursor: usize) -> Option<(usize, usize)> {
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for lexeme in lexemes(&text.as_bytes()[code..]).filter(|l| l.kind == LexemeKind::Symbol) {
        let at = code + lexeme.span.start as usize;
        let closes = match text.as_bytes()[at] {
            b @ (b'(' | b'[' | b'{') => {
                open.push((b, at));
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => continue,
        };
        match open.pop() {
            Some((b, start)) if b == closes => pairs.push((start, at)),
            _ => return None,
        }
    }
    let at = |place: usize| pairs.iter().find(|(a, b)| *a == place || *b == place).copied();
    at(cursor).or_else(|| at(cursor.checked_sub(1)?))
}

#[cfg(test)]
mod tests {
    use super::{brackets, highlight};
    use crate::style::strip;

    #[test]
    fn text_stays() {
        let texts = [
            "local x = {1, 'a', nil} -- c",
            "x = '\u{e9}",
            "\u{e9} = 1",
            "--[[ a\nb ]] f\"x\\q\"",
            ".time f(1)",
            ".load a'b",
            "",
        ];
        for text in texts {
            assert_eq!(strip(&highlight(text, Some(1))), text);
        }
    }

    #[test]
    fn roles() {
        assert_eq!(highlight("if x", None), "\x1b[1;34mif\x1b[0m x");
        assert_eq!(highlight(".time nil", None), "\x1b[33m.time\x1b[0m \x1b[35mnil\x1b[0m");
        assert_eq!(highlight("(1)", Some(3)), "\x1b[1;4m(\x1b[0m\x1b[36m1\x1b[0m\x1b[1;4m)\x1b[0m");
    }

    #[test]
    fn counterparts() {
        assert_eq!(brackets("f({1})", 0, 1), Some((1, 5)));
        assert_eq!(brackets("f({1})", 0, 5), Some((1, 5)));
        assert_eq!(brackets("f({1})", 0, 2), Some((2, 4)));
        assert_eq!(brackets("f('(')", 0, 3), None);
        assert_eq!(brackets("(]", 0, 0), None);
    }
}
