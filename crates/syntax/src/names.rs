//! The names of one chunk, interned.

use std::cell::Cell;
use std::num::NonZeroUsize;

use foldhash::fast::RandomState;
use lasso::{Capacity, Rodeo, Spur};

use crate::ast::Name;

/// Number of names for which a new interner has room; many programs load many short chunks.
const FEW_NAMES: usize = 32;
/// Number of bytes of such names.
const FEW_BYTES: NonZeroUsize = NonZeroUsize::new(512).unwrap();
/// The size in bytes above which an interner is not kept for the next chunk.
const KEEP: usize = 1 << 14;

thread_local! {
    /// The names of earlier chunks of this thread, if they are few, since other chunks will
    /// probably use the same names.
    static SPARE: Cell<Option<Interner>> = const { Cell::new(None) };
}

/// The names that the grammar itself uses.
#[derive(Clone, Copy)]
pub(crate) struct KnownNames {
    pub(crate) env: Name,
    pub(crate) receiver: Name,
    pub(crate) for_state: Name,
    pub(crate) end_of_loop: Name,
}

/// The names of a chunk that is being parsed.
pub(crate) struct Interner {
    names: Rodeo<Spur, RandomState>,
    pub(crate) known: KnownNames,
}

impl Interner {
    /// Returns an interner that has the grammar's names, and possibly others.
    pub(crate) fn take() -> Interner {
        SPARE.try_with(Cell::take).ok().flatten().unwrap_or_else(|| {
            let capacity = Capacity::new(FEW_NAMES, FEW_BYTES);
            let mut names = Rodeo::with_capacity_and_hasher(capacity, RandomState::default());
            let known = KnownNames {
                env: names.get_or_intern_static("_ENV"),
                receiver: names.get_or_intern_static("self"),
                for_state: names.get_or_intern_static("(for state)"),
                end_of_loop: names.get_or_intern_static("break"),
            };
            Interner { names, known }
        })
    }

    pub(crate) fn intern(&mut self, name: &str) -> Name {
        self.names.get_or_intern(name)
    }

    pub(crate) fn text(&self, name: Name) -> &str {
        self.names.resolve(&name)
    }
}

/// Resolves [`Name`]s to text. It lives as long as its chunk.
pub struct Names(Option<Interner>);

impl Names {
    pub(crate) fn new(interner: Interner) -> Names {
        Names(Some(interner))
    }

    /// Returns the text of `name`.
    pub fn text(&self, name: Name) -> &str {
        self.0.as_ref().map_or("", |interner| interner.text(name))
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        if let Some(interner) = self.0.take()
            && interner.names.current_memory_usage() <= KEEP
            && interner.names.len() <= KEEP / 16
        {
            let _ = SPARE.try_with(|spare| spare.set(Some(interner)));
        }
    }
}
