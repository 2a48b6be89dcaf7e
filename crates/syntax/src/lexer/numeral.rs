//! Numerals in source text.

use super::{BYTES_BETWEEN_LOOKS, Lexer, Near, Result};
use crate::number::{hex_value, str2number};

/// Reads the rest of a numeral whose first digit (possibly after a dot) logos has matched.
///
/// Stores its value in the scanner. Includes everything that looks like a part of the numeral, so
/// that `3x` or `1..2` is one malformed number.
pub(super) fn numeral(lexer: &mut Lexer<'_>) -> Result<()> {
    let rest = lexer.remainder();
    let mut length = 0;
    let mut exponent_mark = b'e';
    if lexer.slice().ends_with(b"0") && matches!(rest.first(), Some(b'x' | b'X')) {
        length = 1;
        exponent_mark = b'p';
    }
    while let Some(&byte) = rest.get(length) {
        if length % BYTES_BETWEEN_LOOKS == BYTES_BETWEEN_LOOKS - 1 {
            lexer.extras.look()?;
        }
        if byte.to_ascii_lowercase() == exponent_mark {
            length += 1;
            if matches!(rest.get(length), Some(b'+' | b'-')) {
                length += 1;
            }
        } else if byte == b'.' || hex_value(byte).is_some() {
            length += 1;
        } else {
            break;
        }
    }
    // A numeral that touches a letter is malformed, and the message shows that letter.
    if rest.get(length).is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_') {
        length += 1;
    }
    lexer.bump(length);
    match str2number(lexer.slice()) {
        Some(number) => {
            lexer.extras.number = number;
            Ok(())
        }
        None => Err(lexer.extras.fail("malformed number", Near::Slice)),
    }
}
