//! Loading chunks: from source text or a binary chunk to a closure.

use std::ptr::null_mut;
use std::sync::Arc;

use perilune_bytecode::{LoadError, Proto};
use perilune_syntax::GIVEN_UP;

use crate::closure::LuaClosure;
use crate::header::Kind;
use crate::instance::Instance;
use crate::reserve;
use crate::state::{State, StateRef};
use crate::table::Table;
use crate::upvalue::Upvalue;
use crate::value::{SlotExt, Value};

/// The largest number of bytes that reading and verifying a binary chunk takes, for each of its
/// bytes.
const UNDUMPED: usize = 16;

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

    /// Sets the table of globals, for functions that are loaded from now on.
    ///
    /// # Safety
    /// `globals` is a live table of this state.
    pub unsafe fn set_globals(&mut self, globals: *mut Table) {
        Table::make_environment(self, globals);
        Table::set_int(self, self.registry, 2, Value::table(globals));
        self.globals = globals;
    }
}
