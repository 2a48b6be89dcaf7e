//! Compilation of patterns (manual 6.4.1), and the cache of compiled patterns.
//!
//! As in PUC, a malformed pattern raises an error only when a match reaches the malformed part,
//! which is compiled to an item that raises the error.

use std::cell::RefCell;
use std::rc::Rc;

use perilune_runtime::native::{Cx, Raised, Str};
use perilune_runtime::string::same_bytes;

use super::class::ByteSet;
use super::follow;
use super::pattern::{Class, Fault, Follow, Item, Pattern, Repeat, Start};

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
    fn set(&mut self, set: ByteSet) -> u32 {
        self.out.set(set)
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

    fn many(&mut self, class: Class, repeat: Repeat) {
        self.out.items.push(Item::Many(class, repeat, Follow::Anywhere));
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
                        Some(b'*') => self.many(class, Repeat::Star),
                        Some(b'+') => self.many(class, Repeat::Plus),
                        Some(b'-') => self.many(class, Repeat::Lazy),
                        Some(b'?') => self.many(class, Repeat::Optional),
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
    /// Compiles a pattern. An initial `^` is an anchor if `anchors` is set, or else a literal byte.
    pub(crate) fn new(source: &[u8], anchors: bool) -> Pattern {
        let rest = source.strip_prefix(b"^").filter(|_| anchors);
        let out = Pattern {
            items: Vec::with_capacity(8),
            sets: Vec::new(),
            literals: Vec::new(),
            start: Start::Anywhere,
            plain: false,
            one_byte: false,
            span: None,
            anchored: rest.is_some(),
            source: source.into(),
        };
        let mut c = Compiler { source: rest.unwrap_or(source), out };
        c.run();
        let mut p = c.out;
        follow::analyse(&mut p);
        p.plain = matches!(p.items[..], [Item::Literal(..), Item::Accept]);
        p.one_byte = match p.items[..] {
            [Item::Literal(from, to), Item::Accept] => to - from == 1,
            [Item::One(class), Item::Accept] => class == Class::Any || p.start != Start::Anywhere,
            _ => false,
        };
        p.span = match p.items[..] {
            [Item::Many(class, Repeat::Plus, Follow::AfterAll), Item::Accept] => Some(class),
            _ => None,
        };
        p.span = p.span.filter(|_| p.start != Start::Anywhere && !p.anchored);
        p
    }
}

/// Number of slots of the cache of compiled patterns.
const SLOTS: usize = 256;
/// Maximum length of a cached pattern.
const MAX_KEPT: usize = 256;

/// Two entries for patterns with equal hash bits; the one that was used last comes first.
type Slot = [Option<Rc<Pattern>>; 2];

thread_local! {
    static CACHE: RefCell<[Slot; SLOTS / 2]> =
        const { RefCell::new([const { [None, None] }; SLOTS / 2]) };
}

/// Prepares the thread for its uses of [`compiled`], as [`crate::support::prepare_thread`] does.
pub(super) fn prepare_thread() {
    CACHE.with(|_| ());
}

/// Returns the compiled form of a pattern, from the thread's cache if it is there. An initial `^`
/// is an anchor if `anchors` is set, or else a literal byte.
///
/// # Errors
/// Returns "not enough memory" if there is no room for the compiled form of a long pattern.
#[inline]
pub(crate) fn compiled(cx: &Cx, pattern: Str<'_>, anchors: bool) -> Result<Rc<Pattern>, Raised> {
    let source = pattern.bytes();
    if source.len() > MAX_KEPT {
        return compile_long(cx, source, anchors);
    }
    let anchored = anchors && source.first() == Some(&b'^');
    let slot = pattern.hash() as usize % (SLOTS / 2);
    Ok(CACHE.with_borrow_mut(|cache| {
        let [first, second] = &mut cache[slot];
        let is_it = |p: &&Rc<Pattern>| p.anchored == anchored && same_bytes(&p.source, source);
        if let Some(p) = first.as_ref().filter(is_it) {
            return p.clone();
        }
        std::mem::swap(first, second);
        if let Some(p) = first.as_ref().filter(is_it) {
            return p.clone();
        }
        insert(first, source, anchors)
    }))
}

#[cold]
#[inline(never)]
fn compile_long(cx: &Cx, source: &[u8], anchors: bool) -> Result<Rc<Pattern>, Raised> {
    // A byte of a literal is copied twice. A special byte makes at most two items and a set, in
    // lists that have twice the necessary capacity after they have grown.
    const SPECIAL: usize = 2 * (2 * size_of::<Item>() + size_of::<ByteSet>());
    let specials = source.iter().filter(|b| b"^$*+?.([%-".contains(b)).count();
    cx.check_room(2 * source.len() + SPECIAL * specials)?;
    Ok(Rc::new(Pattern::new(source, anchors)))
}

#[cold]
#[inline(never)]
fn insert(place: &mut Option<Rc<Pattern>>, source: &[u8], anchors: bool) -> Rc<Pattern> {
    place.insert(Rc::new(Pattern::new(source, anchors))).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follows(pattern: &str) -> Vec<Follow> {
        let p = Pattern::new(pattern.as_bytes(), true);
        let of = |item: &Item| match item {
            Item::Many(_, _, f) => Some(*f),
            _ => None,
        };
        p.items.iter().filter_map(of).collect()
    }

    #[test]
    fn repetitions() {
        use Follow::*;
        assert_eq!(follows("(%w+)%s*=%s*(%w+)"), [AfterAll; 4]);
        assert_eq!(follows("(.-)%s*$"), [Set(0, true), AfterAll]);
        assert_eq!(follows("'(.-)'"), [Byte(b'\'')]);
        assert_eq!(follows(".*x.*"), [Byte(b'x'), AfterAll]);
        assert_eq!(follows("%a+%w"), [Set(1, false)]);
        assert_eq!(follows("(a*)%1"), [Anywhere]);
        // PUC may find the errors of these patterns after any number of repetitions.
        assert_eq!(follows("a*b)"), [Anywhere]);
        assert_eq!(follows("a*%1"), [Anywhere]);
        assert_eq!(follows("a*b%"), [Anywhere]);
        assert!(follows(&"a?".repeat(200)).iter().all(|f| *f == Anywhere));
    }

    #[test]
    fn spans() {
        let span = |pattern: &str| Pattern::new(pattern.as_bytes(), true).span;
        for pattern in ["%a+", "[^,]+", "x+", "[ab]+"] {
            assert!(span(pattern).is_some(), "{pattern}");
        }
        for pattern in ["^%a+", ".+", "%a*", "%a-", "(%a+)", "%a+b", "%a+%d*", "%a", "%a+$"] {
            assert!(span(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn one_byte() {
        let is_one_byte = |pattern: &str| Pattern::new(pattern.as_bytes(), true).one_byte;
        for pattern in [".", "a", "%a", "%.", "[<&]", "[^%s]"] {
            assert!(is_one_byte(pattern), "{pattern}");
        }
        for pattern in ["", "ab", "a*", "(a)", "a$", "%f[a]", "()", "%1", "a%", "[a"] {
            assert!(!is_one_byte(pattern), "{pattern}");
        }
    }

    #[test]
    fn starts() {
        let start = |pattern: &str| Pattern::new(pattern.as_bytes(), true).start;
        assert_eq!(start("%s*="), Start::Set(1));
        assert_eq!(start("()x"), Start::Byte(b'x'));
        assert_eq!(start("a?$"), Start::Anywhere);
        assert_eq!(start("%f[%a]%a"), Start::Set(0));
        assert_eq!(start("%f[%z]"), Start::Anywhere);
        assert_eq!(start("(((x)"), Start::Byte(b'x'));
        assert_eq!(start("(x))"), Start::Anywhere);
    }
}
