//! The compiler's data for a proto: its method, and one method for each OSR entry.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

use perilune_bytecode::Proto;
use perilune_code::Method;
use perilune_code::fork;
use perilune_code::lock::{Mutex, MutexGuard, lock};

use super::stitched::Stitched;
use crate::observe::label::Label;
use crate::policy::hotness::Loops;

/// The methods of a proto, created when the compiler first needs them.
pub(crate) struct Attached {
    pub(crate) method: Arc<Method>,
    stitched: Mutex<Stitched>,
    /// The name of the function, if names are requested.
    name: OnceLock<Arc<str>>,
    /// The methods of OSR entries, by the pc of their loop.
    loops: Mutex<HashMap<u32, Arc<Method>>>,
    /// How hot the function was when a state last found it hot.
    hotness: AtomicU64,
    /// The loops in the function's code.
    pub(crate) code_loops: Loops,
}

impl Attached {
    pub(crate) fn new(method: Arc<Method>, code_loops: Loops) -> Attached {
        Attached {
            method,
            stitched: Mutex::default(),
            name: OnceLock::new(),
            loops: Mutex::default(),
            hotness: AtomicU64::new(0),
            code_loops,
        }
    }

    /// Locks the stitched code.
    pub(super) fn stitched(&self) -> MutexGuard<'_, Stitched> {
        lock(&self.stitched)
    }

    /// Records how hot the function is; returns the increase.
    pub(crate) fn raise_hotness(&self, hotness: u64) -> u64 {
        hotness.saturating_sub(self.hotness.fetch_max(hotness, Ordering::Relaxed))
    }

    /// Names the function, unless it has a name.
    pub(crate) fn set_name(&self, name: String) {
        let _inside = fork::enter();
        self.name.get_or_init(|| name.into());
    }

    /// Returns the method of the loop at `pc`, which `new` creates the first time.
    pub(crate) fn loop_at(&self, pc: u32, new: impl FnOnce() -> Arc<Method>) -> Arc<Method> {
        self.loops().entry(pc).or_insert_with(new).clone()
    }

    /// Returns what the slot of the loop at `pc` holds, if the loop has ever been hot.
    pub(super) fn code_of_loop(&self, pc: u32) -> Option<*const u8> {
        self.loops().get(&pc).map(|method| method.slot().target())
    }

    /// Returns the methods of all loops, in order of their pcs.
    pub(crate) fn all_loops(&self) -> Vec<(u32, Arc<Method>)> {
        let mut all: Vec<_> =
            self.loops().iter().map(|(pc, method)| (*pc, method.clone())).collect();
        all.sort_unstable_by_key(|(pc, _)| *pc);
        all
    }

    fn loops(&self) -> MutexGuard<'_, HashMap<u32, Arc<Method>>> {
        lock(&self.loops)
    }
}

impl Drop for Attached {
    /// Closes the methods, as the proto is dropped: its code is retired, though other code may
    /// still refer to the methods. Stitched code is freed.
    fn drop(&mut self) {
        self.method.close();
        self.stitched.get_mut().unwrap_or_else(PoisonError::into_inner).close();
        let loops = self.loops.get_mut().unwrap_or_else(PoisonError::into_inner);
        for method in loops.values() {
            method.close();
        }
    }
}

/// Returns the label of a function, or of the loop in it that is entered at `entry`.
pub(crate) fn label(proto: &Proto, entry: Option<u32>) -> Label {
    let attached = proto.method.get().and_then(|a| a.downcast_ref::<Attached>());
    Label::new(proto, attached.and_then(|a| a.name.get().cloned()), entry)
}
