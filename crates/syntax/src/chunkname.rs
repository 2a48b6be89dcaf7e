//! Chunk names, by which messages identify the origin of a chunk.

/// Longest display name, counting a terminating zero that C would need.
const ID_SIZE: usize = 60;
const DOTS: &[u8] = b"...";

/// Returns the display name of a chunk named `name` (manual 4.10, `source` and `short_src` of
/// `lua_Debug`).
///
/// `=text` shows `text`. `@file` shows the file name, the beginning of which is cut off if it is
/// long. Anything else is the source itself, and shows as `[string "first line..."]`.
pub fn chunkid(name: &[u8]) -> Vec<u8> {
    // Names are C strings in the reference implementation: they end at the first zero. A text may
    // be the whole program, of which only the beginning is shown.
    let most = if name.first() == Some(&b'@') { name.len() } else { name.len().min(ID_SIZE) };
    let name = before(0, &name[..most]);
    match name {
        [b'=', text @ ..] => text[..text.len().min(ID_SIZE - 1)].to_vec(),
        [b'@', file @ ..] if file.len() < ID_SIZE => file.to_vec(),
        [b'@', file @ ..] => {
            let tail = ID_SIZE - 1 - DOTS.len();
            [DOTS, &file[file.len() - tail..]].concat()
        }
        text => {
            let room = ID_SIZE - br#"[string "..."]"#.len() - 1;
            let line = before(b'\n', text);
            let whole = line.len() == text.len() && text.len() < room;
            let dots = if whole { b"" } else { DOTS };
            [b"[string \"", &line[..line.len().min(room)], dots, b"\"]"].concat()
        }
    }
}

/// Returns the text before the first occurrence of a byte, or all of it.
fn before(byte: u8, text: &[u8]) -> &[u8] {
    memchr::memchr(byte, text).map_or(text, |end| &text[..end])
}

/// Returns the part of a file that is source text: drops a byte order mark and a first line that
/// starts with `#`.
///
/// The newline of that line stays, so that the following lines keep their numbers, unless a binary
/// chunk follows. Only text that comes from a file is treated in this way.
pub fn skip_preamble(source: &[u8]) -> &[u8] {
    let source = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
    if source.first() != Some(&b'#') {
        return source;
    }
    match &source[before(b'\n', source).len()..] {
        [b'\n', binary @ ..] if binary.first() == Some(&0x1b) => binary,
        rest => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::{chunkid, skip_preamble};

    fn check(name: &str, expect: &str) {
        assert_eq!(String::from_utf8(chunkid(name.as_bytes())).unwrap(), expect);
    }

    #[test]
    fn display_names() {
        let digits = "0123456789".repeat(7);
        check("=stdin", "stdin");
        check("=", "");
        check(&format!("={digits}"), &digits[..59]);
        check("@dir/file.lua", "dir/file.lua");
        check(&format!("@{}", &digits[..59]), &digits[..59]);
        check(&format!("@{}", &digits[..60]), &format!("...{}", &digits[4..60]));
        check("return 1", "[string \"return 1\"]");
        check("", "[string \"\"]");
        check("a\nb", "[string \"a...\"]");
        check("\nb", "[string \"...\"]");
        check(&digits[..44], &format!("[string \"{}\"]", &digits[..44]));
        check(&digits[..45], &format!("[string \"{}...\"]", &digits[..45]));
        for end in ["", "\n", "\0x"] {
            check(&format!("{digits}{end}"), &format!("[string \"{}...\"]", &digits[..45]));
        }
        check(&format!("={digits}\0x"), &digits[..59]);
        check(&format!("@{digits}\0x"), &format!("...{}", &digits[14..]));
        check("a\0b", "[string \"a\"]");
    }

    #[test]
    fn preamble() {
        let check = |source: &[u8], expect: &[u8]| assert_eq!(skip_preamble(source), expect);
        check(b"x=1", b"x=1");
        check(b"\xef\xbb\xbfx=1", b"x=1");
        check(b"#!/bin/lua\nx=1", b"\nx=1");
        check(b"\xef\xbb\xbf#!lua\r\nx=1", b"\nx=1");
        check(b"#only", b"");
        check(b"#a\n\x1bLua", b"\x1bLua");
        check(b"\n#a", b"\n#a");
        check(b"", b"");
    }
}
