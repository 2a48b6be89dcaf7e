//! A Lua state.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use perilune_runtime::chaos::Chaos;
use perilune_runtime::native::Cx;
use perilune_runtime::state::{State, poll};
use perilune_runtime::table::Table as TableObject;

use crate::control::{Control, Entry};
use crate::interrupt::Gate;
use crate::stack::{Online, Raw};
use crate::sync::{XRc, XWeak};
use crate::traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::{
    Chunk, Engine, Error, Interrupt, LuaOptions, LuaString, MultiValue, Program, Result, StdLib,
    Table, Value,
};

/// A Lua state: a heap and a set of globals. Cheap to clone; clones are the same state. A state
/// stays on its thread, unless the feature `send` lets any thread use it: then each operation,
/// dropping a handle included, waits until no other thread is in the state.
///
/// The state lives while a `Lua` exists or a call into it is running. Handles ([`Table`],
/// [`crate::Function`], ..) do not keep it alive: using one afterwards panics with "Lua instance is
/// destroyed".
///
/// ```
/// use perilune::{Lua, Result};
///
/// fn main() -> Result<()> {
///     let lua = Lua::new();
///     lua.globals().set("planet", "Mars")?;
///     let text: String = lua.load("'Hello, ' .. planet").eval()?;
///     assert_eq!(text, "Hello, Mars");
///     Ok(())
/// }
/// ```
#[repr(transparent)]
pub struct Lua {
    pub(crate) control: XRc<Control>,
}

impl Clone for Lua {
    #[inline(always)]
    fn clone(&self) -> Lua {
        self.control.retain();
        Lua { control: self.control.clone() }
    }
}

impl Drop for Lua {
    #[inline(always)]
    fn drop(&mut self) {
        self.control.release();
    }
}

impl std::fmt::Debug for Lua {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lua({:p})", XRc::as_ptr(&self.control))
    }
}

/// A `Lua` that does not count as an owner, for a callback.
pub(crate) struct Borrowed(ManuallyDrop<Lua>);

impl Deref for Borrowed {
    type Target = Lua;
    #[inline(always)]
    fn deref(&self) -> &Lua {
        &self.0
    }
}

/// The number of list elements that are stored together.
const BATCH: usize = 32;

impl Lua {
    /// Returns the `Lua` that a control block stands for.
    #[inline(always)]
    pub(crate) fn of(control: &XRc<Control>) -> &Lua {
        // SAFETY: `Lua` is a transparent wrapper; a reference drops nothing, and `Lua` is only
        // cloned by counting itself.
        unsafe { &*(&raw const *control).cast() }
    }

    /// Returns the `Lua` of a state, for a callback of it.
    ///
    /// # Safety
    /// `st` is alive, was made by this crate, and outlives the result.
    #[inline(always)]
    pub(crate) unsafe fn borrowed(st: *mut State) -> Borrowed {
        let control = XRc::from_raw((*st).host.cast::<Control>());
        Borrowed(ManuallyDrop::new(Lua { control }))
    }

