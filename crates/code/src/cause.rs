//! Why code is retired.

use crate::Counter;

/// Why code is retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A newer version of a member took its place.
    Replaced,
    /// Something that it relies on no longer holds.
    Invalid,
    /// It was the coldest when memory was short.
    Evicted,
    /// The program is gone.
    Dropped,
    /// At random, to test that it may happen.
    Chaos,
}

impl Cause {
    /// Returns whether a recompile that was begun before is still of use.
    pub(crate) fn keeps_results(self) -> bool {
        matches!(self, Cause::Replaced | Cause::Evicted)
    }

    pub(crate) fn counter(self) -> Counter {
        match self {
            Cause::Replaced => Counter::RetiredReplaced,
            Cause::Invalid => Counter::RetiredInvalid,
            Cause::Evicted => Counter::RetiredEvicted,
            Cause::Dropped => Counter::RetiredDropped,
            Cause::Chaos => Counter::RetiredChaos,
        }
    }
}
