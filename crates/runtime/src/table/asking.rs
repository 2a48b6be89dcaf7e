//! The request of a store for a check whether there is room.

/// Whether the current store requests a check for room, and its result.
#[derive(Default)]
pub(crate) struct Asking {
    /// Whether a store that would need much room is refused.
    pub(super) on: bool,
    /// The number of bytes that were refused.
    pub(super) refused: usize,
}
