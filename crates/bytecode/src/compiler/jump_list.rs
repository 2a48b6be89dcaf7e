//! Pending jumps, in a list that is threaded through the code.

/// A list of pending jumps: the pc of the first. Each JMP of the list holds the distance to the
/// next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct JumpList(pub(super) Option<u32>);

impl JumpList {
    /// The list without jumps.
    pub(super) const EMPTY: JumpList = JumpList(None);

    /// Returns the list of one jump, at `pc`.
    pub(super) fn one(pc: u32) -> JumpList {
        JumpList(Some(pc))
    }
}
