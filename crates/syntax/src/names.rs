//! The names of one chunk, interned.

use lasso::{Rodeo, RodeoResolver};

use crate::ast::Name;

/// Resolves [`Name`]s to text. Lives as long as its chunk and no longer.
pub struct Names(RodeoResolver);

impl Names {
    pub(crate) fn new(rodeo: Rodeo) -> Names {
        Names(rodeo.into_resolver())
    }

    /// The text of `name`.
    pub fn text(&self, name: Name) -> &str {
        self.0.resolve(&name)
    }
}
