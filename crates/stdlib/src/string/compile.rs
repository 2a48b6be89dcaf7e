//! Patterns in compiled form (manual 6.4.1).
//!
//! A malformed pattern is an error only when a match reaches the fault, as in PUC: the fault
//! becomes an item of the program.

use std::cell::RefCell;
use std::rc::Rc;

use super::class::ByteSet;

/// The bytes that a single or repeated item of a pattern matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// `.`
    Any,
    /// One byte.
    Byte(u8),
    /// A class or a set, by its number in [`Pattern::sets`].
    Set(u16),
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

/// An item of a compiled pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    /// These bytes of [`Pattern::literals`].
    Literal(u32, u32),
    /// One byte.
    One(Class),
    /// A repeated byte.
    Many(Class, Repeat),
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
    Frontier(u16),
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
    Set(u16),
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
}

struct Compiler<'a> {
    source: &'a [u8],
    out: Pattern,
}

/// Returns the end of the class that starts at `p`: one character, an escape or a set.
fn class_end(source: &[u8], mut p: usize) -> Result<usize, Fault> {
    let c = source[p];
    p += 1;
    match c {
        b'%' if p == source.len() => Err(Fault::EndsWithPercent),
        b'%' => Ok(p + 1),
        b'[' => {
            if source.get(p) == Some(&b'^') {
                p += 1;
            }
            loop {
                let Some(&c) = source.get(p) else { return Err(Fault::MissingBracket) };
                p += 1;
                if c == b'%' && p < source.len() {
                    p += 1;
                }
                if source.get(p) == Some(&b']') {
                    return Ok(p + 1);
                }
            }
        }
        _ => Ok(p),
    }
}

/// Returns the set for the text `inside` its brackets.
fn bracket_set(inside: &[u8]) -> ByteSet {
    let (negated, inside) = match inside.first() {
        Some(b'^') => (true, &inside[1..]),
        _ => (false, inside),
    };
    let mut set = ByteSet::EMPTY;
    let mut i = 0;
    while i < inside.len() {
        let c = inside[i];
        if c == b'%' {
            i += 1;
            match inside.get(i) {
                Some(&letter) => match ByteSet::class(letter) {
                    Some(class) => set.add_all(&class),
                    None => set.add(letter),
                },
                None => set.add(b']'),
            }
        } else if inside.get(i + 1) == Some(&b'-') && i + 2 < inside.len() {
            for b in c..=inside[i + 2] {
                set.add(b);
            }
            i += 2;
        } else {
            set.add(c);
        }
        i += 1;
    }
    if negated { set.complement() } else { set }
}

