//! UTF-8 as extended by Lua: sequences of up to six bytes for values below 2³¹ (manual 3.1 and
//! 6.5).

/// Appends the encoding of `code` to `out`.
///
/// # Panics
/// Panics in debug builds if `code` is 2³¹ or more.
pub fn encode(code: u32, out: &mut Vec<u8>) {
    debug_assert!(code < 1 << 31);
    if code < 0x80 {
        out.push(code as u8);
        return;
    }
    // A sequence of n bytes carries 5n + 1 bits.
    let count = (2..6).find(|n| code < 1 << (5 * n + 1)).unwrap_or(6);
    let lead_mark = 0xffu32 << (8 - count);
    out.push((lead_mark | code >> (6 * (count - 1))) as u8);
    for index in (0..count - 1).rev() {
        out.push((0x80 | (code >> (6 * index) & 0x3f)) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn lengths_and_bytes() {
        let check = |code: u32, expect: &[u8]| {
            let mut out = Vec::new();
            encode(code, &mut out);
            assert_eq!(out, expect, "{code:x}");
        };
        for text in
            ["\0", "\x7f", "\u{80}", "\u{7ff}", "\u{800}", "\u{ffff}", "\u{10000}", "\u{10ffff}"]
        {
            check(text.chars().next().unwrap() as u32, text.as_bytes());
        }
        check(0xd800, b"\xed\xa0\x80");
        check(0x1f_ffff, b"\xf7\xbf\xbf\xbf");
        check(0x20_0000, b"\xf8\x88\x80\x80\x80");
        check(0x3ff_ffff, b"\xfb\xbf\xbf\xbf\xbf");
        check(0x400_0000, b"\xfc\x84\x80\x80\x80\x80");
        check(0x7fff_ffff, b"\xfd\xbf\xbf\xbf\xbf\xbf");
    }
}
