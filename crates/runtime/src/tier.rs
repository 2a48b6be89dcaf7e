//! Where the interpreter, machine code and the compiler meet: entry points, statuses, and the calls that machine code makes.
//!
//! Machine code of a method is entered by its slot, with Cranelift's `tail` convention and the state in its pinned register:
//! `(callee, base, nargs) -> (status, bits, tag, base)`. The callee and its arguments lie in the VM stack, and the link of the frame is
//! stored. It returns a [`status`] and the number of results: one result in registers, any other number of them in the stack from the
//! callee's slot on (and the first, or nil, in registers too); and its base, since the stack may have moved.
//!
//! A frame of machine code keeps each register in its home slot whenever it calls out, and then looks like a frame of the interpreter
//! but for the code id in its frame word.

use std::sync::Arc;
use std::sync::atomic::AtomicPtr;

use perilune_bytecode::Proto;

use crate::chaos::Chaos;
use crate::closure::LuaClosure;
use crate::instance::{FieldCache, Instance};
use crate::state::State;
use crate::table::Table;
use crate::value::Value;

/// What a call of machine code, or from it, ended with: the low half of the status word. The high half counts results.
pub mod status {
    /// It returned.
    pub const OK: u64 = 0;
    /// An error is in [`crate::state::State::error`], and its message handler has run.
    pub const ERROR: u64 = 1;
    /// The coroutine yields.
    pub const YIELD: u64 = 2;
    /// Of a call from machine code: the frame that called is to go on in the interpreter, at its pc. The code returns nothing to its caller then: code of a
    /// function jumps to [`super::RuntimeCalls::resume`], so that no return address in it is left; code of a loop returns this to the loop that entered it.
    pub const RESUME: u64 = 4;
    /// A native function panicked; the panic is in [`crate::state::State::panic`].
    pub const PANIC: u64 = 8;
}

/// The first result of a return from the interpreter to machine code.
#[repr(C)]
pub struct Returned {
    /// Payload.
    pub bits: u64,
    /// Tag, zero-extended.
    pub tag: u64,
}

/// What came back from machine code.
#[repr(C)]
pub struct Left {
    /// See [`status`].
    pub status: u64,
    /// Payload of the first result.
    pub bits: u64,
    /// Its tag, in the low byte.
    pub tag: u64,
    /// The frame's base; results other than one begin two slots below.
    pub base: *mut Value,
}

impl Default for Left {
    #[inline(always)]
    fn default() -> Left {
        Left { status: 0, bits: 0, tag: 0, base: std::ptr::null_mut() }
    }
}

/// A value in two machine registers.
#[repr(C)]
pub struct Pair {
    /// Payload.
    pub bits: u64,
    /// Tag, zero-extended.
    pub tag: u64,
}

impl From<Value> for Pair {
    #[inline(always)]
    fn from(v: Value) -> Pair {
        Pair { bits: v.bits(), tag: v.tag().0 as u64 }
    }
}

