//! Interruptible sorting: runs of bounded length are sorted and then merged.

use perilune_runtime::reserve::try_with_capacity;

/// The amounts of work between two checks whether to stop.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// The length of a run; at least one.
    pub(super) run: usize,
    /// The number of elements merged; at least one.
    pub(super) merge: usize,
}

/// How a sort has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Sorted,
    /// It was stopped; the items are in an unspecified order.
    Stopped,
    /// There is no memory to merge the runs; the items are in an unspecified order.
    NoMemory,
}

/// Sorts `items`, which have a unique order, with `sort_run` for runs and `less` for merging, until
/// `stop` ends the sort.
pub(super) fn sort<T: Copy>(
    items: &mut [T],
    pace: Pace,
    sort_run: impl Fn(&mut [T]),
    less: impl Fn(&T, &T) -> bool,
    stop: &dyn Fn() -> bool,
) -> Outcome {
    for run in items.chunks_mut(pace.run) {
        sort_run(run);
        if stop() {
            return Outcome::Stopped;
        }
    }
    let n = items.len();
    if n <= pace.run {
        return Outcome::Sorted;
    }
    let Some(mut spare) = try_with_capacity(n) else { return Outcome::NoMemory };
    for run in items.chunks(pace.run) {
        spare.extend_from_slice(run);
        if stop() {
            return Outcome::Stopped;
        }
    }
    // Which buffer holds the runs; merged runs go to the other one.
    let mut in_spare = false;
    let mut width = pace.run;
    while width < n {
        let (from, to) =
            if in_spare { (&spare[..], &mut *items) } else { (&*items, &mut spare[..]) };
        let mut stopped = false;
        for start in (0..n).step_by(2 * width) {
            let (middle, end) = ((start + width).min(n), (start + 2 * width).min(n));
            let (a, b) = (&from[start..middle], &from[middle..end]);
            if !merge(a, b, &mut to[start..end], pace.merge, &less, stop) {
                stopped = true;
                break;
            }
        }
        // A merge that was stopped leaves its source intact.
        if stopped {
            if in_spare {
                items.copy_from_slice(&spare);
            }
            return Outcome::Stopped;
        }
        in_spare = !in_spare;
        width *= 2;
    }
    if in_spare {
        items.copy_from_slice(&spare);
    }
    Outcome::Sorted
}

fn merge<T: Copy>(
    mut a: &[T],
    mut b: &[T],
    to: &mut [T],
    between: usize,
    less: &impl Fn(&T, &T) -> bool,
    stop: &dyn Fn() -> bool,
) -> bool {
    let mut at = 0;
    let mut left = between;
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if left == 0 {
            if stop() {
                return false;
            }
            left = between;
        }
        left -= 1;
        if less(y, x) {
            to[at] = *y;
            b = b_rest;
        } else {
            to[at] = *x;
            a = a_rest;
        }
        at += 1;
    }
    to[at..at + a.len()].copy_from_slice(a);
    to[at + a.len()..].copy_from_slice(b);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn numbers(n: usize) -> Vec<u64> {
        let mut x = 88_172_645_463_325_252u64;
        let next = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x % 1000
        };
        std::iter::repeat_with(next).take(n).collect()
    }

    fn sort_all(items: &mut [u64], pace: Pace, stop: &dyn Fn() -> bool) -> Outcome {
        sort(items, pace, |run| run.sort_unstable(), |a, b| a < b, stop)
    }

    #[test]
    fn sorts_any_number_of_runs() {
        for n in [0, 1, 2, 7, 8, 9, 63, 64, 65, 200, 1000] {
            for run in [1, 3, 8, 64] {
                let mut items = numbers(n);
                let mut expected = items.clone();
                expected.sort_unstable();
                let outcome = sort_all(&mut items, Pace { run, merge: 4 }, &|| false);
                assert_eq!(outcome, Outcome::Sorted);
                assert_eq!(items, expected, "{n} items, runs of {run}");
            }
        }
    }

    #[test]
    fn stopped_items_are_all_there() {
        let mut sorted = numbers(500);
        sorted.sort_unstable();
        for looks in 0..200u32 {
            let mut items = numbers(500);
            let left = Cell::new(looks);
            let stop = || left.replace(left.get().wrapping_sub(1)) == 0;
            let outcome = sort_all(&mut items, Pace { run: 16, merge: 8 }, &stop);
            assert_eq!(outcome, Outcome::Stopped);
            items.sort_unstable();
            assert_eq!(items, sorted, "stopped at look {looks}");
        }
    }
}
