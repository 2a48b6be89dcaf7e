//! Named counters of events in the life cycle of code.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A kind of event that is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter { $($(#[$doc])* $name,)* }

        impl Counter {
            /// All of them.
            pub const ALL: &'static [Counter] = &[$(Counter::$name,)*];

            /// Returns the name under which it is shown.
            pub fn name(self) -> &'static str {
                match self { $(Counter::$name => $text,)* }
            }
        }
    };
}

counters! {
    /// Tickets handed out.
    Begun = "compiles begun",
    /// Tickets given back without a result.
    GivenBack = "compiles cancelled",
    /// Modules of which at least one member was installed.
    Published = "modules published",
    /// Versions installed in a slot.
    Installed = "versions installed",
    /// Versions installed in place of another one.
    Swapped = "versions swapped",
    /// Results that came too late for their method.
    Late = "late results",
    /// Modules all of whose members came too late.
    Discarded = "modules discarded",
    /// Modules retired.
    Retired = "modules retired",
    /// Modules retired because a member was replaced by a newer version.
    RetiredReplaced = "retired: replaced",
    /// Modules retired because an assumption no longer holds.
    RetiredInvalid = "retired: invalid",
    /// Modules retired because they kept exiting while they waited to be compiled again.
    RetiredExits = "retired: exits",
    /// Modules retired because the budget was exhausted and other code was hotter.
    RetiredEvicted = "retired: evicted",
    /// Modules retired because the program was dropped.
    RetiredDropped = "retired: program dropped",
    /// Modules retired at random.
    RetiredChaos = "retired: chaos",
    /// Modules freed.
    Freed = "modules freed",
    /// Bytes of the region freed.
    BytesFreed = "bytes freed",
    /// Placements made.
    Placed = "placements made",
    /// Placements retired because the budget was exhausted and others were needed more recently.
    PlacementsEvicted = "placements evicted",
    /// Placements retired at random.
    PlacementsChaos = "placements retired: chaos",
    /// Placements freed, whether they were retired or their owner was dropped.
    PlacementsFreed = "placements freed",
    /// The number of times that states had to discard the addresses of placements.
    Withdrawals = "invalidations of placements",
    /// The number of times that the quiescence number was raised.
    Advances = "advances",
    /// States whose poll was armed.
    Armed = "polls requested",
    /// States whose stacks were walked on their behalf.
    Walked = "stacks scanned",
    /// Reservations that had to wait for memory.
    Pressed = "reservations under pressure",
    /// Compiles refused because the compiler panicked.
    RefusedPanic = "refused: panic",
    /// Compiles refused by the verifier.
    RefusedVerifier = "refused: verifier",
    /// Compiles refused by the code generator.
    RefusedBackend = "refused: backend",
    /// Methods refused because of their size.
    RefusedTooLarge = "refused: too large",
    /// Methods refused because of a feature that is not compiled.
    RefusedUnsupported = "refused: unsupported",
    /// Compiles refused because code memory was exhausted.
    RefusedExhausted = "refused: code memory exhausted",
    /// Methods refused because of the number of their compiles.
    RefusedTooOften = "refused: compiled too often",
}

/// The counters of one engine.
#[derive(Debug)]
pub struct Stats {
    counts: [AtomicU64; Counter::ALL.len()],
}

impl Default for Stats {
    fn default() -> Stats {
        Stats { counts: [const { AtomicU64::new(0) }; Counter::ALL.len()] }
    }
}

impl Stats {
    /// Adds to a counter.
    pub fn add(&self, counter: Counter, n: u64) {
        self.counts[counter as usize].fetch_add(n, Relaxed);
    }

    /// Counts one.
    pub fn count(&self, counter: Counter) {
        self.add(counter, 1);
    }

    /// Returns the value of a counter.
    pub fn get(&self, counter: Counter) -> u64 {
        self.counts[counter as usize].load(Relaxed)
    }

    /// Returns all counters by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Counter::ALL.iter().map(|c| (c.name(), self.get(*c)))
    }
}
