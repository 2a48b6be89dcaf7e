//! Matching of a compiled pattern against bytes, by backtracking.
//!
//! Recursion is counted exactly where PUC's matcher recurses, so that "pattern too complex" is
//! raised at the same depth.

use super::compile::{Class, Fault, Item, Pattern, Repeat, Start};

/// Maximum number of captures of a pattern (PUC's `LUA_MAXCAPTURES`).
pub(crate) const MAX_CAPTURES: usize = 32;
/// Maximum recursion depth of the matcher (PUC's `MAXCCALLS`).
const MAX_DEPTH: u32 = 200;
/// Matching steps between two checks whether the script must stop.
const STEPS_BETWEEN_POLLS: u32 = 1 << 16;

/// Bytes that are searched between two such checks.
const PIECE: usize = 1 << 20;

/// Length of a capture that is still open.
const UNFINISHED: u32 = u32::MAX;
/// Length of a position capture.
const POSITION: u32 = u32::MAX - 1;

/// The reason why a match fails with an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MatchError {
    /// The pattern is malformed.
    Malformed(Fault),
    /// Recursion too deep.
    TooComplex,
    /// More than [`MAX_CAPTURES`] captures.
    TooManyCaptures,
    /// `)` without `(`.
    InvalidClose,
    /// `%n` for a missing capture; counts from 1.
    InvalidIndex(i32),
    /// `(` without `)`.
    Unfinished,
    /// The script was asked to stop.
    Interrupted,
}

impl MatchError {
    /// Returns PUC's message.
    pub(crate) fn message(self) -> String {
        match self {
            MatchError::Malformed(f) => f.message().to_owned(),
            MatchError::TooComplex => "pattern too complex".to_owned(),
            MatchError::TooManyCaptures => "too many captures".to_owned(),
            MatchError::InvalidClose => "invalid pattern capture".to_owned(),
            MatchError::InvalidIndex(n) => format!("invalid capture index %{n}"),
            MatchError::Unfinished => "unfinished capture".to_owned(),
            MatchError::Interrupted => "interrupted!".to_owned(),
        }
    }
}

/// A capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Capture {
    /// The bytes of this range.
    Text(usize, usize),
    /// A position, counted from 1.
    Position(usize),
}

/// The subject, the pattern and the captures of the current match.
pub(crate) struct Matcher<'a> {
    subject: &'a [u8],
    pattern: &'a Pattern,
    interrupted: &'a dyn Fn() -> bool,
    captures: [(u32, u32); MAX_CAPTURES],
    level: usize,
    depth: u32,
    steps: u32,
}

type Step = Result<Option<usize>, MatchError>;

