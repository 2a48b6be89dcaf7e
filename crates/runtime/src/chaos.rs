//! The mode `chaos`, for tests: a state whose poll word stays set, so that each safepoint makes
//! random decisions.
//!
//! The decisions come from a seed, so a run on one thread is reproducible.
//! `crates/interp/src/chaos.rs` (collections, moving stacks, the loop with hooks) and the compiler
//! (replacing code) use them.

/// A source of random decisions.
pub struct Chaos {
    state: u64,
}

impl Chaos {
    /// Creates a source from `seed`.
    pub fn new(seed: u64) -> Chaos {
        Chaos { state: seed ^ 0x9E37_79B9_7F4A_7C15 }
    }

    /// Returns 64 random bits (the generator SplitMix64).
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns true once in `n` calls on average.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.draw().is_multiple_of(n)
    }
}
