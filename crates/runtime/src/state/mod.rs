//! One state: a heap, a set of globals, and the running coroutine.

mod compiler;
mod error;
mod life;
pub mod poll;
mod vm;

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

pub use compiler::{Threshold, Tier};
pub use vm::{Switched, Vm};

use crate::chaos::Chaos;
use crate::engine::EngineShared;
use crate::epoch::MetaEpoch;
use crate::exit_stress::ExitStress;
use crate::heap::Heap;
use crate::hook::Hook;
use crate::host::HostRoots;
use crate::meta::Event;
use crate::raised::{ErrorKind, Raised};
use crate::random::Random;
use crate::string::LuaString;
use crate::strings::StringTable;
use crate::table::{InheritedCache, InheritedGlobals, LocalShape, MegamorphicCache, Table};
use crate::thread::Thread;
use crate::value::{Tag, Value};

/// One state. It stays at one address for its whole lifetime, and is accessed through that address
/// from many places: a reference to it is never exclusive. The Rust compiler knows this because the
/// type is not `Unpin`.
#[repr(C)]
pub struct State {
    /// The allocator and the collector.
    pub heap: Heap,
    /// Tested at function entries, at back-edges and after calls and allocations; see [`poll`].
    /// Other threads write to it as well.
    pub poll: AtomicU32,
    /// Not 0 once a debug function has changed a variable that the program never assigns
    /// ([`perilune_bytecode::UpvalDesc::constant`]). Machine code that relies on such variables
    /// tests it once.
    pub constants_changed: u32,
    /// Changes whenever the structure of a table changes on which caches of metatable chains
    /// depend.
    pub meta_epoch: MetaEpoch,
    /// Makes the type `!Unpin`, as a state must not move.
    pub(crate) pinned: PhantomPinned,
    /// The base of the top frame of the running coroutine. The interpreter keeps its own copy and
    /// stores it here before it calls other code.
    pub base: *mut Value,
    /// The end of the values of the top frame. For a Lua frame that called other code, this is its
    /// base plus its `max_stack`.
    pub top: *mut Value,
    /// The address that frames must not exceed.
    pub limit: *mut Value,
    /// The running coroutine.
    pub thread: *mut Thread,
    /// Number of instructions that the script may still execute, as [`State::spend`] counts them.
    pub fuel: u64,
    /// Whether instructions are counted. Never changes once the state has run code, since machine
    /// code is compiled with or without counting.
    pub counts: bool,
    /// Whether the portable interpreter loop runs code even where handlers are available.
    pub portable: bool,
    /// Number of nested entries of the interpreter from native code, and of parser levels
    /// (PUC-Lua's `nCcalls`).
    pub native_depth: u32,
    /// The lowest address of the native stack at which machine code may be entered.
    pub native_limit: usize,
    /// The lowest address of the native stack at which anything may be called.
    pub native_floor: usize,
    /// The first result of a return from the interpreter to machine code. The payload also holds
    /// the result of a runtime function that has no result registers. It is read immediately.
    pub returned: Returned,
    /// The arguments of a runtime function, and its address, for a call that preserves all
    /// registers. They are read immediately.
    pub passed: [u64; MAX_PASSED + 1],
    /// Number of entries of a method after which code is requested from the compiler.
    pub entry_threshold: Threshold,
    /// Number of iterations of a loop after which code is requested from the compiler.
    pub loop_threshold: Threshold,
    /// Number of entries of a function at which its code is stitched; `u32::MAX` while there is no
    /// memory for more.
    pub stitch_threshold: u32,
    /// Number of calls that compiled code makes to the runtime for cases for which it was not
    /// compiled, after which the compiler is notified.
    pub miss_step: u32,
    /// The compiler, if there is one.
    pub tier: Option<Box<dyn Tier>>,
    /// The source of random decisions in the mode `chaos`.
    pub chaos: Option<Box<Chaos>>,
    /// The panic of a native function while it propagates through machine code, whose frames cannot
    /// be unwound.
    pub panic: Option<Box<dyn Any + Send>>,
    /// The position at which the propagating error was raised, if it has propagated through native
    /// frames since: offsets of `base` and `top`. A coroutine that is ended by the error keeps its
    /// frames, for tracebacks and with their variables to be closed.
    pub raised_at: Option<(u32, u32)>,
    /// Whether the message handler has already processed `error`.
    pub error_handled: bool,
    /// The kind of `error`; after that is caught, the kind of the error that was caught last.
    pub error_kind: ErrorKind,
    /// Whether stacks grow only by as much as needed, so that they move often (a test mode).
    pub small_stack: bool,
    /// The coroutine with which the state was created.
    pub main_thread: *mut Thread,
    /// The registry.
    pub registry: *mut Table,
    /// The table of globals.
    pub globals: *mut Table,
    /// The value of the propagating error.
    pub error: Value,
    /// The metatables of the basic types: nil, boolean, light userdata, number, string, function,
    /// thread.
    pub type_metas: [*mut Table; 7],
    /// The names of the metamethods.
    pub event_names: [*mut LuaString; Event::COUNT],
    /// The names of the types, by [`Tag::index`](crate::value::Tag::index).
    pub type_names: [*mut LuaString; Tag::INDICES],
    /// The strings of one byte, by byte.
    pub byte_strings: [*mut LuaString; 256],
    /// The string `not enough memory`, allocated in advance.
    pub memory_message: *mut LuaString,
    /// The shape of a table without fields.
    pub empty_shape: *mut LocalShape,
    /// The interned strings.
    pub strings: StringTable,
    /// The cache of field slots for accesses that encounter many shapes.
    pub megamorphic: MegamorphicCache,
    /// The cache of inherited fields for accesses that encounter many metatables.
    pub inherited: InheritedCache,
    /// The inline caches of inherited globals.
    pub inherited_globals: InheritedGlobals,
    /// The shapes for which this state has objects, by id. The references are weak: entries are
    /// removed when the shapes are dropped.
    pub shapes: hashbrown::HashMap<u32, *mut LocalShape, foldhash::fast::FixedState>,
    /// Further roots: values held by the host.
    pub host_roots: HostRoots,
    /// Data that the host keeps for this state; only the host uses it.
    pub host: *const (),
    /// The traceback of the propagating error, made for a call of the host
    /// ([`crate::frame::flags::TRACED`]).
    pub traceback: Option<Vec<u8>>,
    /// The hook of new coroutines.
    pub hook_of_new: Option<Box<Hook>>,
    /// The receiver of warnings, if not the standard error. It is called with the frame of a native
    /// function on top.
    pub warn: Option<WarnFn>,
    /// Called at a safepoint for [`poll::HOST`]. It may allocate memory and set hooks, but runs no
    /// Lua code.
    pub host_poll: Option<unsafe fn(*mut State)>,
    /// Called with the message when a finalizer fails ("error in __gc (...)").
    pub finalizer_warn: Option<unsafe fn(*mut State, &[u8])>,
    /// The time at which a library function first noticed a request to stop that gives it some
    /// time.
    pub interrupt_seen: Cell<Option<Instant>>,
    /// The interpreter that runs code.
    pub vm: &'static Vm,
    /// The engine.
    pub engine: Arc<EngineShared>,
    /// Which guards of compiled code fail in the mode `exit-stress`.
    pub exit_stress: ExitStress,
    /// Whether machine code has relied on a global to be constant
    /// ([`Cell::RELIED_ON`](crate::table::Cell::RELIED_ON)).
    pub(crate) relies_on_globals: bool,
    /// Whether [`State::leave_machine_code`] was called and frames have not been flagged yet.
    pub(crate) leaves_machine_code: bool,
    /// The generator of `math.random`.
    pub random: Random,
}

