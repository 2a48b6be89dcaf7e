//! Matching of a compiled pattern against bytes, by backtracking.
//!
//! The recursion depth is counted exactly where PUC's matcher recurses, so that "pattern too
//! complex" is raised at the same depth.

use super::pattern::{Class, Fault, Follow, Item, MAX_CAPTURES, MAX_DEPTH, Pattern, Repeat, Start};

/// Number of matching steps between two checks whether the script must stop.
const STEPS_BETWEEN_POLLS: u32 = 1 << 16;

/// Number of bytes that are searched between two such checks.
const PIECE: usize = 1 << 20;

/// The length that marks a position capture.
const POSITION: u32 = u32::MAX;

/// The result of a match that failed. It exceeds the length of every subject.
const NO_MATCH: usize = usize::MAX;
/// The result of a match that raises [`Matcher::error`]. The matcher returns these numbers instead
/// of enums since they fit into a register.
const RAISED: usize = usize::MAX - 1;

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
    /// Start and length of each capture.
    captures: [(u32, u32); MAX_CAPTURES],
    state: Captures,
    steps: u32,
    /// The error of a match that ended with [`RAISED`].
    error: MatchError,
}

/// Records which captures exist. Backtracking restores this record. It need not restore the
/// captures themselves, since each is written again before it is read.
#[derive(Clone, Copy)]
struct Captures {
    /// The number of captures.
    level: usize,
    /// One bit for each capture that has not been closed.
    open: u32,
}

impl Captures {
    const NONE: Captures = Captures { level: 0, open: 0 };
}

