//! Creation of states.

use std::sync::OnceLock;

use perilune_code::fork;
use perilune_runtime::heap::Allocator;
use perilune_runtime::native::Cx;
use perilune_runtime::state::State;

use crate::control::Control;
use crate::interrupt::Gate;
use crate::{Engine, Error, Lua, LuaOptions, Result, StdLib};

impl Lua {
    /// Creates a state with the standard library except `debug`, which can break the assumptions of
    /// other code. All such states of the process share one engine, which compiles hot code.
    ///
    /// # Panics
    /// Panics when there is not enough memory.
    pub fn new() -> Lua {
        Lua::with_engine_and(&Lua::shared_engine(), StdLib::ALL_SAFE, LuaOptions::new())
            .unwrap_or_else(|e| panic!("the standard library does not open: {e}"))
    }

    /// Creates a state like [`Lua::new`], with these libraries and the basic functions.
    ///
    /// # Errors
    /// Returns [`Error::SafetyError`] if the libraries include `debug`, which
    /// [`Lua::unsafe_new_with`] allows, and [`Error::MemoryError`] when there is not enough memory.
    pub fn new_with(libs: StdLib, options: LuaOptions) -> Result<Lua> {
        if libs.contains(StdLib::DEBUG) {
            let message = "the unsafe `debug` module can't be loaded using safe `new_with`";
            return Err(Error::SafetyError(message.to_owned()));
        }
        Lua::with_engine_and(&Lua::shared_engine(), libs, options)
    }

    /// Creates a state with the whole standard library.
    ///
    /// # Safety
    /// There is nothing to uphold: `debug` is as memory-safe as the rest, since `debug.setlocal`
    /// does not change the values of native functions. The function is unsafe for compatibility
    /// with programs that were written for C Lua.
    ///
    /// # Panics
    /// Panics when there is not enough memory.
    pub unsafe fn unsafe_new() -> Lua {
        Lua::with_engine(&Lua::shared_engine())
    }

    /// Creates a state with these libraries and the basic functions.
    ///
    /// # Safety
    /// See [`Lua::unsafe_new`].
    ///
    /// # Panics
    /// Panics when there is not enough memory.
    pub unsafe fn unsafe_new_with(libs: StdLib, options: LuaOptions) -> Lua {
        Lua::with_engine_and(&Lua::shared_engine(), libs, options)
            .unwrap_or_else(|e| panic!("the standard library does not open: {e}"))
    }

    /// Returns the engine of states that are created without one.
    pub(crate) fn shared_engine() -> Engine {
        static SHARED: OnceLock<Engine> = OnceLock::new();
        let _inside = fork::enter();
        SHARED.get_or_init(Engine::new).clone()
    }

    /// Creates a state of `engine` with the whole standard library.
    ///
    /// # Panics
    /// Panics when there is not enough memory.
    pub fn with_engine(engine: &Engine) -> Lua {
        let lua = Lua::without_libraries(engine);
        lua.open_libraries();
        lua
    }

    /// Creates a state of `engine` with these libraries, which may include `debug`, and the basic
    /// functions.
    ///
    /// # Errors
    /// Returns an error when there is not enough memory.
    pub fn with_engine_and(engine: &Engine, libs: StdLib, options: LuaOptions) -> Result<Lua> {
        let lua = Lua::bare(engine, options);
        lua.load_std_libs(libs)?;
        Ok(lua)
    }

    /// Creates a state of `engine` without any globals.
    pub fn without_libraries(engine: &Engine) -> Lua {
        Lua::bare(engine, LuaOptions::new())
    }

    /// Creates a state of `engine` without any globals, whose heap is allocated by `allocator`. For
    /// the C API.
    #[doc(hidden)]
    pub fn without_libraries_in(engine: &Engine, allocator: Allocator) -> Lua {
        Lua::bare_in(engine, LuaOptions::new(), allocator)
    }

    fn bare(engine: &Engine, options: LuaOptions) -> Lua {
        Lua::bare_in(engine, options, Allocator::global())
    }

    fn bare_in(engine: &Engine, options: LuaOptions, allocator: Allocator) -> Lua {
        let state = State::create_with(engine.shared.clone(), &perilune_interp::VM, allocator);
        if let Some(jit) = &engine.jit {
            // SAFETY: the state was just created; destroying it drops the tier with it, when no
            // frame is left.
            unsafe { jit.attach(state) };
        }
        // SAFETY: P2: the state was just created, and its owner closes the gate before it destroys
        // the state.
        let gate = unsafe { Gate::to(state) };
        // SAFETY: likewise: the frame of the host is on top.
        unsafe { (*state).finalizer_warn = Some(warn) };
        Lua { control: Control::new(state, gate, engine.clone(), options) }
    }

    /// Opens the standard library (`luaL_openlibs`). A true field `LUA_NOENV` of the registry makes
    /// it ignore environment variables.
    ///
    /// # Panics
    /// Panics when there is not enough memory.
    pub fn open_libraries(&self) {
        // SAFETY: the libraries use nothing but the state.
        unsafe { self.with(perilune_stdlib::open_all) }
            .unwrap_or_else(|_| panic!("the standard library does not open"));
    }

    /// Opens these libraries and the basic functions.
    ///
    /// # Errors
    /// Returns an error when there is not enough memory.
    pub fn load_std_libs(&self, libs: StdLib) -> Result<()> {
        // SAFETY: the libraries use nothing but the state.
        unsafe { self.with(|cx| libs.open(cx)) }.map_err(|_| Error::not_enough_memory())
    }
}

/// Emits a warning of the collector: an error in a finalizer.
unsafe fn warn(st: *mut State, message: &[u8]) {
    // SAFETY: the collector calls this with the frame of a native function or of Lua code on top,
    // and uses nothing of the state meanwhile.
    unsafe { crate::warning::emit(Cx::from_state(st), message) }
}

impl Default for Lua {
    fn default() -> Lua {
        Lua::new()
    }
}