/// A receiver of warnings; it is passed the parts of one warning, and may raise an error.
pub type WarnFn = unsafe fn(*mut State, &[&[u8]]) -> Result<(), Raised>;

/// The first result of a return from the interpreter to machine code.
#[repr(C)]
pub struct Returned {
    /// Payload.
    pub bits: u64,
    /// Tag, zero-extended.
    pub tag: u64,
}

/// The maximum number of arguments, besides the state, of a function that is called with all
/// registers preserved.
pub const MAX_PASSED: usize = 5;

/// The index of the metatable of strings in [`State::type_metas`].
pub const STRING_META: usize = 4;

/// A live state that is borrowed separately for each use: between two uses, other pointers to it
/// may be used, for example by functions that are called with its address.
#[derive(Clone, Copy)]
pub struct StateRef(*mut State);

impl StateRef {
    /// Wraps the address of a state.
    ///
    /// # Safety
    /// `st` is alive as long as the result is used, and belongs to this thread. No reference
    /// obtained from the result is in use when other code uses the state.
    #[inline(always)]
    pub unsafe fn new(st: *mut State) -> StateRef {
        StateRef(st)
    }

    /// Returns the state's address.
    #[inline(always)]
    pub fn ptr(self) -> *mut State {
        self.0
    }
}

