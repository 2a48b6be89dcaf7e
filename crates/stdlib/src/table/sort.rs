//! `table.sort`: the same quicksort as in PUC, so that equal elements end up in the same order and
//! comparators are called in the same way.
//!
//! Without a comparator, lists of strings, or of numbers of one kind, have a unique order, and are
//! sorted directly.

use perilune_runtime::native::{Cx, NativeResult, NumberArray, Raised, Str};
use perilune_runtime::reserve::try_with_capacity;

use super::access::{LENGTH, READ, WRITE, check, get, plain_for, plain_list, set};
use super::runs::{self, Outcome, Pace};

/// Size above which a random pivot may be used.
const RANDOM_LIMIT: u32 = 100;

/// Implements `table.sort(list [, comp])`.
pub(super) fn sort(cx: &mut Cx) -> NativeResult {
    check(cx, 0, READ | WRITE | LENGTH)?;
    let n = match plain_for(cx, 0, LENGTH) {
        Some(t) => t.len(),
        None => cx.length(0)?,
    };
    if n < 2 {
        return cx.ret(0);
    }
    if n >= i64::from(i32::MAX) {
        return Err(cx.arg_error(0, "array too big"));
    }
    if !cx.get(1).is_nil() {
        cx.check_func(1)?;
    }
    cx.set_top(2);
    let is_plain = plain_list(cx, 0, 1, n).is_some();
    if is_plain && cx.get(1).is_nil() && sort_directly(cx, n) {
        cx.interrupted()?;
        return cx.ret(0);
    }
    let mut s = Sorter { with_function: !cx.get(1).is_nil(), plain: is_plain, compared: 0 };
    s.run(cx, 1, n as u32, 0)?;
    cx.ret(0)
}

/// Sorts a list that has a unique order. Returns false for other lists, and if there is no memory;
/// a list that has a unique order may then be in another order than before. An interrupt leaves the
/// list in an unspecified order.
fn sort_directly(cx: &mut Cx, n: i64) -> bool {
    sort_numbers(cx, n) || sort_strings(cx, n)
}

fn sort_numbers(cx: &mut Cx, n: i64) -> bool {
    let pace = Pace { run: 1 << 15, merge: 1 << 13 };
    cx.with_numbers(0, |numbers, stop| match numbers {
        NumberArray::Int(a) if a.len() as i64 == n => {
            let sort_run = |run: &mut [i64]| run.sort_unstable();
            runs::sort(a, pace, sort_run, |x, y| x < y, stop) != Outcome::NoMemory
        }
        NumberArray::Float(a) if a.len() as i64 == n => {
            // -0.0 and 0.0 are equal but different, and NaN has no order: lists that contain them
            // are sorted by comparisons. A request to stop ends the search, and then the sort.
            let is_odd = |x: &f64| x.is_nan() || *x == 0.0 && x.is_sign_negative();
            if a.chunks(pace.run).any(|part| !stop() && part.iter().any(is_odd)) {
                return false;
            }
            let sort_run = |run: &mut [f64]| run.sort_unstable_by(f64::total_cmp);
            runs::sort(a, pace, sort_run, |x, y| x < y, stop) != Outcome::NoMemory
        }
        _ => false,
    })
    .unwrap_or(false)
}

/// Number of strings that are read between two checks whether the script must stop.
const STRINGS_READ: i64 = 1 << 12;

