//! The interface of the interpreter and machine code: statuses, and the calls that machine code
//! makes.
//!
//! The machine code of a method is entered through its slot, with Cranelift's `tail` calling
//! convention and the state in the pinned register: `(callee, base, nargs) -> (status, bits, tag,
//! base)`. The callee and its arguments are on the VM stack, and the link of the frame is stored.
//! The code returns a [`status`] and the number of results. A single result is returned in
//! registers; any other number of results is on the stack, from the callee's slot on (with the
//! first result, or nil, in registers as well). The code also returns its base, since the stack may
//! have moved.
//!
//! Machine code has each register in its home slot whenever it calls other code. Its frame then
//! looks like a frame of the interpreter, except for the code id in its frame word.

use crate::closure::LuaClosure;
use crate::header::GcHeader;
use crate::instance::{FieldCache, GlobalCache, Instance};
use crate::state::State;
use crate::table::{Cell, Table};
use crate::value::Value;

/// How a call of machine code, or from machine code, has ended: the low half of the status word.
/// The high half is the number of results.
pub mod status {
    /// The call returned.
    pub const OK: u64 = 0;
    /// An error is in [`crate::state::State::error`], and its message handler has run.
    pub const ERROR: u64 = 1;
    /// The coroutine yields.
    pub const YIELD: u64 = 2;
    /// For a call from machine code: the calling frame must continue in the interpreter, at its pc.
    /// The code then returns nothing to its caller. Code of a function jumps to
    /// [`super::RuntimeCalls::resume`], so that no return address in it remains on the stack; code
    /// of a loop returns this status to the interpreter loop that entered it.
    pub const RESUME: u64 = 4;
    /// A native function panicked; the panic is in [`crate::state::State::panic`].
    pub const PANIC: u64 = 8;
}

/// Stitched code: the stencils of the instructions of a function, one after the other.
///
/// It uses the convention of the interpreter's handlers, to which it jumps for all cases that it
/// does not cover, and its frames are frames of the interpreter. The address of the code points to
/// a table with the offset, relative to that address, of each instruction's code. The prologue of
/// the function is [`stitched::PROLOGUE`] bytes before that address.
pub mod stitched {
    /// The size in bytes of the code that begins a function.
    pub const PROLOGUE: usize = 32;
}

/// How execution left machine code. The first result is in a [`Returned`](crate::state::Returned).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Left {
    /// The status; see [`status`].
    pub status: u64,
    /// The frame's base. Unless there is one result, the results begin two slots below it.
    pub base: *mut Value,
}

/// How a function that may run Lua code ended.
#[repr(C)]
pub struct Stepped {
    /// The status; see [`status`].
    pub status: u64,
    /// The base of the frame, which may have moved.
    pub base: *mut Value,
}

/// A value in two machine registers.
#[repr(C)]
pub struct Pair {
    /// Payload.
    pub bits: u64,
    /// Tag, zero-extended.
    pub tag: u64,
}

/// An `__index` function, and the value of whose metatable it is.
#[repr(C)]
pub struct IndexHandler {
    /// The address of the function, or 0.
    pub function: u64,
    /// The payload of the value, which has the tag of the value that was indexed.
    pub receiver: u64,
}

impl From<Value> for Pair {
    #[inline(always)]
    fn from(v: Value) -> Pair {
        Pair { bits: v.bits(), tag: v.tag().0 as u64 }
    }
}

