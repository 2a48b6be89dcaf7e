//! One state: a heap, a set of globals, and the running coroutine.

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr::{self, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use perilune_bytecode::{LoadError, Proto};
use perilune_syntax::GIVEN_UP;

use crate::chaos::Chaos;
use crate::closure::{LuaClosure, Upvalue};
use crate::engine::EngineShared;
use crate::epoch::MetaEpoch;
use crate::header::{GcHeader, Kind};
use crate::heap::{Allocator, Heap};
use crate::host::HostRoots;
use crate::instance::Instance;
use crate::meta::Event;
use crate::native::{Cx, Raised};
use crate::reserve;
use crate::string::LuaString;
use crate::strings::StringTable;
use crate::table::{LocalShape, Table};
use crate::thread::{
    ERROR_ROOM, MAX_STACK, MIN_FREE, Thread, alloc_stack, free_stack, try_alloc_stack,
};
use crate::tier::{Returned, Threshold, Tier};
use crate::value::{SlotExt, Tag, Value};
use crate::vm::Vm;

/// Bits of the poll word.
pub mod poll {
    /// The heap requests a safepoint.
    pub const GC: u32 = 1;
    /// A hook is set on the running coroutine.
    pub const HOOK: u32 = 2;
    /// The script is requested to stop.
    pub const INTERRUPT: u32 = 4;
    /// A quiescence announcement is requested (code life).
    pub const QUIESCENCE: u32 = 8;
    /// Random events are enabled (a test mode).
    pub const CHAOS: u32 = 16;
    /// Some frames of machine code must continue in the interpreter, since a debugger has written
    /// to their registers. Set as long as such frames exist.
    pub const LEAVE: u32 = 32;
    /// Together with INTERRUPT: library functions that take long may continue for
    /// [`PATIENCE`](crate::interrupt::PATIENCE).
    pub const PATIENCE: u32 = 64;
    /// Together with INTERRUPT: the time that the host has granted the script is over. Set until
    /// the host grants more.
    pub const OUT_OF_TIME: u32 = 128;
    /// Together with INTERRUPT: the instructions that the host has granted the script are used up.
    /// Set until the host grants more.
    pub const OUT_OF_FUEL: u32 = 256;
}

/// One state. It has one address for its whole life, and is accessed through that address from many
/// places: a reference to it is never the only way to reach it. The compiler knows this because the
/// type is not `Unpin`.
#[repr(C)]
pub struct State {
    /// The allocator and the collector.
    pub heap: Heap,
    /// Tested at function entries, at back-edges and after calls and allocations; see [`poll`].
    /// Other threads write to it as well.
    pub poll: AtomicU32,
    /// Changes when the structure of a table changes on which caches of metatable chains depend.
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
    /// Whether instructions are counted. Never changes once the state has run code, as machine code
    /// is compiled with or without counting.
    pub counts: bool,
    /// Number of nested entries of the interpreter from native code, and of parser levels
    /// (PUC-Lua's `nCcalls`).
    pub native_depth: u32,
    /// The address of the native stack below which no machine code is entered.
    pub native_limit: usize,
    /// The address of the native stack below which nothing is called.
    pub native_floor: usize,
    /// The first result of a return from the interpreter to machine code.
    pub returned: Returned,
    /// Number of entries of a method after which the compiler is asked for code.
    pub entry_threshold: Threshold,
    /// Number of iterations of a loop after which the compiler is asked for code.
    pub loop_threshold: Threshold,
    /// Number of calls to the runtime, by compiled code for cases that it was not compiled for,
    /// after which the compiler is told.
    pub miss_step: u32,
    /// The compiler, if there is one.
    pub tier: Option<Box<dyn Tier>>,
    /// The source of random decisions in the mode `chaos`.
    pub chaos: Option<Box<Chaos>>,
    /// The panic of a native function while it passes machine code, whose frames cannot be unwound.
    pub panic: Option<Box<dyn Any + Send>>,
    /// Where the propagating error was raised, if native frames have passed it on since: offsets of
    /// `base` and `top`. A coroutine that the error ends keeps its frames for tracebacks.
    pub raised_at: Option<(u32, u32)>,
    /// Whether the message handler has already processed `error`.
    pub error_handled: bool,
    /// Whether stacks grow only by what is needed, so that they move often (a test mode).
    pub small_stack: bool,
    /// The coroutine that the state was created with.
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
    /// The strings of one byte, by byte.
    pub byte_strings: [*mut LuaString; 256],
    /// The string `not enough memory`, allocated in advance.
    pub memory_message: *mut LuaString,
    /// The shape of a table without fields.
    pub empty_shape: *mut LocalShape,
    /// The interned strings.
    pub strings: StringTable,
    /// The shapes for which this state has objects, by id. The references are weak: entries are
    /// removed when the shapes are dropped.
    pub shapes: hashbrown::HashMap<u32, *mut LocalShape, foldhash::fast::FixedState>,
    /// Further roots: values held by the host.
    pub host_roots: HostRoots,
    /// Data that the host keeps for this state, which only the host uses.
    pub host: *const (),
    /// The traceback of the propagating error, made for a call of the host
    /// ([`crate::frame::flags::TRACED`]).
    pub traceback: Option<Vec<u8>>,
    /// The hook of new coroutines.
    pub hook_of_new: Option<Box<crate::hook::Hook>>,
    /// The receiver of warnings, if not the standard error.
    pub warn: Option<fn(&Cx, &[u8])>,
    /// When a library function first noticed a request to stop that leaves it time.
    pub interrupt_seen: Cell<Option<Instant>>,
    /// The interpreter that runs code.
    pub vm: &'static Vm,
    /// The engine.
    pub engine: Arc<EngineShared>,
}

/// In the mode of small stacks, stacks up to this size grow only by what is needed. Beyond, deep
/// recursion would take too long.
const SMALL_STEPS: usize = 4_000;

/// The largest number of bytes that reading and verifying a binary chunk takes, for each of its
/// bytes.
const UNDUMPED: usize = 16;

/// The index of the metatable of strings in [`State::type_metas`].
pub const STRING_META: usize = 4;

/// A live state that is borrowed separately for each use: between two uses, other pointers to it
/// may be used, as by functions that are called with its address.
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
    /// Creates a state without libraries. It is freed with [`State::destroy`].
    pub fn create(engine: Arc<EngineShared>, vm: &'static Vm) -> *mut State {
        State::create_with(engine, vm, Allocator::global())
    }

    /// Does the same as [`State::create`], with memory from `allocator`.
    pub fn create_with(
        engine: Arc<EngineShared>,
        vm: &'static Vm,
        allocator: Allocator,
    ) -> *mut State {
        let st = Box::into_raw(Box::new(State {
            heap: Heap::new(allocator),
            poll: AtomicU32::new(0),
            meta_epoch: MetaEpoch::FIRST,
            pinned: PhantomPinned,
            base: null_mut(),
            top: null_mut(),
            limit: null_mut(),
            thread: null_mut(),
            native_depth: 0,
            native_limit: usize::MAX,
            native_floor: 0,
            raised_at: None,
            returned: Returned { bits: 0, tag: 0 },
            fuel: u64::MAX,
            counts: false,
            entry_threshold: Threshold::NEVER,
            loop_threshold: Threshold::NEVER,
            miss_step: u32::MAX,
            tier: None,
            chaos: None,
            panic: None,
            error_handled: false,
            small_stack: false,
            main_thread: null_mut(),
            registry: null_mut(),
            globals: null_mut(),
            error: Value::NIL,
            type_metas: [null_mut(); 7],
            event_names: [null_mut(); Event::COUNT],
            byte_strings: [null_mut(); 256],
            memory_message: null_mut(),
            empty_shape: null_mut(),
            strings: StringTable::new(),
            shapes: Default::default(),
            host_roots: HostRoots::default(),
            host: ptr::null(),
            traceback: None,
            hook_of_new: None,
            warn: None,
            interrupt_seen: Cell::new(None),
            vm,
            engine,
        }));
        // SAFETY: the state was just created and is not shared, and no collection happens before it
        // is complete.
        unsafe {
            let mut s = StateRef::new(st);
            s.empty_shape = LocalShape::empty(s.ptr());
            s.make_byte_strings();
            for e in Event::ALL {
                s.event_names[*e as usize] = s.intern(e.name().as_bytes());
            }
            s.memory_message = s.intern(b"not enough memory");
            let main = Thread::create(&mut s, false);
            s.main_thread = main;
            s.thread = main;
            (*main).status = crate::thread::Status::Running;
            (*main).non_yieldable = 1;
            // The host's own frame, at the bottom, from which calls into the state are made.
            let bottom = crate::frame::Frame((*main).stack.add(2));
            bottom.set_word(crate::frame::FrameWord::new(crate::frame::FrameWord::NATIVE, 0));
            bottom.set_link(crate::frame::Link::new(0, 0, 0));
            (*main).base = bottom.0;
            (*main).top = bottom.0;
            Thread::load_registers(st, main);
            let mut s = StateRef::new(st);
            s.registry = Table::new_dict(s.ptr(), 3);
            s.globals = Table::new_dict(s.ptr(), 6);
            Table::make_environment(s.ptr(), s.globals);
            Table::set_int(s.ptr(), s.registry, 1, Value::thread(main));
            Table::set_int(s.ptr(), s.registry, 2, Value::table(s.globals));
        }
        st
    }

    /// Runs all finalizers, at the end of the state. Their errors become warnings. If one of them
    /// panics, the others are not called.
    ///
    /// # Safety
    /// `st` is alive, and no native or Lua frame of it is active.
    pub unsafe fn close(st: *mut State) {
        /// Leaves the state, also after a panic.
        struct Entered(*mut State);
        impl Drop for Entered {
            fn drop(&mut self) {
                // SAFETY: the state is alive until it is destroyed, which happens later.
                if let Some(tier) = unsafe { (&mut (*self.0).tier).as_mut() } {
                    tier.leave();
                }
            }
        }
        if let Some(tier) = &mut (*st).tier {
            tier.enter();
        }
        let _entered = Entered(st);
        (*st).gc_close();
    }

    /// Runs all finalizers that were not run by [`State::close`] and frees the state.
    ///
    /// # Safety
    /// `st` came from [`State::create`], no native or Lua frame of it is active, and no handle to
    /// it is used again.
    pub unsafe fn destroy(st: *mut State) {
        State::close(st);
        // Nothing walks the state's stacks any more.
        (*st).tier = None;
        drop(Box::from_raw(st));
    }

    /// Returns the address up to which native functions may push.
    #[inline(always)]
    pub fn hard_limit(&self) -> *mut Value {
        // SAFETY: `limit` is MIN_FREE slots below the end of the stack's memory.
        unsafe { self.limit.add(MIN_FREE) }
    }

    /// Makes room for `n` values above `top`.
    ///
    /// # Errors
    /// "stack overflow".
    ///
    /// # Safety
    /// `st` is live, and its registers (`base`, `top`, `limit`) describe its running coroutine.
    /// Addresses into the stack are invalid afterwards.
    pub unsafe fn reserve(st: *mut State, n: usize) -> Result<(), Raised> {
        if (*st).limit.offset_from((*st).top) < n as isize { Thread::grow(st, n) } else { Ok(()) }
    }

    /// Creates a coroutine that will call `f`.
    ///
    /// # Safety
    /// `f` is a live value of this state.
    pub unsafe fn new_thread(st: *mut State, f: Value) -> *mut Thread {
        let th = Thread::create(&mut *st, (*st).small_stack);
        (*th).stack.put(f);
        // The callee and header slots of the function to call first. Its arguments are passed with
        // the first resume.
        (*th).stack.add(1).put(Value::NIL);
        (*th).top = (*th).stack.add(2);
        (*th).hook = (*st).hook_of_new.clone();
        th
    }

    /// Creates a closure of `proto` with new upvalues, the first of which is `env`.
    ///
    /// # Safety
    /// `env` is a live value of this state.
    pub unsafe fn instantiate(st: *mut State, proto: Arc<Proto>, env: Value) -> *mut LuaClosure {
        let mut s = StateRef::new(st);
        let n = proto.upvalues.len();
        let instance = Instance::create(&mut s, proto, null_mut());
        let c = State::new_closure(&mut s, instance, n);
        for i in 0..n {
            let up = s.alloc(Kind::Upvalue, size_of::<Upvalue>()).cast::<Upvalue>();
            (*up).place = &raw mut (*up).closed;
            (&raw mut (*up).closed).put(if i == 0 { env } else { Value::NIL });
            *LuaClosure::upvalue(c, i) = up;
        }
        c
    }

    /// Creates a closure whose upvalues the caller must fill in immediately.
    #[inline(always)]
    pub unsafe fn new_closure(
        &mut self,
        instance: *mut Instance,
        upvalues: usize,
    ) -> *mut LuaClosure {
        let c = self.alloc(Kind::LuaClosure, LuaClosure::size_for(upvalues)).cast::<LuaClosure>();
        (*c).header.aux = upvalues as u8;
        (*c).instance = instance;
        c
    }

    /// Sets the table of globals, for functions that are loaded from now on.
    ///
    /// # Safety
    /// `globals` is a live table of this state.
    pub unsafe fn set_globals(&mut self, globals: *mut Table) {
        Table::make_environment(self, globals);
        Table::set_int(self, self.registry, 2, Value::table(globals));
        self.globals = globals;
    }

    /// Compiles a chunk to a closure over `env` (default: the globals).
    ///
    /// # Safety
    /// `st` is live, and `env` is a live value of it.
    pub unsafe fn load(
        st: *mut State,
        source: &[u8],
        name: &[u8],
        mode: &[u8],
        env: Option<Value>,
    ) -> Result<*mut LuaClosure, LoadError> {
        let binary = source.first() == Some(&0x1B);
        let (kind, letter) = if binary { ("binary", b'b') } else { ("text", b't') };
        if !mode.contains(&letter) {
            let mode = String::from_utf8_lossy(mode);
            let message = format!("attempt to load a {kind} chunk (mode is '{mode}')");
            return Err(LoadError { message: message.into_bytes(), is_runtime: false });
        }
        let proto = if binary {
            // The memory that reading and verifying take is in proportion to the chunk.
            if !(*st).check_room(source.len().saturating_mul(UNDUMPED)) {
                return Err(LoadError { message: GIVEN_UP.into(), is_runtime: true });
            }
            perilune_bytecode::undump(source, name)
                .map_err(|e| LoadError { message: e.message, is_runtime: false })?
        } else {
            let depth = (*st).native_depth;
            let watch = State::watch(st);
            perilune_bytecode::compile_watched(source, name, depth, &watch).map_err(|mut e| {
                if e.is_runtime && e.message == GIVEN_UP.as_bytes() && (*st).interrupt_due() {
                    e.message = (*st).take_interrupt().into();
                }
                e
            })?
        };
        let bytes = Instance::bytes_for(&proto);
        if bytes >= 1 << 16 && !(*st).check_room(bytes) {
            return Err(LoadError { message: GIVEN_UP.into(), is_runtime: true });
        }
        let env = env.unwrap_or(Value::table((*st).globals));
        Ok(State::instantiate(st, proto, env))
    }

    /// Returns a function that tells the parser whether to stop after it has used so many bytes,
    /// because memory is short or because the script has to stop. The memory that parsing uses
    /// until the next call is available, apart from small amounts that the program's [reserve]
    /// covers.
    ///
    /// # Safety
    /// `st` is live as long as the result is used.
    pub(crate) unsafe fn watch(st: *mut State) -> impl Fn(usize) -> bool {
        let limit = (*st).memory_limit();
        let room = limit.saturating_sub((*st).gc_count_bytes());
        let uses = reserve::uses();
        move |bytes| {
            let next = bytes.saturating_mul(2);
            bytes > room
                || reserve::uses() != uses
                || !(*st).heap.memory.may_have(next)
                || (*st).interrupt_due()
        }
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
            // The slots that are left serve until the next safepoint, which raises an error.
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

    /// Finds or creates the open upvalue for a stack slot of the running coroutine.
    ///
    /// # Safety
    /// `place` is a slot of the running coroutine's stack.
    pub unsafe fn find_upvalue(&mut self, place: *mut Value) -> *mut Upvalue {
        let th = self.thread;
        let mut link: *mut *mut Upvalue = &raw mut (*th).open;
        loop {
            let up = *link;
            if up.is_null() || (*up).place < place {
                break;
            }
            if (*up).place == place {
                return up;
            }
            link = next_open_place(up);
        }
        let up = self.alloc(Kind::Upvalue, size_of::<Upvalue>()).cast::<Upvalue>();
        (*up).place = place;
        (&raw mut (*up).closed).put(Value::NIL);
        *next_open_place(up) = *link;
        *link = up;
        up
    }

    /// Closes the running coroutine's open upvalues at or above `level`.
    ///
    /// # Safety
    /// `level` is an address in the running coroutine's stack.
    #[inline]
    pub unsafe fn close_upvalues(&mut self, level: *mut Value) {
        loop {
            let up = (*self.thread).open;
            if up.is_null() || (*up).place < level {
                return;
            }
            (*self.thread).open = *next_open_place(up);
            let v = (*up).place.get();
            (&raw mut (*up).closed).put(v);
            (*up).place = &raw mut (*up).closed;
            if v.is_collectable() {
                self.barrier(up.cast());
            }
        }
    }

    /// Registers `object` for finalization if `meta` (may be null) has `__gc`.
    ///
    /// # Safety
    /// `object` is a live table or userdata, and `meta` is its metatable.
    pub unsafe fn note_finalizer(&mut self, object: Value, meta: *mut Table) {
        if meta.is_null() || (*object.as_header()).flags & GcHeader::FINALIZER != 0 {
            return;
        }
        if !Table::fast_event(self, meta, Event::Gc).is_nil() {
            self.register_finalizer(object);
        }
    }
}

/// Returns the address of an open upvalue's link to the next one: the payload of `closed`.
#[inline(always)]
pub(crate) unsafe fn next_open_place(up: *mut Upvalue) -> *mut *mut Upvalue {
    (&raw mut (*up).closed).cast::<*mut Upvalue>()
}

impl Thread {
    /// Creates a coroutine with an empty stack.
    ///
    /// # Safety
    /// `st` is live.
    pub unsafe fn create(st: &mut State, small: bool) -> *mut Thread {
        let capacity = if small { MIN_FREE + 2 } else { crate::thread::INITIAL_STACK };
        let stack = alloc_stack(&mut st.heap.memory, capacity);
        let header = GcHeader { kind: Kind::Thread, mark: 0, flags: 0, aux: 0, word: 0 };
        let thread = Thread {
            header,
            stack,
            capacity,
            base: stack,
            top: stack,
            open: null_mut(),
            to_close: Vec::new(),
            returning: Vec::new(),
            status: crate::thread::Status::Suspended,
            failed: false,
            death: Value::NIL,
            resumer: null_mut(),
            non_yieldable: 0,
            depth: 0,
            high_water: stack,
            hook: None,
            hook_yields: false,
            hook_yielded: None,
        };
        st.make_boxed(thread, size_of::<Thread>() + capacity * 16)
    }

    /// Prepares a coroutine that is closed or was never started to begin with `f`.
    ///
    /// # Safety
    /// All arguments are live, and no frame of the coroutine is needed any more.
    pub unsafe fn restart(st: &mut State, th: *mut Thread, f: Value) {
        (*th).stack.put(f);
        (*th).stack.add(1).put(Value::NIL);
        (*th).base = (*th).stack;
        (*th).top = (*th).stack.add(2);
        (*th).status = crate::thread::Status::Suspended;
        (*th).failed = false;
        (*th).death = Value::NIL;
        (*th).non_yieldable = 0;
        (*th).hook_yielded = None;
        st.barrier(th.cast());
    }

    /// Makes `th` the running coroutine, by loading its registers into the state.
    ///
    /// # Safety
    /// Both are live, and the registers of the previously running coroutine were saved.
    #[inline(always)]
    pub unsafe fn load_registers(st: *mut State, th: *mut Thread) {
        (*st).thread = th;
        (*st).base = (*th).base;
        (*st).top = (*th).top;
        (*st).limit = (*th).stack.add((*th).capacity - MIN_FREE);
    }

    /// Saves the state's registers in its running coroutine.
    ///
    /// # Safety
    /// `st` is live.
    #[inline(always)]
    pub unsafe fn save_registers(st: *mut State) {
        (*(*st).thread).base = (*st).base;
        (*(*st).thread).top = (*st).top;
    }

    /// Makes room for `n` slots above the state's `top`, by moving the stack if necessary.
    ///
    /// # Errors
    /// "stack overflow".
    ///
    /// # Safety
    /// As for [`State::reserve`].
    #[cold]
    #[inline(never)]
    pub unsafe fn grow(st: *mut State, n: usize) -> Result<(), Raised> {
        let th = (*st).thread;
        let used = (*st).top.offset_from((*th).stack) as usize;
        let needed = used + n + MIN_FREE;
        let handling = (*th).capacity > MAX_STACK + MIN_FREE;
        if needed > MAX_STACK + MIN_FREE {
            if !handling {
                let large = MAX_STACK + MIN_FREE + ERROR_ROOM;
                if n <= ERROR_ROOM / 2 {
                    // Leave room for the handler of this error.
                    if !Thread::set_capacity(st, large) {
                        return Err(Thread::memory_error(st));
                    }
                }
                return Err(crate::debug::runtime_error(st, b"stack overflow"));
            }
            if needed > MAX_STACK + MIN_FREE + ERROR_ROOM {
                (*st).error = Value::string((*st).intern(b"error in error handling"));
                (*st).error_handled = true;
                return Err(Raised::new());
            }
        }
        let target = if (*st).small_stack && needed < SMALL_STEPS {
            needed
        } else {
            needed.max((*th).capacity * 2).min((MAX_STACK + MIN_FREE).max(needed))
        };
        if target > (*th).capacity {
            let within = (*st).check_room((target - (*th).capacity) * size_of::<Value>());
            // If there is no memory for more, the needed slots are enough.
            let grown = within
                && (Thread::set_capacity(st, target)
                    || target > needed && Thread::set_capacity(st, needed));
            if !grown {
                return Err(Thread::memory_error(st));
            }
        }
        Ok(())
    }

    /// Frees the extra room of a stack overflow after an error was caught.
    ///
    /// # Safety
    /// As for [`State::reserve`].
    #[inline]
    pub unsafe fn shrink_after_error(st: *mut State) {
        if (*(*st).thread).capacity > MAX_STACK + MIN_FREE {
            let used = (*st).top.offset_from((*(*st).thread).stack) as usize;
            if used + 64 < MAX_STACK {
                // The larger stack does if there is no memory for the smaller one.
                Thread::set_capacity(st, MAX_STACK + MIN_FREE);
            }
        }
    }

    #[cold]
    unsafe fn memory_error(st: *mut State) -> Raised {
        (*st).error = Value::string((*st).memory_message);
        (*st).error_handled = false;
        Raised::new()
    }

    /// Moves the running coroutine's stack, for tests that detect stale addresses.
    ///
    /// # Safety
    /// As for [`State::reserve`].
    pub unsafe fn relocate(st: *mut State) {
        Thread::set_capacity(st, (*(*st).thread).capacity);
    }

    /// Moves the running coroutine's stack to a new allocation, and adjusts all pointers into it.
    /// Returns false, and changes nothing, when there is no memory for it.
    unsafe fn set_capacity(st: *mut State, capacity: usize) -> bool {
        let th = (*st).thread;
        let old = (*th).stack;
        let new = try_alloc_stack(&mut (*st).heap.memory, capacity);
        if new.is_null() {
            return false;
        }
        let used =
            ((*st).top.offset_from(old) as usize + MIN_FREE).min((*th).capacity).min(capacity);
        // Frames that called other code may have registers above `top`, so everything that fits is
        // copied.
        let keep = (*th).capacity.min(capacity).max(used);
        ptr::copy_nonoverlapping(old, new, keep);
        let moved = |p: *mut Value| new.add(p.offset_from(old) as usize);
        (*st).base = moved((*st).base);
        (*st).top = moved((*st).top);
        (*th).base = moved((*th).base);
        (*th).top = moved((*th).top);
        (*th).high_water = moved((*th).high_water);
        let mut up = (*th).open;
        while !up.is_null() {
            (*up).place = moved((*up).place);
            up = *next_open_place(up);
        }
        let old_capacity = (*th).capacity;
        (*th).stack = new;
        (*th).capacity = capacity;
        (*st).limit = new.add(capacity - MIN_FREE);
        if cfg!(debug_assertions) {
            // Code that still uses the old addresses reads meaningless integers.
            std::slice::from_raw_parts_mut(old, old_capacity).fill(Value::int(0x5AFE_DEAD_57AC));
        }
        free_stack(&mut (*st).heap.memory, old, old_capacity);
        (*st).heap.note_external((capacity as isize - old_capacity as isize) * 16);
        true
    }
}