    /// Begins an operation.
    ///
    /// # Panics
    /// Panics when the state has ended, which a `Lua` that a finalizer kept can observe.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Entry<'_> {
        Entry::new(&self.control)
    }

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
    /// There is nothing to uphold: `debug` is as memory-safe as the rest. The function is unsafe
    /// for compatibility with programs that were written for C Lua.
    ///
    /// # Panics
    /// Panics when there is not enough memory.
    pub unsafe fn unsafe_new() -> Lua {
        Lua::with_engine(&Lua::shared_engine())
    }

    /// Creates a state with these libraries.
    ///
    /// # Safety
    /// As for [`Lua::unsafe_new`].
    ///
    /// # Panics
    /// Panics when there is not enough memory.
    pub unsafe fn unsafe_new_with(libs: StdLib, options: LuaOptions) -> Lua {
        Lua::with_engine_and(&Lua::shared_engine(), libs, options)
            .unwrap_or_else(|e| panic!("the standard library does not open: {e}"))
    }

    /// Returns the engine of states that are made without one.
    pub(crate) fn shared_engine() -> Engine {
        static SHARED: OnceLock<Engine> = OnceLock::new();
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

    /// Creates a state of `engine` with these libraries.
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

    fn bare(engine: &Engine, options: LuaOptions) -> Lua {
        let state = State::create(engine.shared.clone(), &perilune_interp::VM);
        if let Some(jit) = &engine.jit {
            // SAFETY: the state was just made; destroying it drops the tier with it, when no frame
            // is left.
            unsafe { jit.attach(state) };
        }
        // SAFETY: P2: the state was just made, and its owner closes the gate before it destroys the
        // state.
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
        self.with(perilune_stdlib::open_all)
            .unwrap_or_else(|_| panic!("the standard library does not open"));
    }

    /// Opens these libraries and the basic functions.
    ///
    /// # Errors
    /// Returns an error when there is not enough memory.
    pub fn load_std_libs(&self, libs: StdLib) -> Result<()> {
        self.with(|cx| libs.open(cx)).map_err(|_| Error::not_enough_memory())
    }

    /// Returns the state's engine.
    pub fn engine(&self) -> &Engine {
        &self.control.engine
    }

    /// Makes a chunk of a program of this state's engine, to run in this state.
    ///
    /// # Panics
    /// Panics if the program belongs to another engine.
    pub fn load_program(&self, program: &Program) -> Chunk<'static> {
        let same = Arc::ptr_eq(&self.control.engine.shared, &program.engine);
        assert!(same, "the program is one of another engine");
        Chunk::of_program(self, program.proto.clone())
    }

    /// Runs `f` with the state as native functions see it, and removes what `f` leaves on the
    /// stack. Meanwhile nothing else may use the state, except functions of the host that `f` calls
    /// through it.
    ///
    /// # Panics
    /// Panics if `f`, or a native function that it calls, panics. The state can be used afterwards:
    /// the frames above are gone, without calls of `__close`, and coroutines that were running are
    /// dead. Also panics if `f` uses a handle of the state.
    pub fn with<R>(&self, f: impl FnOnce(&mut Cx) -> R) -> R {
        let entry = self.enter();
        let _lent = Lent::new(&self.control);
        // SAFETY: P1: the state is alive, on this thread or locked, and lent: no operation finds it
        // until the end.
        let cx = unsafe { Cx::from_state(entry.st) };
        let _inside = Online::new(entry.st);
        let _values = Values { state: entry.st, top: cx.top() };
        f(cx)
    }

    /// Returns a weak reference to the state.
    pub fn weak(&self) -> WeakLua {
        self.control.weak.clone()
    }

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
    /// None at present.
    pub fn set_globals(&self, globals: Table) -> Result<()> {
        let entry = self.enter();
        let s = entry.stack();
        let word = s.word(&globals.0);
        // SAFETY: P1: a table of this state.
        unsafe { State::set_globals(&mut *s.st, word.0.as_table()) };
        Ok(())
    }

    /// Creates a string.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    #[inline]
    pub fn create_string(&self, s: impl AsRef<[u8]>) -> Result<LuaString> {
        let entry = self.enter();
        let stack = entry.stack();
        let raw = stack.string(s.as_ref())?;
        Ok(LuaString(stack.handle(raw)))
    }

    /// Creates an empty table.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    #[inline]
    pub fn create_table(&self) -> Result<Table> {
        self.create_table_with_capacity(0, 0)
    }

    /// Creates an empty table with room for this number of elements and fields.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    #[inline]
    pub fn create_table_with_capacity(&self, elements: usize, fields: usize) -> Result<Table> {
        let entry = self.enter();
        let s = entry.stack();
        s.poll()?;
        s.check_room(elements.saturating_mul(16))?;
        let t = s.cx().table(elements, fields).val().raw();
        Ok(Table(s.handle(Raw(t))))
    }

    /// Creates a table with these entries.
    ///
    /// # Errors
    /// Returns an error for keys that are nil or NaN, or that of a conversion.
    pub fn create_table_from<K: IntoLua, V: IntoLua>(
        &self,
        iter: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Table> {
        let iter = iter.into_iter();
        let t = self.create_table_with_capacity(0, iter.size_hint().0)?;
        for (k, v) in iter {
            t.raw_set(k, v)?;
        }
        Ok(t)
    }

    /// Creates a list of these elements. A nil element leaves a hole.
    ///
    /// # Errors
    /// Returns the error of a conversion.
    pub fn create_sequence_from<T: IntoLua>(
        &self,
        iter: impl IntoIterator<Item = T>,
    ) -> Result<Table> {
        let iter = iter.into_iter();
        let entry = self.enter();
        let s = entry.stack();
        let t = self.create_table_with_capacity(iter.size_hint().0, 0)?;
        s.reserve(2 * BATCH)?;
        let top = s.top();
        // moves this many elements at a time from the stack to the table
        let put = |done: usize| {
            let n = s.top() - top;
            // SAFETY: P1: the values are on the stack, and the table is rooted by the handle.
            unsafe {
                let from = (*s.st).base.add(top);
                TableObject::set_list(&mut *s.st, t.0.word().as_table(), done as u32, from, n);
            }
            s.cut(top);
            done + n
        };
        let mut done = 0;
        for v in iter {
            if s.top() - top == BATCH {
                done = put(done);
            }
            s.poll()?;
            // SAFETY: the value is pushed at once.
            match unsafe { v.into_lua_raw(s) } {
                Ok(v) => s.push(v),
                Err(e) => {
                    s.cut(top);
                    return Err(e);
                }
            }
        }
        put(done);
        Ok(t)
    }

    /// Converts a string or number to a string; other values give `None`.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn coerce_string(&self, v: Value) -> Result<Option<LuaString>> {
        let text = match v {
            Value::String(s) => return Ok(Some(s)),
            Value::Integer(_) | Value::Number(_) => v.to_string()?,
            _ => return Ok(None),
        };
        self.create_string(text).map(Some)
    }

    /// Converts a number with an integral value, or a string that represents one, to an integer;
    /// other values give `None`.
    ///
    /// # Errors
    /// None at present.
    pub fn coerce_integer(&self, v: Value) -> Result<Option<i64>> {
        let entry = self.enter();
        let raw = entry.stack().raw(&v)?;
        // SAFETY: the value is a handle's or none of the heap.
        Ok(unsafe { perilune_runtime::convert::to_integer(raw.0) })
    }

    /// Converts a number, or a string that represents one, to a float; other values give `None`.
    ///
    /// # Errors
    /// None at present.
    pub fn coerce_number(&self, v: Value) -> Result<Option<f64>> {
        let entry = self.enter();
        let raw = entry.stack().raw(&v)?;
        // SAFETY: the value is a handle's or none of the heap.
        let n = unsafe { perilune_runtime::convert::to_number(raw.0) };
        Ok(n.map(|n| if n.is_int() { n.as_int() as f64 } else { n.as_float() }))
    }

    /// Converts a Rust value to a Lua value.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn pack(&self, t: impl IntoLua) -> Result<Value> {
        t.into_lua(self)
    }

    /// Converts a Lua value to a Rust value.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn unpack<T: FromLua>(&self, value: Value) -> Result<T> {
        T::from_lua(value, self)
    }

    /// Converts a value to Lua and from there to another type.
    ///
    /// # Errors
    /// Returns the error of a conversion.
    pub fn convert<U: FromLua>(&self, value: impl IntoLua) -> Result<U> {
        U::from_lua(value.into_lua(self)?, self)
    }

    /// Converts Rust values to Lua values.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn pack_multi(&self, t: impl IntoLuaMulti) -> Result<MultiValue> {
        t.into_lua_multi(self)
    }

    /// Converts Lua values to Rust values.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn unpack_multi<T: FromLuaMulti>(&self, value: MultiValue) -> Result<T> {
        T::from_lua_multi(value, self)
    }

    /// Returns a message followed by a traceback of the running coroutine from level `level` on.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn traceback(&self, message: Option<&str>, level: usize) -> Result<LuaString> {
        let entry = self.enter();
        let s = entry.stack();
        let text = s.cx().traceback(None, message.map(str::as_bytes), level);
        self.create_string(text)
    }

    /// Makes the state collect at every safepoint: a mode for tests.
    pub fn set_gc_stress(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).set_gc_stress(on) }
    }

    /// Lets each safepoint do one tiny increment of the collector's work, in all phases and modes,
    /// as `seed` decides, and walks the heap after each collection: a mode for tests.
    pub fn set_gc_phases(&self, seed: u64) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).set_gc_phases(seed) }
    }

    /// Breaks the write barrier, so that a test can show that the mode above finds it.
    #[doc(hidden)]
    pub fn lose_write_barriers(&self) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).lose_barriers() }
    }

    /// Makes stacks grow by no more than necessary, so that they move often: a mode for tests.
    pub fn set_small_stack(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).small_stack = on }
    }

    /// Makes safepoints do random things, determined by `seed`: collect, move stacks, replace code.
    /// A mode for tests, for a state of an engine with [`perilune_jit::JitOptions::chaos`].
    pub fn set_chaos(&self, seed: u64) {
        let entry = self.enter();
        // SAFETY: P1.
        unsafe {
            (*entry.st).chaos = Some(Box::new(Chaos::new(seed)));
            (*entry.st).request(poll::CHAOS);
        }
    }

    /// Returns a handle that stops the running script from another thread or a signal handler.
    pub fn interrupt_handle(&self) -> Interrupt {
        Interrupt(self.control.gate.clone())
    }
}

