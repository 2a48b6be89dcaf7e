//! Shows errors with their source: the line to which a message refers, and a mark under the error.
//!
//! The text of the message stays PUC's; the lines of source follow it.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use perilune::syntax::{self, chunkid, lexemes, skip_preamble};

use crate::style;

/// The known sources, for messages that name a place in one of them.
pub(crate) struct Explain {
    /// Whether errors are explained (`--explain`).
    enabled: bool,
    /// Display names and texts of chunks that are not files.
    sources: RefCell<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Explain {
    /// Creates an empty collection of sources.
    pub(crate) fn new(enabled: bool) -> Explain {
        Explain { enabled, sources: RefCell::default() }
    }

    /// Stores the text of a chunk with this name, in place of an earlier text.
    pub(crate) fn remember(&self, name: &[u8], source: &[u8]) {
        if self.enabled {
            let id = chunkid(name);
            let mut sources = self.sources.borrow_mut();
            sources.retain(|(known, _)| *known != id);
            sources.push((id, source.to_vec()));
        }
    }

    /// Returns the source that an error message is about, ready to be shown, if explanations are
    /// enabled and the message names a known place.
    pub(crate) fn message(&self, message: &[u8]) -> Option<String> {
        if !self.enabled {
            return None;
        }
        // A module that does not compile is named in the second line.
        let lines =
            message.split(|b| *b == b'\n').take(2).take_while(|l| *l != b"stack traceback:");
        lines.filter_map(|l| self.place(l.strip_prefix(b"\t").unwrap_or(l))).last()
    }

    /// Explains a line `name:number: text`.
    fn place(&self, message: &[u8]) -> Option<String> {
        let colons = (0..message.len()).filter(|i| message[*i] == b':');
        colons.into_iter().find_map(|colon| {
            let (name, rest) = (&message[..colon], &message[colon + 1..]);
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let text = rest[digits..].strip_prefix(b": ")?;
            let line = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
            let source = self.source(name)?;
            explain(name, &source, line, &String::from_utf8_lossy(text))
        })
    }

    fn source(&self, name: &[u8]) -> Option<Vec<u8>> {
        let sources = self.sources.borrow();
        if let Some((_, source)) = sources.iter().find(|(known, _)| known == name) {
            return Some(source.clone());
        }
        if name == b"stdin" {
            // typed source that was not stored
            return None;
        }
        let file = std::fs::read(std::ffi::OsStr::from_bytes(name)).ok()?;
        Some(skip_preamble(&file).to_vec())
    }
}

/// Returns line `line` of a source with a mark at the error `text`: under the offending token of a
/// syntax error, otherwise under the whole line. Returns `None` for a binary chunk, and if there is
/// no such line.
#[cold]
#[inline(never)]
pub(crate) fn explain(name: &[u8], source: &[u8], line: usize, text: &str) -> Option<String> {
    if source.starts_with(b"\x1b") {
        return None;
    }
    let at_line = line_range(source, line)?;
    let error = syntax::check(source, b"=").err().filter(|e| {
        // it is the same error if the line and the text after it are equal
        e.line as usize == line && e.message.ends_with(text.as_bytes())
    });
    let span = match error {
        Some(e) if e.span.start < e.span.end => e.span.start as usize..e.span.end as usize,
        Some(_) => behind_last_token(source),
        None => at_line,
    };
    let text = text.split('\n').next().unwrap_or_default();
    let clean = printable(source);
    // A byte that starts no token is a token of its own, also as part of a character.
    let span = clean.floor_char_boundary(span.start)..clean.ceil_char_boundary(span.end);
    let mut snippet = Snippet::source(&clean[..])
        .path(String::from_utf8_lossy(name).into_owned())
        .annotation(AnnotationKind::Primary.span(span.clone()).label(text));
    if let Some(opening) = opening(source, text, span.start) {
        snippet = snippet.annotation(AnnotationKind::Context.span(opening).label("opened here"));
    }
    let colours = style::wanted(std::io::stderr().is_terminal());
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    let mut shown = renderer.render(&[Group::with_level(Level::ERROR).element(snippet)]);
    shown.push('\n');
    Some(shown)
}

/// Returns the range of line `line` (from 1), without blanks at both ends.
fn line_range(source: &[u8], line: usize) -> Option<Range<usize>> {
    let mut start = 0;
    for _ in 1..line {
        start += source[start..].iter().position(|b| *b == b'\n')? + 1;
    }
    let rest = &source[start..];
    let text = &rest[..rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())];
    let blank = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let kept = text[blank..].trim_ascii_end().len();
    Some(start + blank..start + blank + kept)
}

