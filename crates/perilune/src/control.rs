//! The control block of a state, which `Lua` and all handles share, and the ownership of the state.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::null_mut;
use std::sync::Arc;

use perilune_runtime::FirstPanic;
use perilune_runtime::state::State;
#[cfg(feature = "serde")]
use perilune_runtime::userdata::CellHead;
use perilune_runtime::value::Value as Word;

use crate::alarm::Alarm;
use crate::app_data::AppData;
#[cfg(feature = "async")]
use crate::futures::Polling;
use crate::interrupt::Gate;
use crate::registry_key::Keys;
use crate::sync::{Count, Guard, Lock, XRc};
use crate::triggers::{DebugEvent, ThreadEventKind, ThreadTriggers};
use crate::types::VmState;
use crate::{Engine, Lua, LuaOptions, Result, WeakLua};

/// The control block of one state. The state lives while a `Lua` exists or a call into it is
/// running; handles keep only the control block alive.
pub(crate) struct Control {
    /// Must be held to use the other fields, except the counts.
    pub(crate) lock: Lock,
    /// The state for operations to use; null after it has ended, and while [`Lua::with`] lends it
    /// to its caller.
    pub(crate) state: Cell<*mut State>,
    /// The state, even while it is lent; null after it has ended.
    home: Cell<*mut State>,
    /// The number of owners: `Lua`s and running calls.
    strong: Count,
    pub(crate) gate: Arc<Gate>,
    /// The alarm of the script's time limit.
    pub(crate) alarm: Cell<Option<Alarm>>,
    /// A weak reference to this control block.
    pub(crate) weak: WeakLua,
    pub(crate) options: LuaOptions,
    pub(crate) engine: Engine,
    pub(crate) app_data: AppData,
    /// The slots of registry keys that were dropped, on any thread, and have not been released yet.
    pub(crate) keys: Arc<Keys>,
    /// The metatables of the userdata types, as handle slots.
    pub(crate) metatables: RefCell<HashMap<TypeId, u32, foldhash::fast::FixedState>>,
    /// The metatable of errors, as a handle slot.
    pub(crate) error_meta: Cell<Option<u32>>,
    /// The context in which futures are polled.
    #[cfg(feature = "async")]
    pub(crate) polling: Polling,
    /// The metatable of lists, as a handle slot.
    #[cfg(feature = "serde")]
    pub(crate) array_meta: Cell<Option<u32>>,
    /// The serializers of userdata types.
    #[cfg(feature = "serde")]
    pub(crate) serializers: RefCell<HashMap<TypeId, SerFn, foldhash::fast::FixedState>>,
    /// The function set with [`Lua::set_warning_function`].
    pub(crate) warning: RefCell<Option<XRc<WarnFn>>>,
    /// The hook of all coroutines.
    pub(crate) global_hook: RefCell<Option<XRc<HookFn>>>,
    /// The callback for coroutine events.
    pub(crate) thread_events: Watch,
}

impl Control {
    /// Takes ownership of a new state. The result counts as one `Lua`.
    pub(crate) fn new(
        state: *mut State,
        gate: Arc<Gate>,
        engine: Engine,
        options: LuaOptions,
    ) -> XRc<Control> {
        let control = XRc::new_cyclic(|weak| Control {
            weak: WeakLua(weak.clone()),
            lock: Lock::new(),
            state: Cell::new(state),
            home: Cell::new(state),
            strong: Count::new(1),
            gate,
            alarm: Cell::new(None),
            options,
            engine,
            app_data: AppData::default(),
            keys: Arc::default(),
            metatables: RefCell::default(),
            error_meta: Cell::new(None),
            #[cfg(feature = "async")]
            polling: Polling::default(),
            #[cfg(feature = "serde")]
            array_meta: Cell::new(None),
            #[cfg(feature = "serde")]
            serializers: RefCell::default(),
            warning: RefCell::default(),
            global_hook: RefCell::default(),
            thread_events: Watch::default(),
        });
        // SAFETY: P1: the state was just created.
        unsafe { (*state).host = XRc::as_ptr(&control).cast() };
        control
    }

    /// Returns the state for an operation to use.
    ///
    /// # Panics
    /// Panics when the state has ended, or is lent by [`Lua::with`].
    #[inline(always)]
    pub(crate) fn state(&self) -> *mut State {
        let st = self.state.get();
        if st.is_null() {
            self.refuse();
        }
        st
    }

