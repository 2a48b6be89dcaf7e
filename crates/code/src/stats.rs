//! Named counters of what happens to code.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What is counted.
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
    GivenBack = "compiles given back",
    /// Modules of which at least one member was installed.
    Published = "modules published",
    /// Versions installed in a slot.
    Installed = "versions installed",
    /// Of these, in place of another version.
    Swapped = "versions swapped",
    /// Results that came too late for their method.
    Late = "late results",
    /// Modules all of whose members came too late.
    Discarded = "modules discarded",
    /// Modules retired.
    Retired = "modules retired",
    /// Retired because a member was replaced by a newer version.
    RetiredReplaced = "retired: replaced",
    /// Retired because an assumption no longer holds.
    RetiredInvalid = "retired: invalid",
    /// Retired because the budget was spent and others were hotter.
    RetiredEvicted = "retired: evicted",
    /// Retired because the program was dropped.
    RetiredDropped = "retired: program dropped",
    /// Retired at random.
    RetiredChaos = "retired: chaos",
    /// Modules freed.
    Freed = "modules freed",
    /// Bytes of the region freed.
    BytesFreed = "bytes freed",
    /// Times the quiescence number was raised.
    Advances = "advances",
    /// States whose poll was armed.
    Armed = "polls armed",
    /// States that were walked on their behalf.
    Walked = "states walked",
    /// Reservations that had to wait for memory.
    Pressed = "reservations under pressure",
    /// Refused: the compiler panicked.
    RefusedPanic = "refused: panic",
    /// Refused by the verifier.
    RefusedVerifier = "refused: verifier",
    /// Refused by the code generator.
    RefusedBackend = "refused: backend",
    /// Refused for its size.
    RefusedTooLarge = "refused: too large",
    /// Refused for something not compiled.
    RefusedUnsupported = "refused: unsupported",
    /// Refused as code memory was exhausted.
    RefusedExhausted = "refused: code memory exhausted",
    /// Refused for the number of its compiles.
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