/// Returns the place after the last token, which is that of an error at the end of the input.
fn behind_last_token(source: &[u8]) -> Range<usize> {
    let end = lexemes(source).last().map_or(0, |l| l.span.end as usize);
    end..end
}

/// Returns the token that a message "(to close 'x' at line n)" refers to.
fn opening(source: &[u8], message: &str, before: usize) -> Option<Range<usize>> {
    let (_, what) = message.split_once("(to close '")?;
    let (token, rest) = what.split_once("' at line ")?;
    let line: usize = rest.split(')').next()?.parse().ok()?;
    let at = line_range(source, line)?;
    let found = lexemes(source)
        .map(|l| l.span.start as usize..l.span.end as usize)
        .filter(|s| at.contains(&s.start) && s.end <= before);
    found.filter(|s| source[s.clone()] == *token.as_bytes()).last()
}

/// Returns the source as text of the same length, in which bytes that are not UTF-8 are question
/// marks.
fn printable(source: &[u8]) -> String {
    let mut text = String::with_capacity(source.len());
    for chunk in source.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Explain;

    fn check(source: &str, message: &str, expect: &str) {
        let explain = Explain::new(true);
        explain.remember(b"=demo", source.as_bytes());
        let shown = explain.message(message.as_bytes()).unwrap_or_default();
        assert_eq!(shown.trim_end(), expect.trim_matches('\n'), "{source}\n{shown}");
    }

    #[test]
    fn token_of_a_syntax_error() {
        check(
            "local a\nx = = 1\n",
            "demo:2: unexpected symbol near '='",
            "
 --> demo:2:5
  |
2 | x = = 1
  |     ^ unexpected symbol near '='",
        );
    }

    #[test]
    fn character_that_starts_no_token() {
        let check = |line: &str, mark: &str| {
            let message = "unexpected symbol near '<\\195>'";
            let expect = format!("\n --> demo:1:5\n  |\n1 | {line}\n  |     {mark} {message}");
            check(line, &format!("demo:1: {message}"), &expect);
        };
        check("x = \u{e4} + 1", "^");
        check("x = \u{e4}", "^");
    }

    #[test]
    fn end_of_the_input() {
        check(
            "for i = 1, 2 do\n  print(i) -- \u{e9}\n\n",
            "demo:4: 'end' expected (to close 'for' at line 1) near <eof>",
            "
 --> demo:2:16
  |
1 | for i = 1, 2 do
  | --- opened here
2 |   print(i) -- \u{e9}
  |                ^ 'end' expected (to close 'for' at line 1) near <eof>",
        );
    }

    #[test]
    fn line_of_an_error_at_run_time() {
        check(
            "\n  error('no')",
            "demo:2: no\nstack traceback:\n\t[C]: in ?",
            "
 --> demo:2:3
  |
2 |   error('no')
  |   ^^^^^^^^^^^ no",
        );
    }

    #[test]
    fn nothing_to_show() {
        check("x", "other:1: no", "");
        check("x", "demo:7: no", "");
        check("x", "no position", "");
        check("x", "no position\nstack traceback:\n\tdemo:1: in main chunk", "");
    }
}