/// The functions that machine code calls. Those that return a status may run Lua code, collect and move the stack; the caller has stored its frame
/// word and `State::base`, and reads its base from `State::base` afterwards. The others do none of that.
#[derive(Clone, Copy)]
pub struct RuntimeCalls {
    /// Runs the instruction at the frame's pc in the interpreter; after a test the pc says where to go on.
    pub one: unsafe extern "C" fn(*mut State) -> u64,
    /// As `one`, but the frame is left for the interpreter then: the status is never OK.
    pub deoptimize_after: unsafe extern "C" fn(*mut State) -> u64,
    /// The frame is left for the interpreter before an instruction that was never executed before. The status is never OK.
    pub deoptimize_before: unsafe extern "C" fn(*mut State) -> u64,
    /// FORPREP has begun a loop over other numbers than expected: that is noted, and the frame left for the interpreter.
    pub deoptimize_loop: unsafe extern "C" fn(*mut State) -> u64,
    /// CALL of what is no Lua function: `callee`, `nargs`. Results as CALL leaves them.
    pub call: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// TFORCALL of what is neither a Lua function nor known. Results as TFORCALL leaves them.
    pub call_iterator: unsafe extern "C" fn(*mut State) -> u64,
    /// Does what the poll word asks for; the second argument is the end of the live registers.
    pub poll: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Stops the script, as more instructions would be needed than are left; the second argument is as for `poll`. The status is never OK.
    pub out_of_fuel: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Prepares TAILCALL (`callee`, `nargs`, are there upvalues to close): the status; if the frame is now that of a Lua
    /// function to be jumped to, with its base in `State::base`, the number of its arguments plus 1 in the high half.
    pub tail_call: unsafe extern "C" fn(*mut State, *mut Value, usize, bool) -> u64,
    /// Closes the upvalues and variables of the frame for RETURN, whose results are given.
    pub close_return: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// Lays out the frame of a vararg function; returns its base. There is room.
    pub vararg_prep: unsafe extern "C" fn(*mut State, *mut Value, usize) -> *mut Value,
    /// Moves `n` results from `src` to `dst`.
    pub move_values: unsafe extern "C" fn(*mut Value, *mut Value, usize),
    /// A new table, not rooted; null: the function has panicked.
    pub new_table: unsafe extern "C" fn(*mut State, u32, u32) -> *mut Table,
    /// A closure of inner function `n`, not rooted; null likewise.
    pub closure:
        unsafe extern "C" fn(*mut State, *mut Instance, usize, *mut Value) -> *mut LuaClosure,
    /// The barrier's cold path.
    pub barrier: unsafe extern "C" fn(*mut State, *mut crate::header::GcHeader),
    /// Field by a cache, none of whose entries was found in line; the tag is [`MISS`] when all miss. Counted as a miss: the frame is stored.
    pub field_more: unsafe extern "C" fn(*mut State, *const FieldCache, *mut Table) -> Pair,
    /// Stores a field by a cache; 0 is a miss. Likewise.
    pub set_field: unsafe extern "C" fn(*mut State, *const FieldCache, *mut Table, u64, u64) -> u64,
    /// `rawget` of a short string key; the tag is [`MISS`] if a metatable has a say.
    pub get_str: unsafe extern "C" fn(*mut State, *mut Table, u64) -> Pair,
    /// `rawget` of an integer key outside of the array; likewise.
    pub get_int: unsafe extern "C" fn(*mut State, *mut Table, i64) -> Pair,
    /// Store under an integer key; 0: a metatable has a say, nothing was done.
    pub set_int: unsafe extern "C" fn(*mut State, *mut Table, i64, u64, u64) -> u64,
    /// Store under a short string key; likewise.
    pub set_str: unsafe extern "C" fn(*mut State, *mut Table, u64, u64, u64) -> u64,
    /// TFORCALL of a `next` or `ipairs` loop: 1, or 0 if it is neither.
    pub for_next: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// `rawget` of any key; the tag is [`MISS`] if a metatable has a say.
    pub get_any: unsafe extern "C" fn(*mut State, *mut Table, u64, u64) -> Pair,
    /// Store under any key (payload and tag) of a value; 0: a metatable has a say or the key is refused, nothing was done.
    pub set_any: unsafe extern "C" fn(*mut State, *mut Table, u64, u64, u64, u64) -> u64,
    /// CONCAT of so many values from the first on; 0: it is not a matter of strings and numbers of moderate length.
    pub concat: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// FORPREP: 0: it is an error, 1: the loop runs, 2: it does not.
    pub for_prep: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// SETLIST: the table, the position before the first, the values and their number; 0: the
    /// function has panicked.
    pub set_list: unsafe extern "C" fn(*mut State, *mut Table, u32, *mut Value, usize) -> u64,
    /// VARARG into register A of the frame at a base, with operand C; 0: the stack has to grow first.
    pub var_arg: unsafe extern "C" fn(*mut State, *mut Value, usize, usize) -> u64,
    /// TFORPREP; 0: there is something to be closed.
    pub for_each_prep: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// CLOSE of registers from the given one on, as far as upvalues go; 0: there is a variable to be closed.
    pub close: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Are two values of one type that differ in their bits equal? Payloads and tag. 2: a metamethod has a say.
    pub equal: unsafe extern "C" fn(*mut State, u64, u64, u64) -> u64,
    /// Compares two strings: negative, zero or positive.
    pub compare_strings: unsafe extern "C" fn(u64, u64) -> i64,
    /// CALLMETA of a first register, as far as it makes a plain class of a table (and operand C); 0: it does not.
    pub set_class: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// The metamethod of two operands (payloads and tags) for an [`crate::meta::Event`], not one that tables are indexed by, if it is a Lua function; 0: it is not, or
    /// the operands need none.
    pub handler: unsafe extern "C" fn(*mut State, u64, u64, u64, u64, u64) -> u64,
    /// The `__index` of a value that lacks a key, if it is a Lua function; else 0.
    pub index_handler: unsafe extern "C" fn(*mut State, u64, u64, u64, u64) -> u64,
    /// The `__newindex` of a value that lacks a key, if it is a Lua function; else 0.
    pub new_index_handler: unsafe extern "C" fn(*mut State, u64, u64, u64, u64) -> u64,
    /// `a ^ b`
    pub pow: extern "C" fn(f64, f64) -> f64,
    /// `a % b`
    pub float_mod: extern "C" fn(f64, f64) -> f64,
    /// `a << n`
    pub shift_left: extern "C" fn(i64, i64) -> i64,
    /// Library functions, by [`crate::native::Builtin`], for one result: the arguments and their number. The tag is [`MISS`] if the function itself has to be called.
    pub builtins: &'static [unsafe extern "C" fn(*mut State, *mut Value, usize) -> Pair;
                 crate::native::Builtin::COUNT],
    /// Compares what code holds of a register with its home slot in the frame at a base; the
    /// second argument is packed as [`verify`] says, payload and tag follow. This and the
    /// following are called by code that checks itself, and end the process at a difference.
    pub verify_register: unsafe extern "C" fn(*mut Value, u64, u64, u64),
    /// Compares closure (0: not held) and instance with those of the frame.
    pub verify_closure: unsafe extern "C" fn(*mut Value, u64, u64, u64),
    /// Compares a value with what a table has under a key: the table, payload and tag of the key
    /// and of the value.
    pub verify_entry: unsafe extern "C" fn(*mut Value, u64, *mut Table, u64, u64, u64, u64),
    /// Compares a value with what the field access finds along the metatables of an object:
    /// payload and tag of the object and of the value.
    pub verify_lookup: unsafe extern "C" fn(*mut State, *mut Value, u64, u64, u64, u64, u64),
    /// Enters the interpreter: what slots of methods without code hold. Convention of machine code.
    pub interpret: unsafe extern "C" fn(),
    /// Runs the top frame in the interpreter, to its end: what code jumps to when its frame is left ([`status::RESUME`]). Convention of machine code;
    /// the arguments are not looked at.
    pub resume: unsafe extern "C" fn(),
}