impl<'a> Matcher<'a> {
    /// Makes a matcher. It calls `interrupted` from time to time to ask whether to give up.
    pub(crate) fn new(
        subject: &'a [u8],
        pattern: &'a Pattern,
        interrupted: &'a dyn Fn() -> bool,
    ) -> Matcher<'a> {
        Matcher {
            subject,
            pattern,
            interrupted,
            captures: [(0, 0); MAX_CAPTURES],
            level: 0,
            depth: MAX_DEPTH,
            steps: 0,
        }
    }

    /// Tries to match exactly at `at`, and returns the end of the match.
    pub(crate) fn match_at(&mut self, at: usize) -> Step {
        self.level = 0;
        self.depth = MAX_DEPTH;
        self.run(at, 0)
    }

    /// Returns start and end of the first match that starts at `from` or later.
    pub(crate) fn search(&mut self, mut from: usize) -> Result<Option<(usize, usize)>, MatchError> {
        loop {
            let Some(at) = self.candidate(from)? else { return Ok(None) };
            if let Some(end) = self.match_at(at)? {
                return Ok(Some((at, end)));
            }
            from = at + 1;
            if from > self.subject.len() {
                return Ok(None);
            }
        }
    }

    /// Returns the first position from `from` on where a match may start.
    #[inline]
    fn candidate(&mut self, from: usize) -> Step {
        let Some(rest) = self.subject.get(from..) else { return Ok(None) };
        let pattern = self.pattern;
        let found = match pattern.start {
            Start::Anywhere => Some(0),
            Start::Byte(b) => self.scan(rest, |piece| memchr::memchr(b, piece))?,
            Start::Set(s) => {
                let set = &pattern.sets[s as usize];
                self.scan(rest, |piece| piece.iter().position(|b| set.has(*b)))?
            }
        };
        Ok(found.map(|i| from + i))
    }

    /// Returns the position that `find` finds in `text`. A long text is passed in pieces.
    #[inline]
    fn scan(&mut self, text: &[u8], find: impl Fn(&[u8]) -> Option<usize>) -> Step {
        if text.len() <= PIECE {
            return Ok(find(text));
        }
        for (i, piece) in text.chunks(PIECE).enumerate() {
            if let Some(at) = find(piece) {
                return Ok(Some(i * PIECE + at));
            }
            self.poll()?;
        }
        Ok(None)
    }

    /// Returns the number of captures of the match.
    pub(crate) fn captures(&self) -> usize {
        self.level
    }

    /// Returns capture `i` of the match `start .. end`; capture 0 of a pattern without captures is
    /// the whole match.
    pub(crate) fn capture(
        &self,
        i: usize,
        start: usize,
        end: usize,
    ) -> Result<Capture, MatchError> {
        if i >= self.level {
            if i != 0 {
                return Err(MatchError::InvalidIndex(i as i32 + 1));
            }
            return Ok(Capture::Text(start, end));
        }
        match self.captures[i] {
            (_, UNFINISHED) => Err(MatchError::Unfinished),
            (at, POSITION) => Ok(Capture::Position(at as usize + 1)),
            (at, len) => Ok(Capture::Text(at as usize, at as usize + len as usize)),
        }
    }

    #[inline(always)]
    fn is(&self, class: Class, at: usize) -> bool {
        match (self.subject.get(at), class) {
            (None, _) => false,
            (Some(_), Class::Any) => true,
            (Some(b), Class::Byte(c)) => *b == c,
            (Some(b), Class::Set(s)) => self.pattern.sets[s as usize].has(*b),
        }
    }

    /// Returns the number of bytes of `class` from `at` on.
    #[inline]
    fn span(&mut self, class: Class, at: usize) -> Result<usize, MatchError> {
        let rest = &self.subject[at.min(self.subject.len())..];
        let end = match class {
            Class::Any => None,
            Class::Byte(c) => self.scan(rest, |piece| piece.iter().position(|b| *b != c))?,
            Class::Set(s) => {
                let set = &self.pattern.sets[s as usize];
                self.scan(rest, |piece| piece.iter().position(|b| !set.has(*b)))?
            }
        };
        Ok(end.unwrap_or(rest.len()))
    }

    #[cold]
    fn poll(&mut self) -> Result<(), MatchError> {
        self.steps = 0;
        if (self.interrupted)() { Err(MatchError::Interrupted) } else { Ok(()) }
    }

    /// Matches the items from `item` on at `at`.
    fn run(&mut self, at: usize, item: usize) -> Step {
        if self.depth == 0 {
            return Err(MatchError::TooComplex);
        }
        self.steps += 1;
        if self.steps >= STEPS_BETWEEN_POLLS {
            self.poll()?;
        }
        self.depth -= 1;
        let r = self.items(at, item)?;
        self.depth += 1;
        Ok(r)
    }

    fn items(&mut self, mut at: usize, mut item: usize) -> Step {
        let pattern = self.pattern;
        loop {
            match pattern.items[item] {
                Item::Accept => return Ok(Some(at)),
                Item::Literal(from, to) => {
                    let literal = &pattern.literals[from as usize..to as usize];
                    // Comparing many bytes counts as steps.
                    self.steps = self.steps.saturating_add(to.wrapping_sub(from) >> 6);
                    if !self.subject[at.min(self.subject.len())..].starts_with(literal) {
                        return Ok(None);
                    }
                    at += literal.len();
                }
                Item::One(class) => {
                    if !self.is(class, at) {
                        return Ok(None);
                    }
                    at += 1;
                }
                Item::Many(class, Repeat::Star) => {
                    let n = self.span(class, at)?;
                    if n > 0 {
                        return self.greedy(at, 0, n, item + 1);
                    }
                }
                Item::Many(class, Repeat::Plus) => {
                    let n = self.span(class, at)?;
                    return if n > 0 { self.greedy(at, 1, n, item + 1) } else { Ok(None) };
                }
                Item::Many(class, Repeat::Lazy) => {
                    if self.is(class, at) {
                        return self.lazy(class, at, item + 1);
                    }
                }
                Item::Many(class, Repeat::Optional) => {
                    if self.is(class, at)
                        && let Some(end) = self.run(at + 1, item + 1)?
                    {
                        return Ok(Some(end));
                    }
                }
                Item::Open => return self.open(at, UNFINISHED, item + 1),
                Item::Position => return self.open(at, POSITION, item + 1),
                Item::Close => return self.close(at, item + 1),
                Item::Back(n) => match self.back_reference(at, n)? {
                    Some(next) => at = next,
                    None => return Ok(None),
                },
                Item::Balance(open, close) => match self.balance(at, open, close)? {
                    Some(next) => at = next,
                    None => return Ok(None),
                },
                Item::Frontier(s) => {
                    let set = &pattern.sets[s as usize];
                    let before = if at == 0 { 0 } else { self.subject[at - 1] };
                    let here = self.subject.get(at).copied().unwrap_or(0);
                    if set.has(before) || !set.has(here) {
                        return Ok(None);
                    }
                }
                Item::End => {
                    if at != self.subject.len() {
                        return Ok(None);
                    }
                }
                Item::Fault(f) => return Err(MatchError::Malformed(f)),
            }
            item += 1;
        }
    }

    /// Tries `n` repetitions, then fewer, down to `least`.
    fn greedy(&mut self, at: usize, least: usize, n: usize, rest: usize) -> Step {
        // Long spans count as steps, too, since a search may try one at each position.
        self.steps = self.steps.saturating_add((n >> 4) as u32);
        match self.pattern.items[rest] {
            // Nothing can fail after the last item.
            Item::Accept if self.depth > 0 => return Ok(Some(at + n)),
            // Only positions followed by the required byte are tried.
            Item::Literal(from, _) if self.depth > 0 => {
                let next = self.pattern.literals[from as usize];
                let mut end = (at + n + 1).min(self.subject.len());
                while let Some(i) = memchr::memrchr(next, &self.subject[at + least..end]) {
                    if let Some(e) = self.run(at + least + i, rest)? {
                        return Ok(Some(e));
                    }
                    end = at + least + i;
                }
                return Ok(None);
            }
            _ => {}
        }
        for i in (least..=n).rev() {
            if let Some(end) = self.run(at + i, rest)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn lazy(&mut self, class: Class, mut at: usize, rest: usize) -> Step {
        loop {
            if let Some(end) = self.run(at, rest)? {
                return Ok(Some(end));
            }
            if !self.is(class, at) {
                return Ok(None);
            }
            at += 1;
        }
    }

    fn open(&mut self, at: usize, what: u32, rest: usize) -> Step {
        if self.level >= MAX_CAPTURES {
            return Err(MatchError::TooManyCaptures);
        }
        self.captures[self.level] = (at as u32, what);
        self.level += 1;
        let r = self.run(at, rest)?;
        if r.is_none() {
            self.level -= 1;
        }
        Ok(r)
    }

    fn close(&mut self, at: usize, rest: usize) -> Step {
        let open = self.captures[..self.level].iter().rposition(|c| c.1 == UNFINISHED);
        let Some(l) = open else { return Err(MatchError::InvalidClose) };
        self.captures[l].1 = at as u32 - self.captures[l].0;
        let r = self.run(at, rest)?;
        if r.is_none() {
            self.captures[l].1 = UNFINISHED;
        }
        Ok(r)
    }

    fn back_reference(&mut self, at: usize, n: u8) -> Step {
        let l = usize::from(n).wrapping_sub(1);
        if l >= self.level || self.captures[l].1 == UNFINISHED {
            return Err(MatchError::InvalidIndex(i32::from(n)));
        }
        let (from, len) = self.captures[l];
        if len == POSITION {
            return Ok(None);
        }
        let text = &self.subject[from as usize..from as usize + len as usize];
        self.steps = self.steps.saturating_add(len >> 6);
        Ok(self.subject[at..].starts_with(text).then_some(at + text.len()))
    }

    fn balance(&mut self, at: usize, open: u8, close: u8) -> Step {
        if self.subject.get(at) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1usize;
        let mut end = at + 1;
        for piece in self.subject[end..].chunks(PIECE) {
            for (i, b) in piece.iter().enumerate() {
                if *b == close {
                    depth -= 1;
                    if depth == 0 {
                        self.steps = self.steps.saturating_add((i >> 4) as u32);
                        return Ok(Some(end + i + 1));
                    }
                } else if *b == open {
                    depth += 1;
                }
            }
            end += piece.len();
            if end < self.subject.len() {
                self.poll()?;
            }
        }
        self.steps = self.steps.saturating_add(((self.subject.len() - at) >> 4) as u32);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(s: &str, p: &str) -> Result<Option<(usize, usize)>, MatchError> {
        let (anchor, p) = match p.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, p),
        };
        let pattern = Pattern::new(p.as_bytes());
        let mut m = Matcher::new(s.as_bytes(), &pattern, &|| false);
        if anchor { Ok(m.match_at(0)?.map(|e| (0, e))) } else { m.search(0) }
    }

    fn captures(s: &str, p: &str) -> Vec<String> {
        let pattern = Pattern::new(p.as_bytes());
        let mut m = Matcher::new(s.as_bytes(), &pattern, &|| false);
        let (a, b) = m.search(0).unwrap().unwrap();
        (0..m.captures().max(1))
            .map(|i| match m.capture(i, a, b).unwrap() {
                Capture::Text(from, to) => s[from..to].to_owned(),
                Capture::Position(n) => n.to_string(),
            })
            .collect()
    }

    #[test]
    fn finds() {
        assert_eq!(find("hello world", "o w"), Ok(Some((4, 7))));
        assert_eq!(find("hello", "l+"), Ok(Some((2, 4))));
        assert_eq!(find("hello", "^l+"), Ok(None));
        assert_eq!(find("hello", "l*"), Ok(Some((0, 0))));
        assert_eq!(find("", ""), Ok(Some((0, 0))));
        assert_eq!(find("abc", "$"), Ok(Some((3, 3))));
        assert_eq!(find("a$b", "a$b"), Ok(Some((0, 3))));
        assert_eq!(find("key = value", "(%w+)%s*=%s*(%w+)"), Ok(Some((0, 11))));
        assert_eq!(find("THE (quick) fox", "%((%a+)%)"), Ok(Some((4, 11))));
        assert_eq!(find("x]y", "[]]"), Ok(Some((1, 2))));
        assert_eq!(find("x-y", "[a-]"), Ok(Some((1, 2))));
        assert_eq!(find("THE (quick) fox", "%f[%a]%a+%f[%A]"), Ok(Some((0, 3))));
        assert_eq!(find("f(a(b)c)d", "%b()"), Ok(Some((1, 8))));
        assert_eq!(find("aaab", "a-b"), Ok(Some((0, 4))));
        assert_eq!(find("[[x]]", "%[(.-)%]"), Ok(Some((0, 4))));
        assert_eq!(find("a\0b", "%z"), Ok(Some((1, 2))));
        assert_eq!(find("abab", "(ab)%1"), Ok(Some((0, 4))));
        assert_eq!(find("aXb", "%u"), Ok(Some((1, 2))));
        assert_eq!(find("ab12", "[^%a]+"), Ok(Some((2, 4))));
        assert_eq!(find("0x1F", "^0[xX]%x+$"), Ok(Some((0, 4))));
        assert_eq!(find("abc", "b?c"), Ok(Some((1, 3))));
    }

    #[test]
    fn captures_in_order() {
        assert_eq!(captures("key = value", "(%w+) = (%w+)"), ["key", "value"]);
        assert_eq!(captures("abc", "()b()"), ["2", "3"]);
        assert_eq!(captures("2026-01-02", "((%d+)-(%d+))"), ["2026-01", "2026", "01"]);
        assert_eq!(captures("abc", "b"), ["b"]);
    }

    #[test]
    fn errors_come_when_reached() {
        assert_eq!(find("abc", "x[a"), Ok(None));
        assert_eq!(find("abc", "a[a"), Err(MatchError::Malformed(Fault::MissingBracket)));
        assert_eq!(find("a", "a%"), Err(MatchError::Malformed(Fault::EndsWithPercent)));
        assert_eq!(find("a", "%f"), Err(MatchError::Malformed(Fault::FrontierSet)));
        assert_eq!(find("a", "%bx"), Err(MatchError::Malformed(Fault::BalanceArguments)));
        assert_eq!(find("a", "a)"), Err(MatchError::InvalidClose));
        assert_eq!(find("a", "%1"), Err(MatchError::InvalidIndex(1)));
        assert_eq!(find("a", &"()".repeat(33)), Err(MatchError::TooManyCaptures));
        assert_eq!(find(&"a".repeat(300), &"a?".repeat(300)), Err(MatchError::TooComplex));
    }
}