impl Compiler<'_> {
    fn set(&mut self, set: ByteSet) -> u16 {
        match self.out.sets.iter().position(|s| *s == set) {
            Some(i) => i as u16,
            None => {
                self.out.sets.push(set);
                (self.out.sets.len() - 1) as u16
            }
        }
    }

    fn class(&mut self, from: usize, to: usize) -> Class {
        match self.source[from] {
            b'.' => Class::Any,
            b'%' => match ByteSet::class(self.source[from + 1]) {
                Some(set) => Class::Set(self.set(set)),
                None => Class::Byte(self.source[from + 1]),
            },
            b'[' => {
                let set = bracket_set(&self.source[from + 1..to - 1]);
                Class::Set(self.set(set))
            }
            c => Class::Byte(c),
        }
    }

    fn one(&mut self, class: Class) {
        let Class::Byte(b) = class else { return self.out.items.push(Item::One(class)) };
        let end = self.out.literals.len() as u32;
        self.out.literals.push(b);
        match self.out.items.last_mut() {
            Some(Item::Literal(_, to)) if *to == end => *to += 1,
            _ => self.out.items.push(Item::Literal(end, end + 1)),
        }
    }

    fn fault(&mut self, f: Fault) {
        self.out.items.push(Item::Fault(f));
    }

    fn run(&mut self) {
        let s = self.source;
        let mut p = 0;
        while p < s.len() {
            let next = s.get(p + 1).copied();
            match (s[p], next) {
                (b'(', Some(b')')) => {
                    self.out.items.push(Item::Position);
                    p += 2;
                }
                (b'(', _) => {
                    self.out.items.push(Item::Open);
                    p += 1;
                }
                (b')', _) => {
                    self.out.items.push(Item::Close);
                    p += 1;
                }
                (b'$', None) => {
                    self.out.items.push(Item::End);
                    p += 1;
                }
                (b'%', Some(b'b')) => {
                    if p + 3 >= s.len() {
                        return self.fault(Fault::BalanceArguments);
                    }
                    self.out.items.push(Item::Balance(s[p + 2], s[p + 3]));
                    p += 4;
                }
                (b'%', Some(b'f')) => {
                    p += 2;
                    if s.get(p) != Some(&b'[') {
                        return self.fault(Fault::FrontierSet);
                    }
                    match class_end(s, p) {
                        Ok(end) => {
                            let set = self.set(bracket_set(&s[p + 1..end - 1]));
                            self.out.items.push(Item::Frontier(set));
                            p = end;
                        }
                        Err(f) => return self.fault(f),
                    }
                }
                (b'%', Some(d @ b'0'..=b'9')) => {
                    self.out.items.push(Item::Back(d - b'0'));
                    p += 2;
                }
                _ => {
                    let end = match class_end(s, p) {
                        Ok(end) => end,
                        Err(f) => return self.fault(f),
                    };
                    let class = self.class(p, end);
                    p = end + 1;
                    match s.get(end) {
                        Some(b'*') => self.out.items.push(Item::Many(class, Repeat::Star)),
                        Some(b'+') => self.out.items.push(Item::Many(class, Repeat::Plus)),
                        Some(b'-') => self.out.items.push(Item::Many(class, Repeat::Lazy)),
                        Some(b'?') => self.out.items.push(Item::Many(class, Repeat::Optional)),
                        _ => {
                            self.one(class);
                            p = end;
                        }
                    }
                }
            }
        }
        self.out.items.push(Item::Accept);
    }
}

impl Pattern {
    /// Compiles a pattern without its anchor `^`.
    pub(crate) fn new(source: &[u8]) -> Pattern {
        let out = Pattern {
            items: Vec::with_capacity(8),
            sets: Vec::new(),
            literals: Vec::new(),
            start: Start::Anywhere,
            plain: false,
        };
        let mut c = Compiler { source, out };
        c.run();
        let mut p = c.out;
        // Captures may open before the first byte is read, but opening too many of them fails.
        let first = match p.items[..] {
            [Item::Open | Item::Position, first, ..] => first,
            _ => p.items[0],
        };
        p.start = match first {
            Item::Literal(from, _) => Start::Byte(p.literals[from as usize]),
            Item::One(Class::Set(s)) | Item::Many(Class::Set(s), Repeat::Plus) => Start::Set(s),
            Item::Many(Class::Byte(b), Repeat::Plus) => Start::Byte(b),
            Item::Balance(b, _) => Start::Byte(b),
            _ => Start::Anywhere,
        };
        p.plain = matches!(p.items[..], [Item::Literal(..), Item::Accept]);
        p
    }
}

/// Entries of the cache of compiled patterns.
const SLOTS: usize = 64;
/// Maximum length of a cached pattern.
const MAX_KEPT: usize = 256;

/// A slot of the cache: the source and its compiled form.
type Slot = Option<(Box<[u8]>, Rc<Pattern>)>;

thread_local! {
    static CACHE: RefCell<[Slot; SLOTS]> = const { RefCell::new([const { None }; SLOTS]) };
}

/// Returns the compiled form of a pattern, from the thread's cache if it is there.
pub(crate) fn compiled(source: &[u8]) -> Rc<Pattern> {
    if source.len() > MAX_KEPT {
        return Rc::new(Pattern::new(source));
    }
    let mut h = source.len() as u64;
    let mut chunks = source.chunks_exact(8);
    for c in &mut chunks {
        h = (h ^ c.iter().fold(0, |a, b| a << 8 | u64::from(*b)))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    h ^= chunks.remainder().iter().fold(0, |a, b| a << 8 | u64::from(*b));
    let slot = (h.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize % SLOTS;
    CACHE.with_borrow_mut(|cache| {
        if let Some((s, p)) = &cache[slot]
            && **s == *source
        {
            return p.clone();
        }
        let p = Rc::new(Pattern::new(source));
        cache[slot] = Some((source.into(), p.clone()));
        p
    })
}
