//! Long brackets `[==[ … ]==]` and comments.

use super::{LexError, Lexer, Near, Token, line_break, newline};

/// After `[`: a long string, or the bracket alone.
pub(super) fn string_or_bracket(lexer: &mut Lexer<'_>) -> Result<Token, LexError> {
    let rest = lexer.remainder();
    let level = level(rest);
    if rest.get(level) == Some(&b'[') {
        lexer.bump(level + 1);
        content(lexer, level, true)?;
        lexer.extras.delimiter = level + 2;
        return Ok(Token::String);
    }
    if level == 0 {
        return Ok(Token::LeftBracket);
    }
    lexer.bump(level);
    Err(LexError::new("invalid long string delimiter", Near::Slice))
}

/// After `--`: skips a comment of either form.
pub(super) fn comment(lexer: &mut Lexer<'_>) -> Result<(), LexError> {
    let rest = lexer.remainder();
    if let [b'[', after @ ..] = rest {
        let level = level(after);
        if after.get(level) == Some(&b'[') {
            lexer.bump(level + 2);
            return content(lexer, level, false);
        }
    }
    let length = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
    lexer.bump(length);
    Ok(())
}

/// Number of `=` at the start of `text`.
fn level(text: &[u8]) -> usize {
    text.iter().take_while(|&&b| b == b'=').count()
}

/// Reads up to the closing bracket of `level`; with `keep`, the buffer then holds content and delimiters.
fn content(lexer: &mut Lexer<'_>, level: usize, keep: bool) -> Result<(), LexError> {
    let start_line = lexer.extras.line;
    let mut buffer = std::mem::take(&mut lexer.extras.buffer);
    buffer.clear();
    if keep {
        buffer.extend_from_slice(lexer.slice());
    }
    let first_break = line_break(lexer.remainder());
    if first_break > 0 {
        lexer.bump(first_break);
        newline(lexer)?;
    }
    loop {
        let rest = lexer.remainder();
        let Some(plain) = rest.iter().position(|b| matches!(b, b']' | b'\n' | b'\r')) else {
            lexer.bump(rest.len());
            let text = if keep { "unfinished long string" } else { "unfinished long comment" };
            return Err(LexError { text, start_line: Some(start_line), near: Near::Eof });
        };
        if keep {
            buffer.extend_from_slice(&rest[..plain]);
        }
        let rest = &rest[plain..];
        let break_length = line_break(rest);
        if break_length > 0 {
            if keep {
                buffer.push(b'\n');
            }
            lexer.bump(plain + break_length);
            newline(lexer)?;
            continue;
        }
        let closing = self::level(&rest[1..]);
        let closes = closing == level && rest.get(1 + closing) == Some(&b']');
        let taken = 1 + closing + usize::from(closes);
        if keep {
            buffer.extend_from_slice(&rest[..taken]);
        }
        lexer.bump(plain + taken);
        if closes {
            lexer.extras.buffer = buffer;
            return Ok(());
        }
    }
}
