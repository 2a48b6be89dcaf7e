//! The memory of syntax trees: an arena, which is kept from one chunk to the next, since many
//! programs load many short chunks.

use std::cell::Cell;

/// Memory for a chunk's tree and for data derived from it, all of which is freed at once.
pub type Arena = bumpalo::Bump;

/// Number of bytes of a new arena: enough for the tree of a short chunk.
const FIRST: usize = 8 << 10;
/// The size in bytes above which an arena is not kept for the next chunk.
const KEEP: usize = 128 << 10;

thread_local! {
    /// An empty arena, left from this thread's last chunk.
    static SPARE: Cell<Option<Arena>> = const { Cell::new(None) };
}

/// Runs `f` with an empty arena.
pub fn with_arena<R>(f: impl FnOnce(&Arena) -> R) -> R {
    let spare = SPARE.try_with(Cell::take).ok().flatten();
    let mut arena = spare.unwrap_or_else(|| Arena::with_capacity(FIRST));
    let result = f(&arena);
    if arena.allocated_bytes() <= KEEP {
        arena.reset();
        let _ = SPARE.try_with(|spare| spare.set(Some(arena)));
    }
    result
}