fn sort_strings(cx: &Cx, n: i64) -> bool {
    let Some(t) = cx.get(0).as_table() else { return false };
    if t.get_int(1).as_str().is_none() {
        return false;
    }
    let Some(mut all) = try_with_capacity(n as usize) else { return false };
    let mut longest = 0;
    for i in 1..=n {
        if i % STRINGS_READ == 0 && cx.interrupt_pending() {
            return true;
        }
        match t.get_int(i).as_str() {
            Some(s) => {
                longest = longest.max(s.bytes().len());
                all.push(s);
            }
            None => return false,
        }
    }
    // A comparison may read all bytes of both strings, so the step depends on the longest ones.
    let bytes = 1 << 22;
    let pace = Pace {
        run: (bytes / (16 * (longest + 16))).clamp(1, 1 << 12),
        merge: (bytes / (longest + 16)).clamp(1, 1 << 12),
    };
    let sort_run = |run: &mut [Str<'_>]| run.sort_unstable_by(|a, b| a.bytes().cmp(b.bytes()));
    let less = |a: &Str<'_>, b: &Str<'_>| a.bytes() < b.bytes();
    match runs::sort(&mut all, pace, sort_run, less, &|| cx.interrupt_pending()) {
        Outcome::Sorted => {}
        Outcome::Stopped => return true,
        Outcome::NoMemory => return false,
    }
    for (i, s) in all.iter().enumerate() {
        t.set_int(cx, i as i64 + 1, s.val());
    }
    true
}

struct Sorter {
    with_function: bool,
    /// Whether the list had no relevant metamethods at the start. Metamethods that a comparator
    /// adds are ignored.
    plain: bool,
    /// The number of comparisons so far, wrapping.
    compared: u32,
}

/// Number of comparisons between two checks whether the script must stop, minus 1. A comparator in
/// Lua has safepoints of its own.
const POLL_MASK: u32 = 0x3FF;

impl Sorter {
    /// Pushes `list[i]`.
    #[inline(always)]
    fn get(&self, cx: &mut Cx, i: u32) -> Result<(), Raised> {
        if self.plain
            && let Some(t) = cx.get(0).as_table()
        {
            let v = t.get_int(i64::from(i));
            // the comparator may have removed it
            if !v.is_nil() || !t.has_meta() {
                cx.push(v);
                return Ok(());
            }
        }
        get(cx, 0, i64::from(i))
    }

    /// Assigns the last value to `list[i]`, and pops it.
    #[inline(always)]
    fn set(&self, cx: &mut Cx, i: u32) -> Result<(), Raised> {
        if self.plain
            && let Some(t) = cx.get(0).as_table()
        {
            t.set_int(cx, i64::from(i), cx.get(cx.top() - 1));
            cx.pop(1);
            return Ok(());
        }
        set(cx, 0, i64::from(i))
    }

    /// Assigns the last value to `list[i]` and the one below to `list[j]`, and pops both.
    #[inline(always)]
    fn set2(&self, cx: &mut Cx, i: u32, j: u32) -> Result<(), Raised> {
        self.set(cx, i)?;
        self.set(cx, j)
    }

    /// Returns whether the value `a` below the top comes before the value `b` below the top (1 is
    /// the top).
    #[inline(always)]
    fn less(&mut self, cx: &mut Cx, a: usize, b: usize) -> Result<bool, Raised> {
        self.compared = self.compared.wrapping_add(1);
        if self.compared & POLL_MASK == 0 {
            cx.interrupted()?;
        }
        let top = cx.top();
        if self.with_function {
            return cx.call_test(1, top - a, top - b);
        }
        let (x, y) = (cx.get(top - a).raw(), cx.get(top - b).raw());
        cx.less_than(x, y)
    }

    /// Sorts `list[lo ..= up]`.
    fn run(
        &mut self,
        cx: &mut Cx,
        mut lo: u32,
        mut up: u32,
        mut random: u32,
    ) -> Result<(), Raised> {
        while lo < up {
            cx.interrupted()?;
            // Sorts the first, the last and, if there are at least three elements, a middle
            // element.
            self.get(cx, lo)?;
            self.get(cx, up)?;
            if self.less(cx, 1, 2)? {
                self.set2(cx, lo, up)?;
            } else {
                cx.pop(2);
            }
            if up - lo == 1 {
                return Ok(());
            }
            let mut p = if up - lo < RANDOM_LIMIT || random == 0 {
                (lo + up) / 2
            } else {
                let quarter = (up - lo) / 4;
                random % (quarter * 2) + (lo + quarter)
            };
            self.get(cx, p)?;
            self.get(cx, lo)?;
            if self.less(cx, 2, 1)? {
                self.set2(cx, p, lo)?;
            } else {
                cx.pop(1);
                self.get(cx, up)?;
                if self.less(cx, 1, 2)? {
                    self.set2(cx, p, up)?;
                } else {
                    cx.pop(2);
                }
            }
            if up - lo == 2 {
                return Ok(());
            }
            // The pivot stays on the stack, and moves to the place before the last element.
            self.get(cx, p)?;
            cx.push(cx.get(cx.top() - 1));
            self.get(cx, up - 1)?;
            self.set2(cx, p, up - 1)?;
            p = self.partition(cx, lo, up)?;
            let smaller;
            if p - lo < up - p {
                self.run(cx, lo, p - 1, random)?;
                smaller = p - lo;
                lo = p + 1;
            } else {
                self.run(cx, p + 1, up, random)?;
                smaller = up - p;
                up = p - 1;
            }
            if up.wrapping_sub(lo) / 128 > smaller {
                random = random_number();
            }
        }
        Ok(())
    }

    /// Partitions `list[lo ..= up]` around the pivot on top, and pops it. Returns the pivot's
    /// position.
    fn partition(&mut self, cx: &mut Cx, lo: u32, up: u32) -> Result<u32, Raised> {
        let invalid = "invalid order function for sorting";
        let (mut i, mut j) = (lo, up - 1);
        loop {
            i += 1;
            self.get(cx, i)?;
            while self.less(cx, 1, 2)? {
                if i == up - 1 {
                    return Err(cx.error(invalid));
                }
                cx.pop(1);
                i += 1;
                self.get(cx, i)?;
            }
            j = j.wrapping_sub(1);
            self.get(cx, j)?;
            while self.less(cx, 3, 1)? {
                if j < i {
                    return Err(cx.error(invalid));
                }
                cx.pop(1);
                j = j.wrapping_sub(1);
                self.get(cx, j)?;
            }
            if j < i {
                cx.pop(1);
                self.set2(cx, up - 1, i)?;
                return Ok(i);
            }
            self.set2(cx, i, j)?;
        }
    }
}

/// Returns a number that an adversary cannot predict.
fn random_number() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() as u32
}

#[cfg(test)]
mod tests {
    use super::random_number;

    #[test]
    fn random_numbers_differ() {
        let n: Vec<_> = (0..4).map(|_| random_number()).collect();
        assert!(n.windows(2).any(|w| w[0] != w[1]));
    }
}
