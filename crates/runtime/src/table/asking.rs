//! Specifies whether a store checks for room.

/// Whether the current store requests such a check, and its result.
#[derive(Default)]
pub(crate) struct Asking {
    /// Whether a store that would need much room is refused.
    pub(super) on: bool,
    /// The number of bytes for which there was no room.
    pub(super) refused: usize,
}
