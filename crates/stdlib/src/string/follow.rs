//! Determines what can follow the repetitions of a pattern, so that the matcher backtracks only to
//! positions where the rest of the pattern can match.

use super::class::ByteSet;
use super::pattern::{Class, Follow, Item, MAX_CAPTURES, MAX_DEPTH, Pattern, Repeat, Start};

/// A necessary condition for a match at a position.
#[derive(Clone, Copy)]
struct First {
    /// The next byte is in this set,
    bytes: ByteSet,
    /// or this is set and the position is the end of the subject.
    end: bool,
}

impl First {
    const ANYWHERE: First = First { bytes: ByteSet::ALL, end: true };
}

/// Determines where a match may start, and what may follow each repetition.
pub(super) fn analyse(p: &mut Pattern) {
    if !cannot_raise(p) {
        // PUC may raise an error at a position that would be skipped. But if a pattern begins with
        // a byte or a set, a match fails at any other byte before it examines anything else.
        p.start = match p.items[0] {
            Item::Literal(from, _) => Start::Byte(p.literals[from as usize]),
            Item::One(Class::Set(s)) => Start::Set(s),
            _ => Start::Anywhere,
        };
        return;
    }
    // Goes backwards, so that the sets of later items are not computed again in each step.
    for i in (0..p.items.len()).rev() {
        if let Item::Many(class, repeat, _) = p.items[i] {
            let follow = follow(p, class, repeat, i + 1);
            p.items[i] = Item::Many(class, repeat, follow);
        }
    }
    let first = first(p, 0);
    p.start = match first.bytes.only_byte() {
        _ if first.end || first.bytes == ByteSet::ALL => Start::Anywhere,
        Some(b) => Start::Byte(b),
        None => Start::Set(p.set(first.bytes)),
    };
}

/// Returns whether matching this pattern never raises an error, apart from interrupts: it is well
/// formed, captures are closed in order, and it is too short to recurse too deeply.
fn cannot_raise(p: &Pattern) -> bool {
    // The first call of the matcher counts as well.
    let mut depth = 1;
    let mut level = 0;
    let mut open = Vec::new();
    for item in &p.items {
        match item {
            Item::Fault(_) => return false,
            Item::Open | Item::Position => {
                if matches!(item, Item::Open) {
                    open.push(level);
                }
                level += 1;
                depth += 1;
            }
            Item::Close => {
                if open.pop().is_none() {
                    return false;
                }
                depth += 1;
            }
            Item::Back(n) => {
                let capture = usize::from(*n).wrapping_sub(1);
                if capture >= level || open.contains(&capture) {
                    return false;
                }
            }
            Item::Many(..) => depth += 1,
            _ => {}
        }
    }
    level <= MAX_CAPTURES && depth <= MAX_DEPTH
}

fn class_set(p: &Pattern, class: Class) -> ByteSet {
    match class {
        Class::Any => ByteSet::ALL,
        Class::Byte(b) => ByteSet::of(b),
        Class::Set(s) => p.sets[s as usize],
    }
}

/// Returns a necessary condition for a match of the items from `from` on.
fn first(p: &Pattern, from: usize) -> First {
    let mut bytes = ByteSet::EMPTY;
    for item in &p.items[from..] {
        let end = match *item {
            Item::Open | Item::Position | Item::Close => continue,
            Item::Literal(at, _) => {
                bytes.add(p.literals[at as usize]);
                false
            }
            Item::One(class) | Item::Many(class, Repeat::Plus, _) => {
                bytes.add_all(&class_set(p, class));
                false
            }
            Item::Many(class, ..) => {
                bytes.add_all(&class_set(p, class));
                continue;
            }
            Item::Balance(b, _) => {
                bytes.add(b);
                false
            }
            Item::Frontier(s) => {
                bytes.add_all(&p.sets[s as usize]);
                // The end counts as a zero byte.
                p.sets[s as usize].has(0)
            }
            Item::End => true,
            Item::Back(_) | Item::Accept | Item::Fault(_) => return First::ANYWHERE,
        };
        return First { bytes, end };
    }
    First::ANYWHERE
}

/// Returns whether the items from `from` on match at every position.
fn always_matches(p: &Pattern, from: usize) -> bool {
    p.items[from..].iter().all(|item| {
        matches!(
            item,
            Item::Open
                | Item::Position
                | Item::Close
                | Item::Many(_, Repeat::Star | Repeat::Lazy | Repeat::Optional, _)
                | Item::Accept
        )
    })
}

fn follow(p: &mut Pattern, class: Class, repeat: Repeat, rest: usize) -> Follow {
    if repeat != Repeat::Lazy && always_matches(p, rest) {
        return Follow::AfterAll;
    }
    let first = first(p, rest);
    if !first.bytes.meets(&class_set(p, class)) {
        // The rest can match only where the class does not match.
        return Follow::AfterAll;
    }
    if first.bytes == ByteSet::ALL {
        return Follow::Anywhere;
    }
    match first.bytes.only_byte() {
        Some(b) if !first.end => Follow::Byte(b),
        _ => Follow::Set(p.set(first.bytes), first.end),
    }
}