/// A weak reference to a state ([`Lua::weak`]).
#[derive(Clone, Debug)]
pub struct WeakLua(pub(crate) XWeak<Control>);

impl WeakLua {
    /// Returns the state.
    ///
    /// # Panics
    /// Panics when the state has ended.
    pub fn upgrade(&self) -> Lua {
        self.try_upgrade().expect("Lua instance is destroyed")
    }

    /// Returns the state, if it still exists.
    pub fn try_upgrade(&self) -> Option<Lua> {
        let control = self.0.upgrade()?;
        {
            let _guard = control.lock.hold();
            if !control.is_alive() {
                return None;
            }
            control.retain();
        }
        Some(Lua { control })
    }
}

impl PartialEq for WeakLua {
    fn eq(&self, other: &WeakLua) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for WeakLua {}

/// Marks the state as lent: operations do not find it.
struct Lent<'a> {
    control: &'a Control,
    state: *mut State,
}

impl<'a> Lent<'a> {
    fn new(control: &'a Control) -> Lent<'a> {
        Lent { control, state: control.state.replace(std::ptr::null_mut()) }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.control.state.set(self.state);
    }
}

/// The host's values on the stack. They are removed, except the given number of results, also after
/// a panic.
struct Values {
    state: *mut State,
    top: usize,
}

impl Drop for Values {
    fn drop(&mut self) {
        // SAFETY: P1; calls left by a panic have restored the top frame.
        unsafe { Cx::from_state(self.state) }.set_top(self.top);
    }
}

/// Emits a warning of the collector: an error in a finalizer.
unsafe fn warn(st: *mut State, message: &[u8]) {
    // SAFETY: the collector calls this with the frame of a native function or of Lua code on top,
    // and uses nothing meanwhile.
    unsafe { perilune_stdlib::base::emit_warning(Cx::from_state(st), message) }
}

impl Default for Lua {
    fn default() -> Lua {
        Lua::new()
    }
}