/// How code that checks itself says where: the pc in the low half, and what else is to be said
/// above.
pub mod verify {
    /// The first bit of the register's number, which has eight.
    pub const REGISTER: u32 = 32;
    /// The payload is compared.
    pub const PAYLOAD: u64 = 1 << 48;
    /// The tag is compared.
    pub const TAG: u64 = 1 << 49;
}

/// A count at which the compiler is asked, and asked again at regular intervals after that.
///
/// The interval is the next power of two, so that a test is a mask and a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    mask: u32,
    phase: u32,
}

impl Threshold {
    /// A count that is reached only when a counter wraps.
    pub const NEVER: Threshold = Threshold { mask: u32::MAX, phase: 0 };

    /// Returns the threshold that is first reached at exactly `count`, or at 1 if that is 0.
    pub const fn at(count: u32) -> Threshold {
        let count = if count == 0 { 1 } else { count };
        let mask = match u32::MAX.checked_shr((count - 1).leading_zeros()) {
            Some(mask) => mask,
            None => 0,
        };
        Threshold { mask, phase: count & mask }
    }

    /// Whether a counter that goes up by one reaches the threshold, or a multiple of the interval
    /// after it, with this value.
    #[inline(always)]
    pub fn is_reached(self, count: u32) -> bool {
        count & self.mask == self.phase
    }
}

/// Tag of a [`Pair`] that says that there is no answer.
pub const MISS: u64 = 0xFF;

/// What a state asks of the compiler.
pub trait Tier {
    /// The slot of a function's method, if it has one already; lives as long as the proto.
    fn slot(&mut self, proto: &Arc<Proto>) -> Option<*const AtomicPtr<u8>>;
    /// The method is entered often, and has no code as far as the instance knows: it gets the method's slot.
    ///
    /// # Safety
    /// `inst` is a live instance of the state.
    unsafe fn hot_entry(&mut self, st: *mut State, inst: *mut Instance);
    /// A loop of the method went round often; `pc` is where it goes on. Returns the address of code that goes on from there, or null.
    ///
    /// # Safety
    /// As [`Tier::hot_entry`].
    unsafe fn hot_loop(&mut self, st: *mut State, inst: *mut Instance, pc: u32) -> *const u8;
    /// The poll word's QUIESCENCE bit is set: announces the versions in use.
    ///
    /// # Safety
    /// A safepoint of the state.
    unsafe fn announce(&mut self, st: *mut State);
    /// Is the version with this code id out of its slot for good, so that a frame in it should leave it?
    fn is_retired(&mut self, code: u32) -> bool;
    /// Code of the version `code` has often met what it was not compiled for, in a function of this instance.
    ///
    /// # Safety
    /// As [`Tier::hot_entry`].
    unsafe fn missed(&mut self, st: *mut State, inst: *mut Instance, code: u32);
    /// Mode `chaos`: does something at random to code.
    ///
    /// # Safety
    /// A safepoint of the state.
    unsafe fn chaos(&mut self, st: *mut State, chaos: &mut Chaos);
    /// The host enters the state, perhaps once more.
    fn enter(&mut self);
    /// The host leaves the state, as often as it entered it.
    fn leave(&mut self);
    /// A native function is about to wait for something other than the state, which nobody touches meanwhile.
    fn block(&mut self);
    /// It goes on.
    fn unblock(&mut self);
}

#[cfg(test)]
mod tests {
    use super::Threshold;

    #[test]
    fn thresholds_are_exact() {
        for count in (1..=70).chain([1000, 1024, 1 << 20]) {
            let threshold = Threshold::at(count);
            let first = (1..).find(|&n| threshold.is_reached(n));
            let again = (count + 1..).find(|&n| threshold.is_reached(n));
            assert_eq!(first, Some(count));
            assert_eq!(again, Some(count + count.next_power_of_two()));
        }
        assert!(Threshold::at(0).is_reached(1));
        for count in [u32::MAX, u32::MAX - 1, (1 << 31) + 1, 1 << 31] {
            let threshold = Threshold::at(count);
            assert!(threshold.is_reached(count) && !threshold.is_reached(count - 1));
            assert!(!threshold.is_reached(1));
        }
        assert!(!(1..1000).any(|n| Threshold::NEVER.is_reached(n)));
    }
}
