//! The names of one chunk, interned.

use std::cell::Cell;
use std::num::NonZeroUsize;

use foldhash::fast::RandomState;
use lasso::{Capacity, Rodeo, Spur};

use crate::ast::Name;

/// The names of a chunk that is being parsed.
pub(crate) type Interner = Rodeo<Spur, RandomState>;

/// Names for which a new interner has room; many programs load many short chunks.
const FEW_NAMES: usize = 32;
/// Bytes of such names.
const FEW_BYTES: NonZeroUsize = NonZeroUsize::new(512).unwrap();
/// A larger interner is not kept for the next chunk.
const KEEP: usize = 1 << 14;

thread_local! {
    /// An empty interner: that of the last chunk of this thread.
    static SPARE: Cell<Option<Interner>> = const { Cell::new(None) };
}

/// An empty interner.
pub(crate) fn interner() -> Interner {
    SPARE.try_with(Cell::take).ok().flatten().unwrap_or_else(|| {
        Rodeo::with_capacity_and_hasher(Capacity::new(FEW_NAMES, FEW_BYTES), RandomState::default())
    })
}

/// Resolves [`Name`]s to text. Lives as long as its chunk and no longer.
pub struct Names(Option<Interner>);

impl Names {
    pub(crate) fn new(interner: Interner) -> Names {
        Names(Some(interner))
    }

    /// The text of `name`.
    pub fn text(&self, name: Name) -> &str {
        self.0.as_ref().map_or("", |interner| interner.resolve(&name))
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        if let Some(mut interner) = self.0.take()
            && interner.current_memory_usage() <= KEEP
            && interner.len() <= KEEP / 16
        {
            interner.clear();
            let _ = SPARE.try_with(|spare| spare.set(Some(interner)));
        }
    }
}
