//! The reasons for which code is retired.

use crate::Counter;

/// The reason why code is retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A newer version of a member took its place.
    Replaced,
    /// An assumption of the code no longer holds.
    Invalid,
    /// It keeps exiting, and its method is waiting to be recompiled.
    Exits,
    /// It was the coldest code when memory was short.
    Evicted,
    /// The program was dropped.
    Dropped,
    /// It was chosen at random, as a test.
    Chaos,
}

impl Cause {
    /// Returns whether the result of a compile in progress is still useful.
    pub(crate) fn keeps_results(self) -> bool {
        matches!(self, Cause::Replaced | Cause::Exits | Cause::Evicted)
    }

    pub(crate) fn counter(self) -> Counter {
        match self {
            Cause::Replaced => Counter::RetiredReplaced,
            Cause::Invalid => Counter::RetiredInvalid,
            Cause::Exits => Counter::RetiredExits,
            Cause::Evicted => Counter::RetiredEvicted,
            Cause::Dropped => Counter::RetiredDropped,
            Cause::Chaos => Counter::RetiredChaos,
        }
    }
}
