//! A Lua state.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use perilune_runtime::native::Cx;
use perilune_runtime::state::{State, poll};

use crate::{Chunk, Engine};

/// Owns the state; dropped with the last handle.
struct Owner(*mut State);

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: P1 (a state is entered only through `Lua::with`, which borrows the owner): no frame is active now.
        unsafe { State::destroy(self.0) }
    }
}

/// A Lua state: one heap, one set of globals. Cheap to clone; clones are the same state. Stays on its thread.
#[derive(Clone)]
pub struct Lua {
    owner: Rc<Owner>,
}

impl Lua {
    /// A state of an engine of its own, with the standard library.
    pub fn new() -> Lua {
        Lua::with_engine(&Engine::new())
    }

    /// A state of `engine`, with the standard library.
    pub fn with_engine(engine: &Engine) -> Lua {
        let lua = Lua { owner: Rc::new(Owner(State::create(engine.shared.clone(), &perilune_interp::VM))) };
        lua.with(|cx| perilune_stdlib::open_all(cx)).unwrap_or_else(|_| panic!("the standard library does not open"));
        lua
    }

    /// A chunk of source text (or a binary one) to run in this state.
    pub fn load<'a>(&'a self, source: impl AsRef<[u8]>) -> Chunk<'a> {
        Chunk::new(self, source.as_ref().to_vec())
    }

    /// Runs `f` with the state as native functions see it; what it leaves on the stack is removed.
    ///
    /// # Panics
    /// If `f` panics.
    pub fn with<R>(&self, f: impl FnOnce(&mut Cx) -> R) -> R {
        // SAFETY: P1: the state is alive, and on its own thread as `Lua` is neither Send nor Sync.
        let cx = unsafe { Cx::from_state(self.owner.0) };
        let top = cx.top();
        let r = f(cx);
        cx.set_top(top);
        r
    }

    /// Asks the state to collect at every safepoint: a mode for tests.
    pub fn set_gc_stress(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.owner.0).set_gc_stress(on) }
    }

    /// Asks for stacks that grow by what is needed only, so that they move often: a mode for tests.
    pub fn set_small_stack(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.owner.0).small_stack = on }
    }

    /// A handle that stops the running script from another thread or a signal handler.
    pub fn interrupt_handle(&self) -> Interrupt {
        // SAFETY: P1; the poll word is atomic, and never moves.
        Interrupt(unsafe { &raw const (*self.owner.0).poll }, self.owner.0)
    }
}

impl Default for Lua {
    fn default() -> Lua {
        Lua::new()
    }
}

/// Raises "interrupted!" in a running script. The state must outlive it.
pub struct Interrupt(*const std::sync::atomic::AtomicU32, *mut State);

impl Interrupt {
    /// Asks for the interrupt; it happens at the next safepoint.
    ///
    /// # Safety
    /// The state is alive.
    pub unsafe fn request(&self) {
        (*self.0).fetch_or(poll::INTERRUPT, Ordering::Relaxed);
    }
}
