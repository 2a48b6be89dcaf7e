//! The representation of `lua_State`: a block for each coroutine, and the data that the coroutines
//! of a state share.

use std::ffi::{c_char, c_int, c_void};

use perilune_runtime::native::NativeFn;
use perilune_runtime::state::State;
use perilune_runtime::thread::{Companion, Thread};

use crate::arch::Jump;
use crate::functions::Functions;
use crate::new_hooks::{CHook, NewHooks, forget};
use crate::status::OK;
use crate::texts::Texts;

/// `lua_CFunction`
pub type CFunction = unsafe extern "C" fn(*mut LuaState) -> c_int;
/// `lua_KFunction`
pub(crate) type KFunction = unsafe extern "C" fn(*mut LuaState, c_int, isize) -> c_int;
/// `lua_Alloc`
pub(crate) type Alloc = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize) -> *mut c_void;
/// `lua_WarnFunction`
pub(crate) type WarnFunction = unsafe extern "C" fn(*mut c_void, *const c_char, c_int);
/// `lua_Hook`, which receives a `lua_Debug`
pub(crate) type HookFunction = unsafe extern "C" fn(*mut LuaState, *mut c_void);

/// `LUA_EXTRASPACE`: bytes in front of a `lua_State` that belong to the program.
const EXTRA_SPACE: usize = size_of::<*const ()>();

/// A coroutine, as C sees it. Its address identifies the coroutine.
#[repr(C)]
pub struct LuaState {
    /// The address of the registers in the state. The functions of the API use them most, and
    /// instructions are short if their operands are near an address that is in a machine register.
    registers: *mut u8,
    /// The coroutine.
    pub(crate) thread: *mut Thread,
    /// The data that the coroutines of the state share.
    pub(crate) global: *mut Global,
    /// The calls that wait, without a frame of C code, for a function that has yielded, in the
    /// order of their frames. Some may belong to frames that an error has removed.
    pub(crate) continuations: Vec<Continuation>,
    /// The hook that C code has set.
    pub(crate) hook: CHook,
    /// The status of an error outside of protected calls, for `lua_atpanic`.
    pub(crate) panicked: c_int,
    /// Whether a hook of C code is running.
    pub(crate) in_hook: bool,
    /// The shared data, which the block of the main coroutine owns.
    pub(crate) owned: Option<Box<Global>>,
}

/// How a C function continues after a call that has yielded.
#[derive(Clone, Copy)]
pub(crate) struct Continuation {
    /// The base of the function's frame, as an offset in the stack.
    pub(crate) frame: usize,
    /// The function to call, if there is one.
    pub(crate) function: Option<KFunction>,
    /// The context that is passed to the function.
    pub(crate) context: isize,
    /// The number of results that the call expects.
    pub(crate) results: c_int,
    /// Whether the call has a message handler.
    pub(crate) handler: bool,
}

impl Continuation {
    /// Creates the continuation of a function; its frame is recorded when the function waits.
    pub(crate) fn new(
        function: Option<KFunction>,
        context: isize,
        results: c_int,
        handler: bool,
    ) -> Continuation {
        Continuation { frame: 0, function, context, results, handler }
    }
}

/// The data that the coroutines of a state share.
pub(crate) struct Global {
    /// The innermost call of C code.
    pub(crate) jump: *mut Jump,
    /// The coroutines whose hooks C code has set but which are not installed yet.
    pub(crate) new_hooks: NewHooks,
    /// The native function that calls the hooks.
    pub(crate) run_hook: Option<NativeFn>,
    /// The address of the hook that C code gets for a hook set by `debug.sethook`.
    pub(crate) lua_hook: *const (),
    /// The C functions that the state knows.
    pub(crate) functions: Functions,
    /// Texts that C code has pointers to.
    pub(crate) texts: Texts,
    /// `lua_atpanic`
    pub(crate) panic: Option<CFunction>,
    /// `lua_setwarnf`
    pub(crate) warn: Option<(WarnFunction, *mut c_void)>,
    /// The pieces of a warning that `lua_warning` was called with and that is to be continued.
    pub(crate) warning: Option<Vec<u8>>,
    /// The coroutine that is nominally running while the main one, of a state that C code has
    /// created, is resumed or has yielded; null until one is needed.
    pub(crate) stand_in: *mut Thread,
    /// The state, if C code has created it and closes it.
    pub(crate) lua: Option<perilune::Lua>,
    /// Whether the heap takes its memory from `alloc`, with which C code has created the state.
    pub(crate) has_allocator: bool,
    /// `lua_setallocf`
    pub(crate) alloc: Option<(Alloc, *mut c_void)>,
}

/// A block with the space in front of it.
#[repr(C)]
struct Block {
    extra: [u8; EXTRA_SPACE],
    public: LuaState,
}

/// The offset of the registers in a state.
const REGISTERS: usize = std::mem::offset_of!(State, base);

impl LuaState {
    /// Returns the state.
    ///
    /// # Safety
    /// `l` is the block of a live coroutine.
    #[inline(always)]
    pub(crate) unsafe fn state(l: *mut LuaState) -> *mut State {
        (*l).registers.sub(REGISTERS).cast()
    }

    /// Returns the block of a coroutine, and creates it the first time.
    ///
    /// # Safety
    /// `th` is a live coroutine of the live state `st`.
    #[inline(always)]
    pub(crate) unsafe fn of(st: *mut State, th: *mut Thread) -> *mut LuaState {
        let block = (*th).companion.block();
        if block.is_null() { LuaState::make(st, th) } else { block.cast() }
    }

    #[cold]
    unsafe fn make(st: *mut State, th: *mut Thread) -> *mut LuaState {
        let main = (*st).main_thread;
        let (global, owned) = if th == main {
            let mut owned = Box::new(Global {
                jump: std::ptr::null_mut(),
                new_hooks: NewHooks::default(),
                run_hook: None,
                lua_hook: std::ptr::null(),
                functions: Functions::new(st),
                texts: Texts::default(),
                panic: None,
                warn: None,
                warning: None,
                stand_in: std::ptr::null_mut(),
                lua: None,
                has_allocator: false,
                alloc: None,
            });
            (&raw mut *owned, Some(owned))
        } else {
            ((*LuaState::of(st, main)).global, None)
        };
        let public = LuaState {
            registers: st.cast::<u8>().add(REGISTERS),
            thread: th,
            global,
            continuations: Vec::new(),
            hook: CHook::of((*th).hook.as_deref()),
            panicked: OK,
            in_hook: false,
            owned,
        };
        // a copy of the space that the main coroutine had when this one was created
        let extra = (*th).companion.word().to_ne_bytes();
        let block = Box::into_raw(Box::new(Block { extra, public }));
        let public = &raw mut (*block).public;
        (*th).companion = Companion::new(public.cast(), free);
        public
    }
}

unsafe fn block_of(l: *mut LuaState) -> *mut Block {
    l.byte_sub(std::mem::offset_of!(Block, public)).cast()
}

unsafe fn free(l: *mut ()) {
    forget(l.cast());
    drop(Box::from_raw(block_of(l.cast())));
}

// C code subtracts LUA_EXTRASPACE from the address of the state.
const _: () = assert!(std::mem::offset_of!(Block, public) == EXTRA_SPACE);
