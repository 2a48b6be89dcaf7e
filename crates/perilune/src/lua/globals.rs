//! The table of globals.

use perilune_runtime::state::State;

use crate::stack::Raw;
use crate::{Lua, Result, Table};

impl Lua {
    /// Returns the table of globals.
    pub fn globals(&self) -> Table {
        let entry = self.enter();
        let s = entry.stack();
        let globals = s.cx().globals().val().raw();
        Table(s.handle(Raw(globals)))
    }

    /// Sets the table of globals of chunks that are loaded from now on.
    ///
    /// # Errors
    /// Does not fail at present.
    pub fn set_globals(&self, globals: Table) -> Result<()> {
        let entry = self.enter();
        let s = entry.stack();
        let word = s.word(&globals.0);
        // SAFETY: P1: a table of this state.
        unsafe { State::set_globals(&mut *s.st, word.0.as_table()) };
        Ok(())
    }
}