/// The functions that machine code calls.
///
/// Functions that return [`Stepped`] may run Lua code, collect and move the stack. They are passed
/// the frame's base and its frame word and store both, so that the code need not store them at each
/// call. Functions that return only a status expect the frame word and `State::base` to be stored,
/// and never return to the code. The others do none of that.
#[derive(Clone, Copy)]
pub struct RuntimeCalls {
    /// Runs the instruction at the frame's pc in the interpreter. After a test, the pc is that of
    /// the instruction at which to continue.
    pub one: unsafe extern "C" fn(*mut State, *mut Value, u64) -> Stepped,
    /// Executes the GETFIELD or SELF at the frame's pc after no cache entry that is compared inline
    /// has matched: through the cache if possible, or else as `one` does. Counts as a miss.
    pub get_field: unsafe extern "C" fn(*mut State, *mut Value, u64) -> Stepped,
    /// Executes SETFIELD in the same way.
    pub set_field: unsafe extern "C" fn(*mut State, *mut Value, u64) -> Stepped,
    /// Like `one`, with the frame stored, but the frame continues in the interpreter afterwards:
    /// the status is never OK.
    pub deoptimize_after: unsafe extern "C" fn(*mut State) -> u64,
    /// Makes the frame continue in the interpreter, before an instruction that was never executed.
    /// The status is never OK.
    pub deoptimize_before: unsafe extern "C" fn(*mut State) -> u64,
    /// As `deoptimize_before`, but first does what `preserving_virtuals` does.
    pub deoptimize_virtual: unsafe extern "C" fn(*mut State) -> u64,
    /// Makes the frame continue in the interpreter after FORPREP has begun a loop over other kinds
    /// of numbers than expected, which it records.
    pub deoptimize_loop: unsafe extern "C" fn(*mut State) -> u64,
    /// Executes CALL of a value that is not a Lua function, given `callee` and `nargs`. Leaves the
    /// results where CALL stores them.
    pub call: unsafe extern "C" fn(*mut State, *mut Value, u64, *mut Value, usize) -> Stepped,
    /// Executes TFORCALL of a value that is neither a Lua function nor a known iterator, given the
    /// first register of the loop, the number of variables, and whether feedback has an iterator
    /// already. Leaves the results where TFORCALL stores them.
    pub call_iterator:
        unsafe extern "C" fn(*mut State, *mut Value, u64, usize, usize, bool) -> Stepped,
    /// Handles the requests in the poll word; the last argument is the end of the live registers.
    pub poll: unsafe extern "C" fn(*mut State, *mut Value, u64, *mut Value) -> Stepped,
    /// Prepares TAILCALL, given `callee`, `nargs` and whether to close upvalues. Returns the
    /// status. If the frame is now that of a Lua function to jump to, its base is in `State::base`,
    /// and the high half of the status is the number of its arguments plus 1.
    pub tail_call:
        unsafe extern "C" fn(*mut State, *mut Value, u64, *mut Value, usize, bool) -> Stepped,
    /// Closes the upvalues and variables of the frame for RETURN, given the results of RETURN.
    pub close_return:
        unsafe extern "C" fn(*mut State, *mut Value, u64, *mut Value, usize) -> Stepped,
    /// Sets up the frame of a vararg function and returns its base. The stack must have room for
    /// it.
    pub vararg_prep: unsafe extern "C" fn(*mut State, *mut Value, usize) -> *mut Value,
    /// Moves `n` results from `src` to `dst`.
    pub move_values: unsafe extern "C" fn(*mut Value, *mut Value, usize),
    /// Returns a new, unrooted table for the NEWTABLE at a position, with room for the given number
    /// of fields, or null after a panic.
    pub new_table: unsafe extern "C" fn(*mut State, *mut Instance, usize, usize) -> *mut Table,
    /// Returns a new, unrooted closure of the inner function `n`, or null after a panic.
    pub closure:
        unsafe extern "C" fn(*mut State, *mut Instance, usize, *mut Value) -> *mut LuaClosure,
    /// Loads a field through a cache after no entry that is compared inline has matched; the tag is
    /// [`MISS`] when no other entry matches either. That counts as a miss, for which the frame is
    /// stored.
    pub field_more: unsafe extern "C" fn(*mut State, *const FieldCache, *mut Table) -> Pair,
    /// Stores a field through a cache in the same way; 0 is a miss.
    pub set_more: unsafe extern "C" fn(*mut State, *const FieldCache, *mut Table, u64, u64) -> u64,
    /// Fills the instance's cache for a global after a miss, given the payload of the name (a short
    /// string) and the table. Returns the cell, or null if the table is not an environment or does
    /// not contain the name.
    pub fill_global: unsafe extern "C" fn(
        *mut State,
        *mut Instance,
        *mut GlobalCache,
        *mut Table,
        u64,
    ) -> *mut Cell,
    /// Like [`RuntimeCalls::fill_global`], for code that will assume that the global is constant
    /// ([`GlobalCache::rely`]). Returns null if it has changed.
    pub rely_on_global: unsafe extern "C" fn(
        *mut State,
        *mut Instance,
        *mut GlobalCache,
        *mut Table,
        u64,
    ) -> *mut Cell,
    /// Doubles the number of field slots of a table. Returns 0 on failure.
    pub grow_fields: unsafe extern "C" fn(*mut State, *mut Table) -> u64,
    /// Looks up a short string key in a table and along its chain of `__index` tables; the tag is
    /// [`MISS`] if the chain leads to anything but a table.
    pub get_str: unsafe extern "C" fn(*mut State, *mut Table, u64) -> Pair,
    /// Marks a table as a metatable. Returns whether it has no `__gc`; if so, its byte of absent
    /// metamethods records that.
    pub note_metatable: unsafe extern "C" fn(*mut State, *mut Table) -> u64,
    /// Makes the entry of a cache with the given number valid again for a field with this short
    /// name that a table inherits. Returns 0 on failure. See
    /// [`FieldCache::renew`](crate::instance::FieldCache::renew).
    pub renew: unsafe extern "C" fn(*mut State, *mut FieldCache, usize, *mut Table, u64) -> u64,
    /// Performs `rawget` of an integer key outside the array; the tag is [`MISS`] if a metatable
    /// must be consulted.
    pub get_int: unsafe extern "C" fn(*mut State, *mut Table, i64) -> Pair,
    /// Stores a value under an integer key. Returns 0, without storing, if a metatable must be
    /// consulted.
    pub set_int: unsafe extern "C" fn(*mut State, *mut Table, i64, u64, u64) -> u64,
    /// Stores a value under a short string key. Returns 0, without storing, if a metatable must be
    /// consulted.
    pub set_str: unsafe extern "C" fn(*mut State, *mut Table, u64, u64, u64) -> u64,
    /// Executes TFORCALL of a `next` or `ipairs` loop. Returns 1, or 0 if the loop is neither.
    pub for_next: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// Looks up a key of any type in the same way as `get_str`.
    pub get_any: unsafe extern "C" fn(*mut State, *mut Table, u64, u64) -> Pair,
    /// Stores a value under any key, given payload and tag of both. Returns 0, without storing, if
    /// a metatable must be consulted or the key is invalid.
    pub set_any: unsafe extern "C" fn(*mut State, *mut Table, u64, u64, u64, u64) -> u64,
    /// Executes CONCAT, given the address of the first value and the number of values. Returns 0 if
    /// they are not all strings and numbers of moderate length.
    pub concat: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// Executes FORPREP. Returns 0 for an error, 1 if the loop runs, and 2 if it does not.
    pub for_prep: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Executes SETLIST, given the table, the position before the first value, the values and their
    /// number. Returns 0 after a panic.
    pub set_list: unsafe extern "C" fn(*mut State, *mut Table, u32, *mut Value, usize) -> u64,
    /// Executes VARARG with operand C, to register A of the frame at the given base. Returns 0 if
    /// the stack must grow first.
    pub var_arg: unsafe extern "C" fn(*mut State, *mut Value, usize, usize) -> u64,
    /// Executes TFORPREP. Returns 0 if there is a to-be-closed value.
    pub for_each_prep: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Executes CLOSE from the given register on if there are only upvalues to close. Returns 0 if
    /// there is also a to-be-closed variable.
    pub close: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Removes the next to-be-closed variable, from the given register on, from the list if its
    /// `__close` is a Lua function, puts that function and its arguments above the registers of the
    /// frame at the given base, and returns the function. Returns 0 otherwise.
    pub next_to_close: unsafe extern "C" fn(*mut State, *mut Value, *mut Value) -> u64,
    /// Executes TBC of the variable at an address. Returns 0 if it cannot be closed.
    pub mark_to_close: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Ends the call of a Lua function by a `pcall` whose frame was created by machine code, if the
    /// function has failed or a request is pending in the poll word. The arguments are the base and
    /// word of the frame that called `pcall`, the base of the function's frame, the status, and
    /// payload and tag of the first result.
    pub end_protected:
        unsafe extern "C" fn(*mut State, *mut Value, u64, *mut Value, u64, u64, u64) -> Stepped,
    /// Compares two values of the same type whose bits differ for equality, given the payloads and
    /// the tag. Returns 2 if a metamethod must be called.
    pub equal: unsafe extern "C" fn(*mut State, u64, u64, u64) -> u64,
    /// Compares two strings. The result is negative, zero or positive.
    pub compare_strings: unsafe extern "C" fn(u64, u64) -> i64,
    /// Executes CALLMETA with operand C, given its first register, if it sets a plain class as the
    /// metatable of a table. Returns 0 otherwise.
    pub set_class: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// Returns the metamethod of two operands, given their payloads and tags, for an
    /// [`crate::meta::Event`] other than the index events, if it is a Lua function. Returns 0 if it
    /// is not, or if the operands need no metamethod.
    pub handler: unsafe extern "C" fn(*mut State, u64, u64, u64, u64, u64) -> u64,
    /// Returns the `__index` for a value without the key, if it is a Lua function, and the payload
    /// of the value whose metatable contains it, which is another one if an `__index` on the way is
    /// a table. The function is 0 otherwise.
    pub index_handler: unsafe extern "C" fn(*mut State, u64, u64, u64, u64) -> IndexHandler,
    /// Returns the `__newindex` for a store to an object without the key, if it is a Lua function,
    /// given payload and tag of object, key and value. If it is a table, and the chain ends at a
    /// table that accepts the value, stores the value there and returns [`STORED`]. Returns 0
    /// otherwise.
    pub store_by_handler: unsafe extern "C" fn(*mut State, u64, u64, u64, u64, u64, u64) -> u64,
    /// Performs the write barrier for a store of an object, the last argument, to another object.
    pub barrier: unsafe extern "C" fn(*mut State, *mut GcHeader, u64),
    /// Returns `a % b` of floats; arguments and result are their bits.
    pub float_mod: unsafe extern "C" fn(*mut State, u64, u64) -> u64,
    /// Returns `a ^ b`.
    pub pow: extern "C" fn(f64, f64) -> f64,
    /// Returns `math.acos(x)`. This function and the following math functions change no memory.
    pub acos: extern "C" fn(f64) -> f64,
    /// Returns `math.asin(x)`.
    pub asin: extern "C" fn(f64) -> f64,
    /// Returns `math.atan(y, x)`.
    pub atan: extern "C" fn(f64, f64) -> f64,
    /// Returns `math.cos(x)`.
    pub cos: extern "C" fn(f64) -> f64,
    /// Returns `math.exp(x)`.
    pub exp: extern "C" fn(f64) -> f64,
    /// Returns `math.fmod(a, b)` of floats.
    pub fmod: extern "C" fn(f64, f64) -> f64,
    /// Returns `math.log(x)`.
    pub log: extern "C" fn(f64) -> f64,
    /// Returns `math.sin(x)`.
    pub sin: extern "C" fn(f64) -> f64,
    /// Returns `math.tan(x)`.
    pub tan: extern "C" fn(f64) -> f64,
    /// The library functions, indexed by [`crate::native::Builtin`], for one result, given the
    /// arguments and their number. The tag is [`MISS`] if the function itself must be called.
    pub builtins: &'static [unsafe extern "C" fn(*mut State, *mut Value, usize) -> Pair;
                 crate::native::Builtin::COUNT],
    /// Compares the value that code holds for a register with the home slot in the frame at a base.
    /// The second argument is packed as [`verify`] describes, and payload and tag follow. This
    /// function and the other `verify_` functions are called by self-checking code. They abort the
    /// process if the values differ.
    pub verify_register: unsafe extern "C" fn(*mut Value, u64, u64, u64),
    /// Compares the closure and the instance that code holds with those of the frame; 0 means that
    /// code holds no closure.
    pub verify_closure: unsafe extern "C" fn(*mut Value, u64, u64, u64),
    /// Compares a value with the one that a table has under a key, given the table, then payload
    /// and tag of the key and of the value. As for the following two, the first argument is the
    /// instance of the function that the code belongs to.
    pub verify_entry: unsafe extern "C" fn(*mut Instance, u64, *mut Table, u64, u64, u64, u64),
    /// Compares a value with the result of a field access along the metatables of an object, given
    /// payload and tag of the object and of the value.
    pub verify_lookup: unsafe extern "C" fn(*mut State, *mut Instance, u64, u64, u64, u64, u64),
    /// Compares a value (payload and tag) with the variable at an address.
    pub verify_variable: unsafe extern "C" fn(*mut Instance, u64, *const Value, u64, u64),
    /// The function `one` under Cranelift's convention `preserve_all`, which preserves all
    /// registers and has no results. The frame is stored; afterwards the status is in
    /// `State::returned`, and the base in `State::base`.
    pub preserving_one: unsafe extern "C" fn(),
    /// The function `get_field` with the same convention.
    pub preserving_get_field: unsafe extern "C" fn(),
    /// The function `set_field` with the same convention.
    pub preserving_set_field: unsafe extern "C" fn(),
    /// The function `poll` with the same convention, for places where all registers of the frame
    /// are live.
    pub preserving_poll: unsafe extern "C" fn(),
    /// Like `preserving_poll`, for loops that reuse loaded values: deoptimizes the frame if the
    /// contents of memory have changed or the frame has moved.
    pub preserving_quiet_poll: unsafe extern "C" fn(),
    /// Like `preserving_quiet_poll`, where the values of the frame end at the address that is the
    /// payload of `State::returned`.
    pub preserving_quiet_poll_to: unsafe extern "C" fn(),
    /// The function `for_next` with the same convention. Before the call, the payload of
    /// `State::returned` is the address of the loop's first register, and the tag is the number of
    /// variables; afterwards the payload is the result.
    pub preserving_for_next: unsafe extern "C" fn(),
    /// The function `new_table` with the same convention, for the instruction before the pc in the
    /// frame word. The payload of `State::returned` is the number of fields before the call, and
    /// the table afterwards.
    pub preserving_new_table: unsafe extern "C" fn(),
    /// Allocates virtual tables and closures, and puts them into their registers, with the same
    /// convention. The payload of `State::returned` is the address of their description (see
    /// [`virtuals`]).
    pub preserving_virtuals: unsafe extern "C" fn(),
    /// Calls another of these functions with the same convention. The first argument of that
    /// function must be the state, and the others must be words, at most
    /// [`MAX_PASSED`](crate::state::MAX_PASSED). These words are in `State::passed`, followed by
    /// the address of the function. Afterwards the result is in `State::returned`: the first word
    /// is the payload, the second one the tag.
    pub preserving_leaf: unsafe extern "C" fn(),
    /// Enters the interpreter. The slots of methods without code hold this address. Uses the
    /// convention of machine code.
    pub interpret: unsafe extern "C" fn(),
    /// Runs the top frame in the interpreter to completion. Code jumps here when its frame must
    /// continue in the interpreter ([`status::RESUME`]). Uses the convention of machine code, and
    /// ignores the arguments.
    pub resume: unsafe extern "C" fn(),
}

