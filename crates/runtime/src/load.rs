//! Loading chunks: from source text or a binary chunk to a closure.

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::Arc;

use perilune_bytecode::Proto;
use perilune_syntax::{ABORTED, ErrorKind};

use crate::closure::LuaClosure;
use crate::header::Kind;
use crate::instance::Instance;
use crate::reserve;
use crate::resident;
use crate::state::{State, StateRef};
use crate::table::Table;
use crate::transient;
use crate::upvalue::Upvalue;
use crate::value::{SlotExt, Value};

/// The largest number of bytes that reading and verifying a binary chunk takes per byte of the
/// chunk.
const UNDUMPED: usize = 16;

/// The least size in bytes of a large source text: compiling it takes megabytes, most of them for
/// the tree, and a few milliseconds.
const LARGE_SOURCE: usize = 100_000;

/// The least size in bytes of the parts of its tree that get mappings of their own, which are
/// unmapped afterwards. The system takes as long to provide their pages as the parser takes to fill
/// them, so smaller parts are left to the allocator, which reuses them.
const LARGE_PART: usize = 1 << 20;

/// The number of bytes by which the parser's memory grows between two checks of whether more is
/// available.
const BETWEEN_TRIALS: usize = 64 << 10;

/// The index of the table of globals in the registry (`LUA_RIDX_GLOBALS`).
pub const GLOBALS: i64 = 2;

/// The error of a chunk that cannot be loaded.
pub struct LoadError {
    /// The message, as PUC words it.
    pub message: Vec<u8>,
    /// The reason.
    pub reason: Reason,
}

/// The reason of a [`LoadError`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The chunk is wrong, or not of an accepted kind.
    Rejected,
    /// A limit was reached that PUC reports as a run-time error, which message handlers see.
    Limit,
    /// There is not enough memory.
    Memory,
    /// The script must stop.
    Interrupted,
}

impl LoadError {
    fn rejected(message: Vec<u8>) -> LoadError {
        LoadError { message, reason: Reason::Rejected }
    }

    fn memory() -> LoadError {
        LoadError { message: ABORTED.into(), reason: Reason::Memory }
    }
}

impl State {
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
        // The name and the mode, which messages contain, have any length. By default the name is
        // the source, whose copy should not count: garbage may fill the memory up to the limit.
        let text = name.len().saturating_add(mode.len());
        if !(*st).heap.memory.may_have(text.saturating_mul(2)) {
            return Err(LoadError::memory());
        }
        let binary = source.first() == Some(&0x1B);
        let (kind, letter) = if binary { ("binary", b'b') } else { ("text", b't') };
        if !mode.contains(&letter) {
            let start = format!("attempt to load a {kind} chunk (mode is '");
            return Err(LoadError::rejected([start.as_bytes(), mode, b"')"].concat()));
        }
        let proto = if binary {
            // The memory that reading and verifying take is proportional to the size of the chunk.
            if !(*st).check_room(source.len().saturating_mul(UNDUMPED)) {
                return Err(LoadError::memory());
            }
            perilune_bytecode::undump(source, name).map_err(|e| LoadError::rejected(e.message))?
        } else {
            let depth = (*st).native_depth;
            let watch = State::watch(st);
            let compile = || perilune_bytecode::compile_watched(source, name, depth, &watch);
            let compiled = if source.len() < LARGE_SOURCE {
                compile()
            } else if !(*st).heap.memory.may_have(source.len()) {
                // a single name may be as long as the source
                return Err(LoadError::memory());
            } else {
                if resident::may_release_text() {
                    resident::release_text();
                }
                transient::during(LARGE_PART, compile)
            };
            compiled.map_err(|e| match e.kind {
                ErrorKind::Syntax => LoadError::rejected(e.message),
                ErrorKind::Runtime => LoadError { message: e.message, reason: Reason::Limit },
                ErrorKind::Aborted if (*st).interrupt_due() => {
                    let message = (*st).take_interrupt().into();
                    LoadError { message, reason: Reason::Interrupted }
                }
                ErrorKind::Aborted => LoadError::memory(),
            })?
        };
        let bytes = Instance::bytes_for(&proto);
        if bytes >= 1 << 16 && !(*st).check_room(bytes) {
            return Err(LoadError::memory());
        }
        let env = env.unwrap_or_else(|| (*st).environment());
        let closure = State::instantiate(st, proto, env);
        // After a failed allocation, constants may be the wrong strings.
        let failed = closure.is_null() || (*st).heap.has_failed();
        if failed { Err(LoadError::memory()) } else { Ok(closure) }
    }

    /// Returns a function that tells the parser, given the number of bytes that it has used,
    /// whether to stop because memory is short or because the script has to stop. The memory that
    /// parsing uses until the next call is available, apart from small amounts that the program's
    /// [reserve] covers.
    ///
    /// # Safety
    /// `st` is live as long as the result is used.
    pub(crate) unsafe fn watch(st: *mut State) -> impl Fn(usize) -> bool {
        let limit = (*st).memory_limit();
        let room = limit.saturating_sub((*st).gc_count_bytes());
        let uses = reserve::uses();
        // A check takes the system longer than the parser needs for the text between two calls.
        let tried = Cell::new(0);
        let has_room = move |bytes: usize| {
            let is_tried = bytes < tried.get() + BETWEEN_TRIALS;
            if !is_tried {
                tried.set(bytes);
            }
            is_tried || (*st).heap.memory.may_have(bytes.saturating_mul(2))
        };
        move |bytes| {
            bytes > room || reserve::uses() != uses || !has_room(bytes) || (*st).interrupt_due()
        }
    }

    /// Creates a closure of `proto` with new upvalues, the first of which is `env`. Returns null if
    /// there is no memory for a large function.
    ///
    /// # Safety
    /// `env` is a live value of this state.
    pub unsafe fn instantiate(st: *mut State, proto: Arc<Proto>, env: Value) -> *mut LuaClosure {
        let mut s = StateRef::new(st);
        let n = proto.upvalues.len();
        let instance = Instance::create(&mut s, proto, null_mut());
        if instance.is_null() {
            return null_mut();
        }
        let c = State::new_closure(&mut s, instance, n);
        for i in 0..n {
            let up = s.alloc(Kind::Upvalue, size_of::<Upvalue>()).cast::<Upvalue>();
            (*up).place = &raw mut (*up).closed;
            (&raw mut (*up).closed).put(if i == 0 { env } else { Value::NIL });
            *LuaClosure::upvalue(c, i) = up;
        }
        c
    }

    /// Returns the environment of functions that are loaded: the value in the registry, which
    /// programs may replace.
    ///
    /// # Safety
    /// The state is live.
    pub(crate) unsafe fn environment(&mut self) -> Value {
        let v = Table::get_int(self.registry, GLOBALS);
        if v.is_table() && v.as_table() != self.globals {
            self.set_globals(v.as_table());
        }
        v
    }

    /// Sets the table of globals for functions that are loaded from now on.
    ///
    /// # Safety
    /// `globals` is a live table of this state.
    pub unsafe fn set_globals(&mut self, globals: *mut Table) {
        // If there is no memory to make it an environment, the first access to a global tries
        // again.
        let _ = Table::make_environment(self, globals);
        Table::set_int(self, self.registry, GLOBALS, Value::table(globals));
        self.globals = globals;
    }
}
