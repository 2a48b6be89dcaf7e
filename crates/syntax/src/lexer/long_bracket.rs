//! Long brackets `[==[ … ]==]` and comments.

use memchr::{memchr2, memchr3};

use super::{Failed, LexError, Lexer, Near, Result, Token, line_break, newline, piece};

/// Reads a long string, or the bracket alone, after its `[`.
pub(super) fn string_or_bracket(lexer: &mut Lexer<'_>) -> Result<Token> {
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
    Err(lexer.extras.fail("invalid long string delimiter", Near::Slice))
}

/// Skips a comment of either form after its `--`.
pub(super) fn comment(lexer: &mut Lexer<'_>) -> Result<()> {
    let rest = lexer.remainder();
    if let [b'[', after @ ..] = rest {
        let level = level(after);
        if after.get(level) == Some(&b'[') {
            lexer.bump(level + 2);
            return content(lexer, level, false);
        }
    }
    loop {
        let piece = piece(lexer)?;
        let end = memchr2(b'\n', b'\r', piece);
        lexer.bump(end.unwrap_or(piece.len()));
        if end.is_some() || lexer.remainder().is_empty() {
            return Ok(());
        }
    }
}

/// Returns the number of `=` at the start of `text`.
fn level(text: &[u8]) -> usize {
    text.iter().take_while(|&&b| b == b'=').count()
}

/// Reads up to the closing bracket of `level`. If `keep` is set, the buffer then holds the content
/// and the delimiters.
fn content(lexer: &mut Lexer<'_>, level: usize, keep: bool) -> Result<()> {
    let start_line = lexer.extras.line;
    lexer.extras.buffer.clear();
    if keep {
        let opening = lexer.slice();
        lexer.extras.buffer.extend_from_slice(opening);
    }
    let first_break = line_break(lexer.remainder());
    if first_break > 0 {
        lexer.bump(first_break);
        newline(lexer)?;
    }
    loop {
        let piece = piece(lexer)?;
        let plain = memchr3(b']', b'\n', b'\r', piece);
        let length = plain.unwrap_or(piece.len());
        if keep {
            lexer.extras.buffer.extend_from_slice(&piece[..length]);
        }
        let rest = &lexer.remainder()[length..];
        if plain.is_none() {
            lexer.bump(length);
            if !rest.is_empty() {
                continue;
            }
            let text = if keep { "unfinished long string" } else { "unfinished long comment" };
            lexer.extras.error = LexError { text, start_line: Some(start_line), near: Near::Eof };
            return Err(Failed);
        }
        let break_length = line_break(rest);
        if break_length > 0 {
            if keep {
                lexer.extras.buffer.push(b'\n');
            }
            lexer.bump(length + break_length);
            newline(lexer)?;
            continue;
        }
        let closing = self::level(&rest[1..]);
        let closes = closing == level && rest.get(1 + closing) == Some(&b']');
        let taken = 1 + closing + usize::from(closes);
        if keep {
            lexer.extras.buffer.extend_from_slice(&rest[..taken]);
        }
        lexer.bump(length + taken);
        if closes {
            return Ok(());
        }
    }
}
