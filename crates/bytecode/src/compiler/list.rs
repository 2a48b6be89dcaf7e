//! Lists and boxes in the arena of the chunk's tree.

/// A list in the arena.
pub(super) type List<'c, T> = bumpalo::collections::Vec<'c, T>;

/// A value in the arena that is dropped when its owner is.
pub(super) type Own<'c, T> = bumpalo::boxed::Box<'c, T>;

/// Initial capacity of a list that is short in most functions.
pub(super) const FEW: usize = 8;
