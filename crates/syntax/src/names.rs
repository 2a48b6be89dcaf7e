//! The names of one chunk, interned.

use std::num::NonZeroUsize;

use foldhash::fast::RandomState;
use lasso::{Capacity, Rodeo, RodeoResolver, Spur};

use crate::ast::Name;

/// Resolves [`Name`]s to text. Lives as long as its chunk and no longer.
pub struct Names(RodeoResolver);

/// The names of a chunk that is being parsed.
pub(crate) type Interner = Rodeo<Spur, RandomState>;

/// An interner for a chunk of so many bytes: a short chunk has few names, and many programs load many short chunks.
pub(crate) fn interner(length: usize) -> Interner {
    let bytes = NonZeroUsize::new(length.clamp(64, 4096)).unwrap_or(NonZeroUsize::MIN);
    Rodeo::with_capacity_and_hasher(
        Capacity::new(length.clamp(64, 512) / 8, bytes),
        RandomState::default(),
    )
}

impl Names {
    pub(crate) fn new(rodeo: Interner) -> Names {
        Names(rodeo.into_resolver())
    }

    /// The text of `name`.
    pub fn text(&self, name: Name) -> &str {
        self.0.resolve(&name)
    }
}