impl<'a> Matcher<'a> {
    /// Makes a matcher. It calls `interrupted` from time to time to find out whether to give up.
    #[inline]
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
            state: Captures::NONE,
            steps: 0,
            error: MatchError::Interrupted,
        }
    }

    /// Returns start and end of the first match that starts at `from` or later; if the pattern is
    /// anchored, only of one that starts at `from`.
    pub(crate) fn find(&mut self, mut from: usize) -> Result<Option<(usize, usize)>, MatchError> {
        if self.pattern.one_byte && !self.pattern.anchored {
            return self.find_byte(from);
        }
        if let Some(class) = self.pattern.span {
            return self.find_span(class, from);
        }
        while from <= self.subject.len() {
            if !self.pattern.anchored {
                from = self.candidate(from);
            }
            let end = if from < RAISED {
                self.state = Captures::NONE;
                self.run(from, 0, MAX_DEPTH)
            } else {
                from
            };
            if end < RAISED {
                return Ok(Some((from, end)));
            }
            if end == RAISED {
                return Err(self.error);
            }
            if self.pattern.anchored || from == NO_MATCH {
                break;
            }
            from += 1;
        }
        Ok(None)
    }

    /// Returns start and end of the first match that starts at `from` or later, of a pattern that
    /// is one byte, class or set.
    #[inline]
    fn find_byte(&mut self, from: usize) -> Result<Option<(usize, usize)>, MatchError> {
        if from >= self.subject.len() {
            return Ok(None);
        }
        match self.candidate(from) {
            NO_MATCH => Ok(None),
            RAISED => Err(self.error),
            at => Ok(Some((at, at + 1))),
        }
    }

    /// Returns start and end of the first match that starts at `from` or later, of a pattern that
    /// is a repeated class.
    #[inline]
    fn find_span(
        &mut self,
        class: Class,
        from: usize,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        if from >= self.subject.len() {
            return Ok(None);
        }
        self.count(1);
        if self.steps >= STEPS_BETWEEN_POLLS && self.poll() {
            return Err(self.error);
        }
        let at = match self.candidate(from) {
            NO_MATCH => return Ok(None),
            RAISED => return Err(self.error),
            at => at,
        };
        match self.span(class, at) {
            RAISED => Err(self.error),
            end => Ok(Some((at, end))),
        }
    }

    /// Returns the first position from `from` on where a match may start, which may be the end, or
    /// else [`NO_MATCH`] or [`RAISED`].
    #[inline]
    fn candidate(&mut self, from: usize) -> usize {
        let pattern = self.pattern;
        match pattern.start {
            Start::Anywhere => from,
            Start::Byte(b) => self.scan(from, NO_MATCH, |piece| memchr::memchr(b, piece)),
            Start::Set(s) => {
                let set = &pattern.sets[s as usize];
                self.scan(from, NO_MATCH, |piece| piece.iter().position(|b| set.has(*b)))
            }
        }
    }

    /// Returns the position that `find` finds from `from` on, `missing` if it finds none, or
    /// [`RAISED`]. A long text is passed to `find` in pieces.
    #[inline(always)]
    fn scan(
        &mut self,
        from: usize,
        missing: usize,
        find: impl Fn(&[u8]) -> Option<usize>,
    ) -> usize {
        let text = &self.subject[from..];
        if text.len() <= PIECE {
            return find(text).map_or(missing, |i| from + i);
        }
        for (i, piece) in text.chunks(PIECE).enumerate() {
            if let Some(at) = find(piece) {
                return from + i * PIECE + at;
            }
            if self.poll() {
                return RAISED;
            }
        }
        missing
    }

    /// Returns the number of captures of the match.
    #[inline]
    pub(crate) fn captures(&self) -> usize {
        self.state.level
    }

    /// Returns capture `i` of the match `start .. end`; capture 0 of a pattern without captures is
    /// the whole match.
    #[inline]
    pub(crate) fn capture(
        &self,
        i: usize,
        start: usize,
        end: usize,
    ) -> Result<Capture, MatchError> {
        if i >= self.state.level {
            if i != 0 {
                return Err(MatchError::InvalidIndex(i as i32 + 1));
            }
            return Ok(Capture::Text(start, end));
        }
        if self.state.open >> i & 1 != 0 {
            return Err(MatchError::Unfinished);
        }
        match self.captures[i] {
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

    /// Returns the end of the consecutive bytes of `class` that begin at `at`, or [`RAISED`].
    #[inline]
    fn span(&mut self, class: Class, at: usize) -> usize {
        let len = self.subject.len();
        let end = match class {
            Class::Any => len,
            Class::Byte(c) => self.scan(at, len, |piece| piece.iter().position(|b| *b != c)),
            Class::Set(s) => {
                let set = &self.pattern.sets[s as usize];
                self.scan(at, len, |piece| piece.iter().position(|b| !set.has(*b)))
            }
        };
        if end != RAISED {
            // Long spans count as steps too, since a search may try one at each position.
            self.count((end - at) >> 4);
        }
        end
    }

    /// Adds to the number of steps.
    #[inline(always)]
    fn count(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(steps as u32);
    }

    /// Returns whether the script must stop; if so, sets the error.
    #[cold]
    fn poll(&mut self) -> bool {
        self.steps = 0;
        let stop = (self.interrupted)();
        if stop {
            self.error = MatchError::Interrupted;
        }
        stop
    }

    #[cold]
    #[inline(never)]
    fn raise(&mut self, error: MatchError) -> usize {
        self.error = error;
        RAISED
    }

    /// Matches the items from `item` on at `at`, with at most `depth` nested calls. Returns the end
    /// of the match, [`NO_MATCH`], or [`RAISED`].
    ///
    /// PUC's matcher also calls itself for each capture, so `depth` counts captures too.
    fn run(&mut self, mut at: usize, mut item: usize, mut depth: u32) -> usize {
        if depth == 0 {
            return self.raise(MatchError::TooComplex);
        }
        depth -= 1;
        self.count(1);
        if self.steps >= STEPS_BETWEEN_POLLS && self.poll() {
            return RAISED;
        }
        let pattern = self.pattern;
        loop {
            match pattern.items[item] {
                Item::Accept => return at,
                Item::Literal(from, to) => {
                    let literal = &pattern.literals[from as usize..to as usize];
                    if let [b] = literal {
                        if self.subject.get(at) != Some(b) {
                            return NO_MATCH;
                        }
                    } else {
                        // Comparing many bytes counts as steps.
                        self.count(literal.len() >> 6);
                        if !self.subject[at..].starts_with(literal) {
                            return NO_MATCH;
                        }
                    }
                    at += literal.len();
                }
                Item::One(class) => {
                    if !self.is(class, at) {
                        return NO_MATCH;
                    }
                    at += 1;
                }
                Item::Many(class, Repeat::Optional, follow) => {
                    if self.is(class, at) {
                        if follow == Follow::AfterAll {
                            at += 1;
                        } else {
                            let captures = self.state;
                            let end = self.run(at + 1, item + 1, depth);
                            if end != NO_MATCH {
                                return end;
                            }
                            self.state = captures;
                        }
                    }
                }
                Item::Many(class, Repeat::Lazy, follow) => {
                    if follow != Follow::AfterAll {
                        // PUC does not recurse for zero repetitions if there cannot be any more.
                        if self.is(class, at) {
                            return self.lazy(class, follow, at, item + 1, depth);
                        }
                    } else {
                        at = self.span(class, at);
                        if at == RAISED {
                            return RAISED;
                        }
                    }
                }
                Item::Many(class, repeat, follow) => {
                    let end = self.span(class, at);
                    if end == RAISED {
                        return RAISED;
                    }
                    if end == at {
                        if repeat == Repeat::Plus {
                            return NO_MATCH;
                        }
                    } else if follow == Follow::AfterAll {
                        at = end;
                    } else {
                        let least = at + usize::from(repeat == Repeat::Plus);
                        return self.greedy(follow, least, end, item + 1, depth);
                    }
                }
                kind @ (Item::Open | Item::Position) => {
                    let Captures { level, .. } = self.state;
                    if level >= MAX_CAPTURES {
                        return self.raise(MatchError::TooManyCaptures);
                    }
                    self.captures[level] = (at as u32, POSITION);
                    self.state.level += 1;
                    self.state.open |= u32::from(kind == Item::Open) << level;
                    if depth == 0 {
                        return self.raise(MatchError::TooComplex);
                    }
                    depth -= 1;
                }
                Item::Close => {
                    let Some(l) = self.state.open.checked_ilog2() else {
                        return self.raise(MatchError::InvalidClose);
                    };
                    let (from, len) = &mut self.captures[l as usize];
                    *len = at as u32 - *from;
                    self.state.open ^= 1 << l;
                    if depth == 0 {
                        return self.raise(MatchError::TooComplex);
                    }
                    depth -= 1;
                }
                Item::Back(n) => {
                    at = self.back_reference(at, n);
                    if at >= RAISED {
                        return at;
                    }
                }
                Item::Balance(open, close) => {
                    at = self.balance(at, open, close);
                    if at >= RAISED {
                        return at;
                    }
                }
                Item::Frontier(s) => {
                    let set = &pattern.sets[s as usize];
                    let before = if at == 0 { 0 } else { self.subject[at - 1] };
                    let here = self.subject.get(at).copied().unwrap_or(0);
                    if set.has(before) || !set.has(here) {
                        return NO_MATCH;
                    }
                }
                Item::End => {
                    if at != self.subject.len() {
                        return NO_MATCH;
                    }
                }
                Item::Fault(f) => return self.raise(MatchError::Malformed(f)),
            }
            item += 1;
        }
    }

    /// Matches the items from `rest` on at `most`, then at each earlier position, down to `least`.
    fn greedy(
        &mut self,
        follow: Follow,
        least: usize,
        most: usize,
        rest: usize,
        depth: u32,
    ) -> usize {
        let captures = self.state;
        let mut at = most;
        loop {
            match follow {
                Follow::Anywhere | Follow::AfterAll => {}
                Follow::Byte(b) => {
                    let end = (at + 1).min(self.subject.len());
                    // The first call of this function finds nothing if there are no positions left.
                    let Some(range) = self.subject.get(least..end) else { return NO_MATCH };
                    let found = memchr::memrchr(b, range);
                    self.count((range.len() - found.unwrap_or(0)) >> 4);
                    let Some(i) = found else { return NO_MATCH };
                    at = least + i;
                }
                Follow::Set(s, at_end) => {
                    let set = &self.pattern.sets[s as usize];
                    let range = &self.subject[least..(at + 1).min(self.subject.len())];
                    if at < self.subject.len() || !at_end {
                        let found = range.iter().rposition(|b| set.has(*b));
                        self.count((range.len() - found.unwrap_or(0)) >> 4);
                        match found {
                            Some(i) => at = least + i,
                            None => return NO_MATCH,
                        }
                    }
                }
            }
            let end = self.run(at, rest, depth);
            if end != NO_MATCH {
                return end;
            }
            if at == least {
                return NO_MATCH;
            }
            self.state = captures;
            at -= 1;
        }
    }

    /// Matches the items from `rest` on at `at`, then at each later position as long as the bytes
    /// before it are in `class`.
    fn lazy(
        &mut self,
        class: Class,
        follow: Follow,
        mut at: usize,
        rest: usize,
        depth: u32,
    ) -> usize {
        let captures = self.state;
        loop {
            let possible = match follow {
                Follow::Anywhere | Follow::AfterAll => true,
                Follow::Byte(b) if class == Class::Any => {
                    let next = self.scan(at, NO_MATCH, |piece| memchr::memchr(b, piece));
                    if next == RAISED {
                        return RAISED;
                    }
                    // Searched bytes count as steps, whether or not one is found.
                    self.count((next.min(self.subject.len()) - at) >> 4);
                    if next == NO_MATCH {
                        return NO_MATCH;
                    }
                    at = next;
                    true
                }
                Follow::Byte(b) => self.subject.get(at) == Some(&b),
                Follow::Set(s, at_end) => match self.subject.get(at) {
                    Some(b) => self.pattern.sets[s as usize].has(*b),
                    None => at_end,
                },
            };
            if possible {
                let end = self.run(at, rest, depth);
                if end != NO_MATCH {
                    return end;
                }
                self.state = captures;
            } else {
                self.count(1);
                if self.steps >= STEPS_BETWEEN_POLLS && self.poll() {
                    return RAISED;
                }
            }
            if !self.is(class, at) {
                return NO_MATCH;
            }
            at += 1;
        }
    }

    fn back_reference(&mut self, at: usize, n: u8) -> usize {
        let l = usize::from(n).wrapping_sub(1);
        if l >= self.state.level || self.state.open >> l & 1 != 0 {
            return self.raise(MatchError::InvalidIndex(i32::from(n)));
        }
        let (from, len) = self.captures[l];
        if len == POSITION {
            return NO_MATCH;
        }
        let text = &self.subject[from as usize..from as usize + len as usize];
        self.count(text.len() >> 6);
        if self.subject[at..].starts_with(text) { at + text.len() } else { NO_MATCH }
    }

    fn balance(&mut self, at: usize, open: u8, close: u8) -> usize {
        if self.subject.get(at) != Some(&open) {
            return NO_MATCH;
        }
        let mut depth = 1usize;
        let mut end = at + 1;
        for piece in self.subject[end..].chunks(PIECE) {
            for (i, b) in piece.iter().enumerate() {
                if *b == close {
                    depth -= 1;
                    if depth == 0 {
                        self.count(i >> 4);
                        return end + i + 1;
                    }
                } else if *b == open {
                    depth += 1;
                }
            }
            end += piece.len();
            if end < self.subject.len() && self.poll() {
                return RAISED;
            }
        }
        self.count((self.subject.len() - at) >> 4);
        NO_MATCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(s: &str, p: &str) -> Result<Option<(usize, usize)>, MatchError> {
        let pattern = Pattern::new(p.as_bytes(), true);
        Matcher::new(s.as_bytes(), &pattern, &|| false).find(0)
    }

    fn captures(s: &str, p: &str) -> Vec<String> {
        let pattern = Pattern::new(p.as_bytes(), true);
        let mut m = Matcher::new(s.as_bytes(), &pattern, &|| false);
        let (a, b) = m.find(0).unwrap().unwrap();
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

    /// The result of a search, with its captures.
    type Found = Result<Option<(usize, usize, Vec<Capture>)>, MatchError>;

    fn found_by(p: &Pattern, s: &[u8]) -> Found {
        let mut m = Matcher::new(s, p, &|| false);
        let Some((start, end)) = m.find(0)? else { return Ok(None) };
        let captures = (0..m.captures()).map(|i| m.capture(i, start, end));
        Ok(Some((start, end, captures.collect::<Result<_, _>>()?)))
    }

    #[test]
    fn positions_left_out_do_not_match() {
        const PARTS: &[&str] = &[
            "a", "b", "%a", "%d", "[ab]", "[^a]", ".", "a*", "b+", "%a*", "%w-", ".-", ".*", "b?",
            "[ab]?", "%s*", "[^b]*", "[^1]-", "%d+", "(", ")", "()", "%1", "%2", "$", "%b()",
            "%f[%a]", "%f[%z]", "1", " ", "^", "%", "[a", "%f", "(a*)", "(.-)", "(%w+)",
        ];
        const BYTES: &[u8] = b"aabb1 (a)";
        let mut random = fastrand::Rng::with_seed(1);
        let mut random = |n: usize| random.usize(..n);
        let (mut matches, mut errors) = (0, 0);
        for _ in 0..if cfg!(miri) { 200 } else { 60_000 } {
            let text: String = (0..random(6) + 1).map(|_| PARTS[random(PARTS.len())]).collect();
            let subject: Vec<u8> = (0..random(12)).map(|_| BYTES[random(BYTES.len())]).collect();
            let p = Pattern::new(text.as_bytes(), true);
            let mut all = Pattern::new(text.as_bytes(), true);
            all.start = Start::Anywhere;
            all.one_byte = false;
            all.span = None;
            for item in &mut all.items {
                if let Item::Many(_, _, follow) = item {
                    *follow = Follow::Anywhere;
                }
            }
            let found = found_by(&p, &subject);
            assert_eq!(found, found_by(&all, &subject), "{text} {}", subject.escape_ascii());
            matches += usize::from(matches!(found, Ok(Some(_))));
            errors += usize::from(found.is_err());
        }
        assert!(cfg!(miri) || matches > 10_000 && errors > 1_000, "{matches} {errors}");
    }
}
