//! Source text divided into lexemes, including comments, for consoles and editors, which show and
//! complete text that need not be valid.

use crate::lexer::{self, Token};
use crate::span::Span;

/// The kind of a piece of source text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LexemeKind {
    /// A comment of either form, even if it is unfinished.
    Comment,
    /// A reserved word, other than the constants.
    Keyword,
    /// `nil`, `true` or `false`.
    Constant,
    /// A name.
    Name,
    /// A numeral.
    Number,
    /// A literal string.
    String,
    /// A literal string that does not end, or has an invalid escape sequence.
    BadString,
    /// An operator or a delimiter.
    Symbol,
    /// Text that starts no token, or a malformed number.
    Invalid,
}

/// A piece of source text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lexeme {
    /// The kind of text.
    pub kind: LexemeKind,
    /// The position of the text.
    pub span: Span,
}

/// Divides text into lexemes, in their order; the text between them is white space. Errors are
/// lexemes too, and lexing continues after them.
pub fn lexemes(source: &[u8]) -> Lexemes<'_> {
    Lexemes { source, lexer: lexer::lexer(source, &|_| false), done: 0, ahead: None }
}

/// The iterator of [`lexemes`].
pub struct Lexemes<'s> {
    source: &'s [u8],
    lexer: logos::Lexer<'s, Token>,
    /// End of the lexemes that were already returned.
    done: usize,
    /// A token that was read, but must be returned after the comment that precedes it.
    ahead: Option<Lexeme>,
}

impl Lexemes<'_> {
    /// Returns the next token.
    fn token(&mut self) -> Option<Lexeme> {
        let token = self.lexer.next()?;
        let start = self.lexer.span().start;
        let kind = match token {
            Ok(token) => kind_of(&token),
            Err(_) => match self.lexer.slice() {
                [b'-', b'-', ..] => LexemeKind::Comment,
                [quote @ (b'"' | b'\''), ..] => {
                    let quote = *quote;
                    let rest = rest_of_string(self.lexer.remainder(), quote);
                    self.lexer.bump(rest);
                    LexemeKind::BadString
                }
                [b'[', ..] => LexemeKind::BadString,
                _ => LexemeKind::Invalid,
            },
        };
        Some(Lexeme { kind, span: span(start, self.lexer.span().end) })
    }

    /// Returns the first comment from `self.done` to `end`, a part of the text that the lexer has
    /// skipped.
    fn comment(&self, end: usize) -> Option<Lexeme> {
        let gap = self.source.get(self.done..end)?;
        let start = gap.windows(2).position(|w| w == b"--")?;
        let text = &gap[start + 2..];
        let length = match text.strip_prefix(b"[").and_then(long_bracket) {
            Some(level) => {
                let close = [&b"]"[..], &vec![b'='; level], b"]"].concat();
                text.windows(close.len()).position(|w| w == close).map(|i| i + close.len())
            }
            None => text.iter().position(|b| matches!(b, b'\n' | b'\r')),
        };
        let start = self.done + start;
        let length = length.unwrap_or(text.len());
        Some(Lexeme { kind: LexemeKind::Comment, span: span(start, start + 2 + length) })
    }
}

impl Iterator for Lexemes<'_> {
    type Item = Lexeme;

    fn next(&mut self) -> Option<Lexeme> {
        if self.ahead.is_none() {
            self.ahead = self.token();
        }
        let end = self.ahead.map_or(self.source.len(), |l| l.span.start as usize);
        let next = self.comment(end).or_else(|| self.ahead.take())?;
        self.done = next.span.end as usize;
        Some(next)
    }
}

fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}

/// Returns the level of a long bracket after its `[`, or `None` if it is not one.
fn long_bracket(text: &[u8]) -> Option<usize> {
    let level = text.iter().take_while(|b| **b == b'=').count();
    (text.get(level) == Some(&b'[')).then_some(level)
}

/// Returns the length of the rest of a string after an error in it: up to its closing quote or the
/// end of the line.
fn rest_of_string(text: &[u8], quote: u8) -> usize {
    let mut i = 0;
    while let Some(&b) = text.get(i) {
        match b {
            b'\n' | b'\r' => return i,
            b'\\' => i += 1,
            _ if b == quote => return i + 1,
            _ => {}
        }
        i += 1;
    }
    text.len()
}

fn kind_of(token: &Token) -> LexemeKind {
    match token {
        Token::Nil | Token::True | Token::False => LexemeKind::Constant,
        Token::Name => LexemeKind::Name,
        Token::Number => LexemeKind::Number,
        Token::String => LexemeKind::String,
        Token::Other => LexemeKind::Invalid,
        token if token.description().as_bytes()[1].is_ascii_alphabetic() => LexemeKind::Keyword,
        _ => LexemeKind::Symbol,
    }
}

#[cfg(test)]
mod tests {
    use super::{LexemeKind, lexemes};

    fn check(source: &str, expect: &[(LexemeKind, &str)]) {
        let found: Vec<_> = lexemes(source.as_bytes())
            .map(|l| (l.kind, &source[l.span.start as usize..l.span.end as usize]))
            .collect();
        assert_eq!(found, expect, "{source}");
    }

    #[test]
    fn tokens_and_comments() {
        use LexemeKind::{Comment, Constant, Keyword, Name, Number, String, Symbol};
        check("", &[]);
        check(
            "local x <const> = nil -- one\n--[=[ two\n]] ]=] return 'a'..0x1p4",
            &[
                (Keyword, "local"),
                (Name, "x"),
                (Symbol, "<"),
                (Name, "const"),
                (Symbol, ">"),
                (Symbol, "="),
                (Constant, "nil"),
                (Comment, "-- one"),
                (Comment, "--[=[ two\n]] ]=]"),
                (Keyword, "return"),
                (String, "'a'"),
                (Symbol, ".."),
                (Number, "0x1p4"),
            ],
        );
        check("-- a\n-- b", &[(Comment, "-- a"), (Comment, "-- b")]);
        check("--", &[(Comment, "--")]);
        check("a--[b\nc", &[(Name, "a"), (Comment, "--[b"), (Name, "c")]);
    }

    #[test]
    fn errors_are_lexemes() {
        use LexemeKind::{BadString, Comment, Invalid, Name, Symbol};
        check("x = 'a\nb", &[(Name, "x"), (Symbol, "="), (BadString, "'a"), (Name, "b")]);
        check(r"'a\q\'b' c", &[(BadString, r"'a\q\'b'"), (Name, "c")]);
        check("a --[[ b", &[(Name, "a"), (Comment, "--[[ b")]);
        check("[[a", &[(BadString, "[[a")]);
        check("a $ 3x", &[(Name, "a"), (Invalid, "$"), (Invalid, "3x")]);
    }
}
