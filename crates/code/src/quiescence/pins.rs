//! The versions that a state's frames are in.

use crate::CodeId;

/// Collects the code ids of a state's frames. Ids that name no machine code are left out, and most
/// repetitions too.
#[derive(Debug, Default)]
pub struct Pins {
    pub(super) ids: Vec<CodeId>,
    /// A small cache of ids seen, so that deep recursion takes no memory.
    recent: [u32; Pins::RECENT],
}

impl Pins {
    const RECENT: usize = 16;

    /// Adds the code of one frame.
    #[inline]
    pub fn add(&mut self, id: CodeId) {
        if !id.is_machine_code() {
            return;
        }
        let place = &mut self.recent[id.raw() as usize % Self::RECENT];
        if *place != id.raw() {
            *place = id.raw();
            self.ids.push(id);
            if self.ids.len() == self.ids.capacity() {
                self.compact();
            }
        }
    }

    /// Makes room, by dropping repetitions if there are many.
    #[cold]
    fn compact(&mut self) {
        self.normalize();
        if self.ids.len() > self.ids.capacity() / 2 {
            self.ids.reserve(self.ids.capacity());
        }
    }

    /// Sorts, and drops repetitions.
    fn normalize(&mut self) {
        self.ids.sort_unstable();
        self.ids.dedup();
    }

    /// Empties it and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.recent = [0; Self::RECENT];
    }

    /// Returns the ids, ascending and each once.
    pub(crate) fn finish(&mut self) -> &[CodeId] {
        self.normalize();
        &self.ids
    }
}
