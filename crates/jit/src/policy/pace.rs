//! The rate limit for evicting stitched code.

use std::time::{Duration, Instant};

use perilune_code::lock::{Mutex, lock};

/// Limits how often stitched code is evicted, so that a program whose functions do not fit into the
/// budget still spends most of its time running: the time taken for an eviction and for stitching
/// since then must be at most a share of the elapsed time.
pub(crate) struct Pace {
    /// The share in percent; `None` sets no limit.
    share: Option<u32>,
    since: Mutex<Since>,
}

/// The times since the last eviction, including that eviction.
struct Since {
    begun: Instant,
    spent: Duration,
}

impl Pace {
    pub(crate) fn new(share: Option<u32>) -> Pace {
        let since = Since { begun: Instant::now(), spent: Duration::ZERO };
        Pace { share, since: Mutex::new(since) }
    }

    /// Adds time taken for stitching.
    pub(crate) fn stitched(&self, time: Duration) {
        lock(&self.since).spent += time;
    }

    /// Returns whether code may be evicted now.
    pub(crate) fn allows_eviction(&self) -> bool {
        let elapsed = lock(&self.since).begun.elapsed();
        self.allows_eviction_after(elapsed)
    }

    fn allows_eviction_after(&self, elapsed: Duration) -> bool {
        let Some(share) = self.share else { return true };
        lock(&self.since).spent * 100 <= elapsed * share
    }

    /// Records an eviction that took `time`.
    pub(crate) fn evicted(&self, time: Duration) {
        *lock(&self.since) = Since { begun: Instant::now(), spent: time };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn evictions_take_a_share() {
        let pace = Pace::new(Some(20));
        pace.stitched(2 * MS);
        pace.stitched(8 * MS);
        assert!(!pace.allows_eviction_after(49 * MS));
        assert!(pace.allows_eviction_after(50 * MS));
        pace.evicted(3 * MS);
        assert!(!pace.allows_eviction_after(14 * MS));
        assert!(pace.allows_eviction_after(15 * MS));
    }

    #[test]
    fn nothing_is_limited_without_a_share() {
        let pace = Pace::new(None);
        pace.stitched(100 * MS);
        assert!(pace.allows_eviction());
    }
}
