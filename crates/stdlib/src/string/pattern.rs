//! Compiled patterns.

use super::class::ByteSet;

/// Maximum number of captures of a pattern (PUC's `LUA_MAXCAPTURES`).
pub(crate) const MAX_CAPTURES: usize = 32;
/// Maximum recursion depth of the matcher (PUC's `MAXCCALLS`).
pub(super) const MAX_DEPTH: u32 = 200;

/// The bytes that a single or repeated item of a pattern matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// `.`
    Any,
    /// One byte.
    Byte(u8),
    /// A class or a set, by its number in [`Pattern::sets`].
    Set(u32),
}

/// The number of repetitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repeat {
    /// `*`
    Star,
    /// `+`
    Plus,
    /// `-`
    Lazy,
    /// `?`
    Optional,
}

/// The reason why a pattern is malformed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// It ends with `%`.
    EndsWithPercent,
    /// A set has no `]`.
    MissingBracket,
    /// `%b` lacks its two characters.
    BalanceArguments,
    /// `%f` is not followed by a set.
    FrontierSet,
}

impl Fault {
    /// Returns PUC's message.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Fault::EndsWithPercent => "malformed pattern (ends with '%')",
            Fault::MissingBracket => "malformed pattern (missing ']')",
            Fault::BalanceArguments => "malformed pattern (missing arguments to '%b')",
            Fault::FrontierSet => "missing '[' after '%f' in pattern",
        }
    }
}

/// Where the items after a repetition can match. Other positions are not tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Follow {
    /// Anywhere, as far as is known.
    Anywhere,
    /// Only after all repetitions, or certainly there: no other number of repetitions is tried.
    AfterAll,
    /// Before this byte.
    Byte(u8),
    /// Before a byte of this set and, if the flag is set, at the end of the subject.
    Set(u32, bool),
}

/// An item of a compiled pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    /// These bytes of [`Pattern::literals`].
    Literal(u32, u32),
    /// One byte.
    One(Class),
    /// A repeated byte, and what can come after the repetitions.
    Many(Class, Repeat, Follow),
    /// `(`
    Open,
    /// `()`
    Position,
    /// `)`
    Close,
    /// `%1` and so on; the number counts from 1, 0 is `%0`.
    Back(u8),
    /// `%bxy`
    Balance(u8, u8),
    /// `%f[set]`
    Frontier(u32),
    /// `$` at the end.
    End,
    /// The match is complete.
    Accept,
    /// The pattern is malformed from here on.
    Fault(Fault),
}

/// How a search finds positions at which a match may start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// Anywhere.
    Anywhere,
    /// At this byte.
    Byte(u8),
    /// At a byte of this set.
    Set(u32),
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// The program.
    pub(crate) items: Vec<Item>,
    /// Sets of the items.
    pub(crate) sets: Vec<ByteSet>,
    /// Bytes of the literals.
    pub(crate) literals: Vec<u8>,
    /// Where a match may start.
    pub(crate) start: Start,
    /// The whole pattern is one literal.
    pub(crate) plain: bool,
    /// The whole pattern is one byte, class or set: it matches each byte at which a match may
    /// start.
    pub(crate) one_byte: bool,
    /// The whole pattern is this byte, class or set, repeated at least once: it matches all such
    /// bytes from one at which a match may start.
    pub(crate) span: Option<Class>,
    /// Whether the pattern began with `^`.
    pub(crate) anchored: bool,
    /// The text of the pattern, with its anchor.
    pub(super) source: Box<[u8]>,
}

impl Pattern {
    /// Returns the number of a set in [`Pattern::sets`], after adding the set if necessary.
    pub(super) fn set(&mut self, set: ByteSet) -> u32 {
        let i = self.sets.iter().position(|s| *s == set).unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        });
        i as u32
    }
}
