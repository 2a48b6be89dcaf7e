//! Measures how long the reclaimer keeps states from running Lua.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of classes; class `i` holds pauses of less than 2^i nanoseconds and at least half of
/// that.
const CLASSES: usize = 40;

/// The reason why a state pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// To announce.
    Announcement,
    /// For the walk of its stacks, as it enters.
    Wait,
}

/// A histogram of pauses in thread CPU time, each from the start of an announcement or of a wait
/// for a claim to its end.
#[derive(Debug)]
pub struct Pauses {
    classes: [AtomicU64; CLASSES],
    max: AtomicU64,
    waits: AtomicU64,
}

impl Default for Pauses {
    fn default() -> Pauses {
        let classes = [const { AtomicU64::new(0) }; CLASSES];
        Pauses { classes, max: AtomicU64::new(0), waits: AtomicU64::new(0) }
    }
}

impl Pauses {
    /// Returns the time, at which a pause starts.
    pub(super) fn start(&self) -> u64 {
        cpu_time()
    }

    /// Records a pause that started at `start`.
    pub(super) fn end(&self, pause: Pause, start: u64) {
        let nanoseconds = cpu_time().saturating_sub(start);
        let class = (64 - nanoseconds.leading_zeros() as usize).min(CLASSES - 1);
        self.classes[class].fetch_add(1, Relaxed);
        self.max.fetch_max(nanoseconds, Relaxed);
        if pause == Pause::Wait {
            self.waits.fetch_add(1, Relaxed);
        }
    }

    /// Returns the number of pauses.
    pub fn count(&self) -> u64 {
        self.classes.iter().map(|c| c.load(Relaxed)).sum()
    }

    /// Returns how many of them were waits for a walk; the others were announcements.
    pub fn waits(&self) -> u64 {
        self.waits.load(Relaxed)
    }

    /// Returns the longest, in nanoseconds.
    pub fn max(&self) -> u64 {
        self.max.load(Relaxed)
    }

    /// Returns the nanoseconds that the given share (0 to 1) of the pauses did not exceed, rounded
    /// up to a power of two or the maximum.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (i, class) in self.classes.iter().enumerate() {
            seen += class.load(Relaxed);
            if seen >= wanted {
                return (1u64 << i).min(self.max());
            }
        }
        self.max()
    }
}

#[cfg(all(unix, not(loom), not(miri)))]
fn cpu_time() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(any(not(unix), loom, miri))]
fn cpu_time() -> u64 {
    0
}
