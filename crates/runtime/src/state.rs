//! One state: a heap, a set of globals, and the coroutine that runs.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::engine::EngineShared;
use crate::heap::Heap;
use crate::meta::Event;
use crate::string::LuaString;
use crate::strings::StringTable;
use crate::table::{LocalShape, Table};
use crate::thread::Thread;
use crate::value::Value;
use crate::vm::Vm;

/// Bits of the poll word.
pub mod poll {
    /// The heap wants a safepoint.
    pub const GC: u32 = 1;
    /// A hook is set on the running coroutine.
    pub const HOOK: u32 = 2;
    /// Someone asked to stop the script.
    pub const INTERRUPT: u32 = 4;
    /// Quiescence is asked for (code life).
    pub const QUIESCENCE: u32 = 8;
}

/// One state. Stays at one address for its whole life.
#[repr(C)]
pub struct State {
    /// Allocator and collector.
    pub heap: Heap,
    /// Tested at function entries, back-edges and after calls and allocations; see [`poll`]. Written by other threads too.
    pub poll: AtomicU32,
    /// Base of the top frame of the running coroutine. The interpreter keeps its own copy and stores it here before it calls out.
    pub base: *mut Value,
    /// End of the values of the top frame. For a Lua frame that called out: its base plus its `max_stack`.
    pub top: *mut Value,
    /// A frame must end at or below this.
    pub limit: *mut Value,
    /// The running coroutine.
    pub thread: *mut Thread,
    /// Bumped when a table that caches of metatable chains depend on changes its structure.
    pub meta_epoch: u32,
    /// Nested entries of the interpreter from native code, and parser levels (PUC's `nCcalls`).
    pub native_depth: u32,
    /// The coroutine that the state was made with.
    pub main_thread: *mut Thread,
    /// The registry.
    pub registry: *mut Table,
    /// The table of globals.
    pub globals: *mut Table,
    /// Value of the error on its way.
    pub error: Value,
    /// The message handler has seen `error` already.
    pub error_handled: bool,
    /// Metatables of the basic types: nil, boolean, light userdata, number, string, function, thread.
    pub type_metas: [*mut Table; 7],
    /// Names of the metamethods.
    pub event_names: [*mut LuaString; Event::COUNT],
    /// Strings of one byte, by byte.
    pub byte_strings: [*mut LuaString; 256],
    /// The string `not enough memory`, made in time.
    pub memory_message: *mut LuaString,
    /// The shape of a table without fields.
    pub empty_shape: *mut LocalShape,
    /// Interned strings.
    pub strings: StringTable,
    /// Shapes that this state has objects for, by id (weak: dead ones leave when they are dropped).
    pub shapes: hashbrown::HashMap<u32, *mut LocalShape, foldhash::fast::FixedState>,
    /// Further roots: values held by the host.
    pub host_roots: Vec<Value>,
    /// What runs code.
    pub vm: &'static Vm,
    /// The engine.
    pub engine: Arc<EngineShared>,
}