impl std::ops::Deref for StateRef {
    type Target = State;

    #[inline(always)]
    fn deref(&self) -> &State {
        // SAFETY: the state is alive, as the caller of `new` promised, and nothing that runs while
        // the result is in use has another reference.
        unsafe { &*self.0 }
    }
}

impl std::ops::DerefMut for StateRef {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: as above.
        unsafe { &mut *self.0 }
    }
}

/// Returns the index in [`State::type_metas`] for a tag; `None` for tables and full userdata.
pub fn type_meta_index(tag: Tag) -> Option<usize> {
    Some(match tag {
        Tag::NIL => 0,
        Tag::FALSE | Tag::TRUE => 1,
        Tag::LIGHT => 2,
        Tag::INTEGER | Tag::FLOAT => 3,
        Tag::STRING => STRING_META,
        Tag::FUNCTION | Tag::NATIVE => 5,
        Tag::THREAD => 6,
        _ => return None,
    })
}

impl State {
    /// Requests that all frames of machine code be deoptimized before their code continues. They
    /// are flagged later ([`Frames::flag_machine_code`]), since now the base of the top frame need
    /// not be stored.
    ///
    /// [`Frames::flag_machine_code`]: crate::frames::Frames::flag_machine_code
    #[cold]
    pub(crate) fn leave_machine_code(&mut self) {
        self.leaves_machine_code = true;
        self.request(poll::LEAVE);
    }

    /// Requests a safepoint soon, for `reason` (a bit of [`poll`]).
    #[inline]
    pub fn request(&self, reason: u32) {
        self.poll.fetch_or(reason, Ordering::Relaxed);
    }

    /// Stores a value for the host in a slot with a count of 1, and returns the number of the slot.
    ///
    /// # Panics
    /// Panics with more than 2^32 - 1 slots.
    #[inline]
    pub fn add_host_root(&mut self, value: Value) -> u32 {
        match self.host_roots.reuse(value) {
            Some(i) => i,
            None => self.push_host_root(value),
        }
    }

    #[cold]
    fn push_host_root(&mut self, value: Value) -> u32 {
        if !self.host_roots.have_room() {
            // The remaining slots suffice until the next safepoint, which raises an error.
            self.heap.memory.note_short();
            self.request(poll::GC);
        }
        self.host_roots.push(value)
    }

    /// Sets the poll word's HOOK bit to whether the running coroutine has a hook.
    #[inline]
    pub fn sync_hook(&self) {
        // SAFETY: the running coroutine is alive.
        if unsafe { (*self.thread).hook.is_some() } {
            self.request(poll::HOOK);
        } else if self.poll.load(Ordering::Relaxed) & poll::HOOK != 0 {
            self.poll.fetch_and(!poll::HOOK, Ordering::Relaxed);
        }
    }
}
