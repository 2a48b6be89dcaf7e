//! Literal strings.

use std::fmt::Write;

/// Returns the string as a literal, of which at most `limit` bytes are shown.
pub(super) fn quote(bytes: &[u8], limit: usize) -> String {
    let mut shown = &bytes[..bytes.len().min(limit)];
    if shown.len() < bytes.len() {
        // Does not cut in the middle of a character, which has up to four bytes.
        let starts = |at: &usize| bytes[*at] & 0xC0 != 0x80;
        let end = (shown.len().saturating_sub(3)..=shown.len()).rev().find(starts);
        shown = &shown[..end.unwrap_or(shown.len())];
    }
    let mut text = String::from("\"");
    for chunk in shown.utf8_chunks() {
        let mut letters = chunk.valid().chars().peekable();
        while let Some(c) = letters.next() {
            match c {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                c if c.is_ascii_control() => {
                    let wide = letters.peek().is_some_and(char::is_ascii_digit);
                    let code = c as u32;
                    let _ =
                        if wide { write!(text, "\\{code:03}") } else { write!(text, "\\{code}") };
                }
                c if c.is_control() => drop(write!(text, "\\u{{{:x}}}", c as u32)),
                c => text.push(c),
            }
        }
        for b in chunk.invalid() {
            let _ = write!(text, "\\x{b:02X}");
        }
    }
    text.push('"');
    if shown.len() < bytes.len() {
        let _ = write!(text, "… ({} bytes)", bytes.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn escapes() {
        assert_eq!(quote(b"", 9), r#""""#);
        assert_eq!(quote(b"a\"b\\c\n\t\r", 99), r#""a\"b\\c\n\t\r""#);
        assert_eq!(quote(b"\0\x01\x002", 99), r#""\0\1\0002""#);
        assert_eq!(quote("\u{e9}\u{85}".as_bytes(), 99), "\"\u{e9}\\u{85}\"");
        assert_eq!(quote(b"\xff\xc3", 99), r#""\xFF\xC3""#);
    }

    #[test]
    fn long_strings() {
        assert_eq!(quote(b"abcdef", 6), "\"abcdef\"");
        assert_eq!(quote(b"abcdef", 3), "\"abc\"… (6 bytes)");
        assert_eq!(quote("a\u{e9}b".as_bytes(), 2), "\"a\"… (4 bytes)");
        assert_eq!(quote("\u{1f600}a".as_bytes(), 3), "\"\"… (5 bytes)");
        // Bytes that are not characters may look like the rest of one.
        assert_eq!(quote(&[0x80; 9], 4), "\"\\x80\\x80\\x80\\x80\"… (9 bytes)");
    }
}