/// The descriptions that let the runtime materialize virtual tables and closures, whose allocation
/// code has eliminated.
///
/// A description is an array of slots: the [`counts`](virtuals::counts), the tables, each after
/// those that its fields name, the closures, and the [registers](virtuals::register). A table is
/// its [`site`](virtuals::site), the instance of the function that allocates it, its metatable or
/// nil, and for each field its name, or the pc of an instruction of that function that stores it,
/// and the value. A closure is its [function and frame](virtuals::closure), and the instance of the
/// frame's function. Numbers are payloads of nil. A field that holds another table of the
/// description has its position, with the tag [`Tag::ITER`](crate::value::Tag::ITER), which no Lua
/// value has.
pub mod virtuals {
    /// Packs the numbers of tables, of closures and of registers.
    pub const fn counts(tables: usize, closures: usize, registers: usize) -> u64 {
        tables as u64 | (closures as u64) << 16 | (registers as u64) << 32
    }

    /// Returns what [`counts`] has packed.
    pub const fn parts_of_counts(word: u64) -> (usize, usize, usize) {
        let (low, registers) = halves(word);
        (low & 0xFFFF, low >> 16, registers)
    }

    /// Packs the number of an inner function, and the distance from the description down to the
    /// base of the frame that makes the closure.
    pub const fn closure(inner: usize, distance: usize) -> u64 {
        inner as u64 | (distance as u64) << 32
    }

