//! Short literal strings and their escape sequences.
//!
//! The buffer grows as in PUC: when an escape is invalid, the message shows the string as decoded
//! so far, then the escape as written, up to and including the offending byte.

use super::{Failed, Lexer, Near, Result, line_break, newline, piece};
use crate::number::{hex_value, is_space};
use crate::utf8;

/// Reads the string into the buffer after its opening quote.
pub(super) fn quoted(lexer: &mut Lexer<'_>) -> Result<()> {
    let quote = lexer.slice()[0];
    lexer.extras.buffer.clear();
    lexer.extras.buffer.push(quote);
    lexer.extras.delimiter = 1;
    loop {
        let piece = piece(lexer)?;
        let plain = piece
            .iter()
            .position(|&b| b == quote || matches!(b, b'\\' | b'\n' | b'\r'))
            .unwrap_or(piece.len());
        lexer.extras.buffer.extend_from_slice(&piece[..plain]);
        lexer.bump(plain);
        match piece.get(plain) {
            None if !lexer.remainder().is_empty() => {}
            None => return Err(lexer.extras.fail("unfinished string", Near::Eof)),
            Some(b'\n' | b'\r') => {
                return Err(lexer.extras.fail("unfinished string", Near::Buffer));
            }
            Some(b'\\') => escape(lexer)?,
            Some(_) => {
                lexer.bump(1);
                lexer.extras.buffer.push(quote);
                return Ok(());
            }
        }
    }
}

/// Reads one escape sequence, starting at its backslash, and adds its value to the buffer.
fn escape(lexer: &mut Lexer<'_>) -> Result<()> {
    let rest = lexer.remainder();
    let (length, value) = match rest.get(1) {
        // The caller reports the end of the input as that of the string.
        None => return take(lexer, 1),
        Some(b'a') => (2, 0x07),
        Some(b'b') => (2, 0x08),
        Some(b'f') => (2, 0x0c),
        Some(b'n') => (2, b'\n'),
        Some(b'r') => (2, b'\r'),
        Some(b't') => (2, b'\t'),
        Some(b'v') => (2, 0x0b),
        Some(&byte @ (b'\\' | b'"' | b'\'')) => (2, byte),
        Some(b'\n' | b'\r') => {
            lexer.bump(1 + line_break(&rest[1..]));
            newline(lexer)?;
            lexer.extras.buffer.push(b'\n');
            return Ok(());
        }
        Some(b'x') => (4, hexadecimal(lexer)?),
        Some(b'u') => return unicode(lexer),
        Some(b'z') => {
            lexer.bump(2);
            return skip_space(lexer);
        }
        Some(b'0'..=b'9') => decimal(lexer)?,
        Some(_) => return Err(wrong(lexer, 1, "invalid escape sequence")),
    };
    lexer.extras.buffer.push(value);
    take(lexer, length)
}

fn take(lexer: &mut Lexer<'_>, length: usize) -> Result<()> {
    lexer.bump(length);
    Ok(())
}

/// Returns the error of an escape sequence in which byte number `at` (the backslash is number 0) is
/// wrong or missing.
fn wrong(lexer: &mut Lexer<'_>, at: usize, text: &'static str) -> Failed {
    let rest = lexer.remainder();
    let shown = rest.len().min(at + 1);
    lexer.extras.buffer.extend_from_slice(&rest[..shown]);
    lexer.bump(shown);
    lexer.extras.fail(text, Near::Buffer)
}

fn hex_digit(lexer: &mut Lexer<'_>, at: usize) -> Result<u8> {
    match lexer.remainder().get(at).and_then(|&b| hex_value(b)) {
        Some(value) => Ok(value),
        None => Err(wrong(lexer, at, "hexadecimal digit expected")),
    }
}

/// Reads `\xXX`.
fn hexadecimal(lexer: &mut Lexer<'_>) -> Result<u8> {
    Ok(hex_digit(lexer, 2)? << 4 | hex_digit(lexer, 3)?)
}

/// Reads `\u{XXX}`, up to 2³¹ - 1.
fn unicode(lexer: &mut Lexer<'_>) -> Result<()> {
    let rest = lexer.remainder();
    if rest.get(2) != Some(&b'{') {
        return Err(wrong(lexer, 2, "missing '{'"));
    }
    let mut code = u32::from(hex_digit(lexer, 3)?);
    let mut at = 4;
    while let Some(digit) = rest.get(at).and_then(|&b| hex_value(b)) {
        if code > 0x7fff_ffff >> 4 {
            return Err(wrong(lexer, at, "UTF-8 value too large"));
        }
        code = code << 4 | u32::from(digit);
        at += 1;
    }
    if rest.get(at) != Some(&b'}') {
        return Err(wrong(lexer, at, "missing '}'"));
    }
    utf8::encode(code, &mut lexer.extras.buffer);
    take(lexer, at + 1)
}

/// Reads `\ddd`, one to three digits.
fn decimal(lexer: &mut Lexer<'_>) -> Result<(usize, u8)> {
    let rest = lexer.remainder();
    let digits = rest[1..].iter().take(3).take_while(|b| b.is_ascii_digit());
    let (count, value) =
        digits.fold((0, 0u32), |(count, value), &b| (count + 1, value * 10 + u32::from(b - b'0')));
    match u8::try_from(value) {
        Ok(byte) => Ok((1 + count, byte)),
        Err(_) => Err(wrong(lexer, 1 + count, "decimal escape too large")),
    }
}

/// Skips the white space after `\z`, including line breaks.
fn skip_space(lexer: &mut Lexer<'_>) -> Result<()> {
    loop {
        let rest = piece(lexer)?;
        match line_break(rest) {
            0 if rest.first().is_some_and(|&b| is_space(b)) => lexer.bump(1),
            0 => return Ok(()),
            length => {
                lexer.bump(length);
                newline(lexer)?;
            }
        }
    }
}