    #[cold]
    fn refuse(&self) -> ! {
        if self.home.get().is_null() {
            panic!("Lua instance is destroyed");
        }
        panic!("the state is in use by Lua::with");
    }

    /// Returns whether the state exists.
    #[inline(always)]
    pub(crate) fn is_alive(&self) -> bool {
        let _guard = self.lock.hold();
        !self.home.get().is_null()
    }

    /// Returns whether operations can begin.
    #[cfg(feature = "async")]
    pub(crate) fn is_free(&self) -> bool {
        !self.state.get().is_null()
    }

    /// Returns the state even while it is lent; null after it has ended. The caller holds the lock,
    /// and neither runs Lua code nor collects garbage with the result.
    #[inline(always)]
    pub(crate) fn home(&self) -> *mut State {
        self.home.get()
    }

    /// Adds an owner.
    #[inline(always)]
    pub(crate) fn retain(&self) {
        self.strong.increment();
    }

    /// Removes an owner, and ends the state after the last one.
    #[inline(always)]
    pub(crate) fn release(&self) {
        if self.strong.decrement() == 0 {
            self.destroy();
        }
    }

    /// Returns the number of owners.
    pub(crate) fn owners(&self) -> usize {
        self.strong.get()
    }

    /// Ends the state. Finalizers may still use it, and destructors of host values may try to; if
    /// one of them keeps a `Lua`, the state stays alive. The first panic is resumed at the end.
    #[cold]
    #[inline(never)]
    fn destroy(&self) {
        let _guard = self.lock.hold();
        let st = self.home.get();
        // another thread may have found the state by a weak reference, and even ended it, before
        // this thread got the lock
        if st.is_null() || self.strong.get() > 0 {
            return;
        }
        // destructors that run now must not end it a second time
        self.retain();
        let mut panics = FirstPanic::default();
        // The functions of the host that finalizers call need the whole state, so no finalizer may
        // be left when it ends. Each panic ends one of them.
        // SAFETY: P1: no call is running.
        while !panics.call(|| unsafe { State::close(st) }) {}
        panics.call(|| drop(self.app_data.take_all()));
        panics.call(|| drop(self.warning.take()));
        panics.call(|| drop(self.global_hook.take()));
        panics.call(|| self.thread_events.set(None));
        if self.strong.decrement() == 0 {
            self.home.set(null_mut());
            self.state.set(null_mut());
            self.gate.close();
            // SAFETY: P1: no call is running, as each counts as an owner, and handles no longer
            // find the state.
            panics.call(|| unsafe { State::destroy(st) });
        }
        panics.resume();
    }
}

/// The receiver of warnings.
pub(crate) type WarnFn = dyn Fn(&Lua, &str, bool) -> Result<()>;

/// The hook of all coroutines.
pub(crate) type HookFn = dyn Fn(&Lua, DebugEvent) -> Result<VmState>;

/// Returns the value of a cell of a certain type for serialization.
#[cfg(feature = "serde")]
pub(crate) type SerFn = unsafe fn(*mut CellHead) -> *const dyn erased_serde::Serialize;

/// A callback for coroutine events. It receives the coroutine and the kind of the event.
type ThreadEventFn = dyn Fn(&Handle, ThreadEventKind) -> Result<()>;

/// The callback for coroutine events, and when it is called.
#[derive(Default)]
pub(crate) struct Watch {
    pub(crate) triggers: Cell<ThreadTriggers>,
    pub(crate) callback: RefCell<Option<XRc<ThreadEventFn>>>,
    /// The address of the coroutine whose event is being reported.
    pub(crate) telling: Cell<Option<u64>>,
}

impl Watch {
    /// Sets or removes the callback. The previous one is dropped last, as its destructor may use
    /// the state.
    pub(crate) fn set(&self, watch: Option<(ThreadTriggers, XRc<ThreadEventFn>)>) {
        let (triggers, callback) = watch.unzip();
        self.triggers.set(triggers.unwrap_or_default());
        let before = self.callback.replace(callback);
        drop(before);
    }
}

