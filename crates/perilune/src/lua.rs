//! A Lua state.

use std::rc::Rc;
use std::sync::Arc;

use perilune_runtime::chaos::Chaos;
use perilune_runtime::native::Cx;
use perilune_runtime::state::{State, poll};

use crate::interrupt::Gate;
use crate::{Chunk, Engine, Interrupt, Program};

/// Owns the state; dropped with the last handle.
struct Owner {
    state: *mut State,
    gate: Arc<Gate>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.gate.close();
        // SAFETY: P1 (a state is entered only through `Lua::with`, which borrows the owner): no frame is active now.
        unsafe { State::destroy(self.state) }
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
        let lua = Lua::without_libraries(engine);
        lua.open_libraries();
        lua
    }

    /// A state of `engine` with no globals at all.
    pub fn without_libraries(engine: &Engine) -> Lua {
        let state = State::create(engine.shared.clone(), &perilune_interp::VM);
        if let Some(jit) = &engine.jit {
            // SAFETY: the state was just made; destroying it drops the tier with it, when no frame is left.
            unsafe { jit.attach(state) };
        }
        // SAFETY: P2: the state was just made, and its owner closes the gate before it destroys the state.
        let gate = unsafe { Gate::to(state) };
        Lua { owner: Rc::new(Owner { state, gate }) }
    }

    /// Opens the standard library (`luaL_openlibs`). A true field `LUA_NOENV` of the registry makes it ignore environment variables.
    ///
    /// # Panics
    /// When there is no memory for it.
    pub fn open_libraries(&self) {
        self.with(perilune_stdlib::open_all)
            .unwrap_or_else(|_| panic!("the standard library does not open"));
        // SAFETY: P1.
        unsafe { (*self.owner.state).heap.warn = Some(warn) }
    }

    /// A chunk of source text (or a binary one) to run in this state.
    pub fn load<'a>(&'a self, source: impl AsRef<[u8]>) -> Chunk<'a> {
        Chunk::new(self, source.as_ref().to_vec())
    }

    /// A program of this state's engine, to run in this state.
    ///
    /// # Panics
    /// If it is one of another engine.
    pub fn load_program<'a>(&'a self, program: &Program) -> Chunk<'a> {
        // SAFETY: P1.
        let engine = unsafe { &(*self.owner.state).engine };
        assert!(Arc::ptr_eq(engine, &program.engine), "the program is one of another engine");
        Chunk::of_program(self, program.proto.clone())
    }

    /// Runs `f` with the state as native functions see it; what it leaves on the stack is removed.
    ///
    /// # Panics
    /// If `f` panics, or a native function that it calls. The state may be used again then: what ran is gone, without `__close` having been called, and
    /// coroutines that were running are dead.
    pub fn with<R>(&self, f: impl FnOnce(&mut Cx) -> R) -> R {
        // SAFETY: P1: the state is alive, and on its own thread as `Lua` is neither Send nor Sync.
        let cx = unsafe { Cx::from_state(self.owner.state) };
        let _inside = Inside::enter(self.owner.state);
        let _values = Values { state: self.owner.state, top: cx.top() };
        f(cx)
    }

    /// Sets how many bytes the state may take; what needs more raises "not enough memory".
    pub fn set_memory_limit(&self, bytes: usize) {
        // SAFETY: P1.
        unsafe { (*self.owner.state).set_memory_limit(bytes) }
    }

    /// Asks the state to collect at every safepoint: a mode for tests.
    pub fn set_gc_stress(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.owner.state).set_gc_stress(on) }
    }

    /// Asks for stacks that grow by what is needed only, so that they move often: a mode for tests.
    pub fn set_small_stack(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.owner.state).small_stack = on }
    }

    /// Lets things happen at random at safepoints, as `seed` has it: collections, stacks that move, code that comes and goes. A mode for tests,
    /// for a state of an engine with [`perilune_jit::JitOptions::chaos`].
    pub fn set_chaos(&self, seed: u64) {
        // SAFETY: P1.
        unsafe {
            (*self.owner.state).chaos = Some(Box::new(Chaos::new(seed)));
            (*self.owner.state).request(poll::CHAOS);
        }
    }

    /// A handle that stops the running script from another thread or a signal handler.
    pub fn interrupt_handle(&self) -> Interrupt {
        Interrupt(self.owner.gate.clone())
    }
}

/// The host's values on the stack, those aside that are left there: removed also after a panic.
struct Values {
    state: *mut State,
    top: usize,
}

impl Drop for Values {
    fn drop(&mut self) {
        // SAFETY: P1; calls that a panic has left have put back the frame on top.
        unsafe { Cx::from_state(self.state) }.set_top(self.top);
    }
}

/// The host is in a state: its stacks are not to be walked from elsewhere.
struct Inside(*mut State);

impl Inside {
    fn enter(state: *mut State) -> Inside {
        // SAFETY: P1.
        if let Some(tier) = unsafe { (&mut (*state).tier).as_mut() } {
            tier.enter();
        }
        Inside(state)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // SAFETY: P1: whoever entered the state borrows its owner.
        if let Some(tier) = unsafe { (&mut (*self.0).tier).as_mut() } {
            tier.leave();
        }
    }
}

/// A warning of the collector: an error in a finalizer.
unsafe fn warn(st: &mut State, message: &[u8]) {
    // SAFETY: the collector calls this with the frame of a native function or of Lua code on top, and uses nothing meanwhile.
    unsafe { perilune_stdlib::base::emit_warning(Cx::from_state(st), message) }
}

impl Default for Lua {
    fn default() -> Lua {
        Lua::new()
    }
}