    /// Packs the number of fields, the number of slots to allocate for fields, whether the
    /// metatable is a class, and the pc of the NEWTABLE.
    pub const fn site(fields: usize, slots: usize, is_class: bool, pc: usize) -> u64 {
        fields as u64 | (slots as u64) << 16 | (is_class as u64) << 31 | (pc as u64) << 32
    }

    /// Packs the position of a table or closure in the description, and the distance down to the
    /// register.
    pub const fn register(table: usize, distance: usize) -> u64 {
        table as u64 | (distance as u64) << 32
    }

    /// Returns the two halves of a word that [`closure`] or [`register`] has packed.
    pub const fn halves(word: u64) -> (usize, usize) {
        (word as u32 as usize, (word >> 32) as usize)
    }

    /// Returns what [`site`] has packed.
    pub const fn parts_of_site(word: u64) -> (usize, usize, bool, usize) {
        let (low, pc) = halves(word);
        (low & 0xFFFF, low >> 16 & 0x7FFF, low >> 31 != 0, pc)
    }
}

/// The encoding of a comparison in self-checking code: the pc is in the low half, and the bits
/// above it specify what is compared.
pub mod verify {
    /// The position of the register's number, which has eight bits.
    pub const REGISTER: u32 = 32;
    /// The payload is compared.
    pub const PAYLOAD: u64 = 1 << 48;
    /// The tag is compared.
    pub const TAG: u64 = 1 << 49;
}

/// The number of misses that an exit to the interpreter counts as: the frame continues there,
/// possibly for many iterations of a loop.
pub const MISSES_PER_EXIT: u32 = 32;

/// The largest number of slots that frames of inlined functions take above the frame of a function.
pub const INLINED_SLOTS: usize = 200;

/// The maximum number of nested entries from native code, including the one from the host: one less
/// than PUC's `LUAI_MAXCCALLS`, which is the level at which PUC raises the error.
pub const MAX_NATIVE_DEPTH: u32 = 199;

/// The result of [`RuntimeCalls::store_by_handler`] if the value was stored.
pub const STORED: u64 = 1;

/// The tag of a [`Pair`] without a result.
pub const MISS: u64 = 0xFF;