/// An operation on a state, such as a call. The state stays alive until the operation ends. After
/// it, the stack has the same number of values as before, even if a conversion or a function of the
/// host has panicked.
pub(crate) struct Entry<'a> {
    pub(crate) lua: &'a Lua,
    pub(crate) st: *mut State,
    /// The size of the values above the base when the operation began, in bytes.
    size: usize,
    _guard: Guard<'a>,
}

impl<'a> Entry<'a> {
    /// Begins an operation on the state.
    ///
    /// # Panics
    /// See [`Control::state`].
    #[inline(always)]
    pub(crate) fn new(control: &'a XRc<Control>) -> Entry<'a> {
        let guard = control.lock.hold();
        let st = control.state();
        control.retain();
        // SAFETY: P1: the state is alive; base and top are of the same stack.
        let size = unsafe { (*st).top.byte_offset_from((*st).base) as usize };
        Entry { lua: Lua::of(control), st, size, _guard: guard }
    }
}

impl Drop for Entry<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: P1: the frame that was on top when the operation began is on top again, and the
        // values that it had then are still there.
        unsafe { (*self.st).top = (*self.st).base.byte_add(self.size) };
        self.lua.control.release();
    }
}

/// A handle: a slot of the state that is a root of the collector.
pub(crate) struct Handle {
    pub(crate) control: XRc<Control>,
    index: u32,
}

impl Handle {
    /// Creates a handle to a value of a state.
    ///
    /// # Safety
    /// `value` is a live value of the state of `control`.
    #[inline(always)]
    pub(crate) unsafe fn new(control: &XRc<Control>, value: Word) -> Handle {
        // SAFETY: P1, P4: only one operation at a time accesses the slot table.
        let index = unsafe { (*control.home()).add_host_root(value) };
        Handle { control: control.clone(), index }
    }

    /// Begins an operation on the handle's state.
    ///
    /// # Panics
    /// Panics when the state has ended.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Entry<'_> {
        Entry::new(&self.control)
    }

    /// Returns the value, which is alive until the next safepoint and while the slot exists.
    ///
    /// # Panics
    /// Panics when the state has ended.
    #[inline(always)]
    pub(crate) fn word(&self) -> Word {
        let _guard = self.hold();
        let st = self.control.home();
        assert!(!st.is_null(), "Lua instance is destroyed");
        // SAFETY: P1, P4.
        unsafe { (*st).host_roots.get(self.index) }
    }

    /// Locks the state, which keeps other threads out of it.
    #[inline(always)]
    pub(crate) fn hold(&self) -> Guard<'_> {
        self.control.lock.hold()
    }

    /// Returns whether the handle belongs to the state of `control`.
    pub(crate) fn is_of(&self, control: &XRc<Control>) -> bool {
        XRc::ptr_eq(&self.control, control)
    }
}

impl Clone for Handle {
    #[inline(always)]
    fn clone(&self) -> Handle {
        let _guard = self.hold();
        let st = self.control.home();
        if !st.is_null() {
            // SAFETY: P1, P4.
            unsafe { (*st).host_roots.retain(self.index) };
        }
        Handle { control: self.control.clone(), index: self.index }
    }
}

impl Drop for Handle {
    #[inline(always)]
    fn drop(&mut self) {
        let _guard = self.control.lock.hold();
        let st = self.control.home();
        if !st.is_null() {
            // SAFETY: P1, P4.
            unsafe { (*st).host_roots.release(self.index) };
        }
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.control.is_alive() {
            return f.write_str("(<destroyed>)");
        }
        write!(f, "({:#x})", self.word().bits())
    }
}

impl PartialEq for Handle {
    /// Compares with primitive equality.
    ///
    /// # Panics
    /// Panics for handles of different states.
    fn eq(&self, other: &Handle) -> bool {
        assert!(self.is_of(&other.control), "{}", FOREIGN);
        let _guard = self.hold();
        self.word().raw_equals(other.word())
    }
}

/// The panic message for a value of another state.
pub(crate) const FOREIGN: &str =
    "Lua instance passed Value created from a different main Lua state";

/// Holds a reference to the control block on behalf of a host value that must stay on its thread,
/// so that [`Lua::detach`] detects the value.
pub(crate) struct Local(#[allow(dead_code)] pub(crate) Option<XRc<Control>>);

/// Boxed host data of any type.
pub(crate) type AnyBox = Box<dyn Any>;
