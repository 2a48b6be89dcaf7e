//! The interface of the interpreter, machine code and the compiler: entry points, statuses, and the
//! calls that machine code makes.
//!
//! Machine code of a method is entered through its slot, with Cranelift's `tail` convention and the
//! state in the pinned register: `(callee, base, nargs) -> (status, bits, tag, base)`. The callee
//! and its arguments are in the VM stack, and the link of the frame is stored. The code returns a
//! [`status`] and the number of results: one result is in registers, any other number is in the
//! stack from the callee's slot on (with the first, or nil, in registers as well). It also returns
//! its base, since the stack may have moved.
//!
//! Machine code has each register in its home slot whenever it calls other code. Its frame then
//! looks like one of the interpreter, except for the code id in its frame word.

use std::sync::Arc;
use std::sync::atomic::AtomicPtr;

use perilune_bytecode::Proto;

use crate::chaos::Chaos;
use crate::closure::LuaClosure;
use crate::instance::{FieldCache, Instance};
use crate::state::State;
use crate::table::Table;
use crate::value::Value;

/// How a call of machine code, or from it, ended: the low half of the status word. The high half
/// counts results.
pub mod status {
    /// It returned.
    pub const OK: u64 = 0;
    /// An error is in [`crate::state::State::error`], and its message handler has run.
    pub const ERROR: u64 = 1;
    /// The coroutine yields.
    pub const YIELD: u64 = 2;
    /// Of a call from machine code: the calling frame must continue in the interpreter, at its pc.
    /// The code then returns nothing to its caller: code of a function jumps to
    /// [`super::RuntimeCalls::resume`], so that no return address in it remains on the stack, and
    /// code of a loop returns this status to the loop that entered it.
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

/// The result of machine code.
#[repr(C)]
pub struct Left {
    /// The status; see [`status`].
    pub status: u64,
    /// The payload of the first result.
    pub bits: u64,
    /// Its tag, in the low byte.
    pub tag: u64,
    /// The frame's base. Unless there is one result, the results begin two slots below it.
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

/// The functions that machine code calls.
///
/// Those that return a status may run Lua code, collect and move the stack. The caller has stored
/// its frame word and `State::base`, and reads its base from `State::base` afterwards. The others
/// do none of that.
#[derive(Clone, Copy)]
pub struct RuntimeCalls {
    /// Runs the instruction at the frame's pc in the interpreter. After a test, the pc is that of
    /// the instruction to continue at.
    pub one: unsafe extern "C" fn(*mut State) -> u64,
    /// Does the same as `one`, after which the frame continues in the interpreter: the status is
    /// never OK.
    pub deoptimize_after: unsafe extern "C" fn(*mut State) -> u64,
    /// Makes the frame continue in the interpreter, before an instruction that was never executed.
    /// The status is never OK.
    pub deoptimize_before: unsafe extern "C" fn(*mut State) -> u64,
    /// Makes the frame continue in the interpreter after FORPREP has begun a loop over other kinds
    /// of numbers than expected, which is recorded.
    pub deoptimize_loop: unsafe extern "C" fn(*mut State) -> u64,
    /// CALL of a value that is not a Lua function: `callee`, `nargs`. The results are where CALL
    /// stores them.
    pub call: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// TFORCALL of a value that is neither a Lua function nor a known iterator. The results are
    /// where TFORCALL stores them.
    pub call_iterator: unsafe extern "C" fn(*mut State) -> u64,
    /// Does what the poll word requests; the second argument is the end of the live registers.
    pub poll: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Stops the script, as it needs more instructions than it may execute; the second argument is
    /// as for `poll`. The status is never OK.
    pub out_of_fuel: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Prepares TAILCALL (`callee`, `nargs`, whether to close upvalues). Returns the status. If the
    /// frame is now that of a Lua function to jump to, its base is in `State::base`, and the high
    /// half is the number of its arguments plus 1.
    pub tail_call: unsafe extern "C" fn(*mut State, *mut Value, usize, bool) -> u64,
    /// Closes the upvalues and variables of the frame for RETURN; the arguments are its results.
    pub close_return: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// Lays out the frame of a vararg function, for which there is room. Returns its base.
    pub vararg_prep: unsafe extern "C" fn(*mut State, *mut Value, usize) -> *mut Value,
    /// Moves `n` results from `src` to `dst`.
    pub move_values: unsafe extern "C" fn(*mut Value, *mut Value, usize),
    /// Returns a new table, not rooted, or null if the function has panicked.
    pub new_table: unsafe extern "C" fn(*mut State, u32, u32) -> *mut Table,
    /// Returns a closure of the inner function `n`, not rooted, or null if the function has
    /// panicked.
    pub closure:
        unsafe extern "C" fn(*mut State, *mut Instance, usize, *mut Value) -> *mut LuaClosure,
    /// The cold path of the write barrier.
    pub barrier: unsafe extern "C" fn(*mut State, *mut crate::header::GcHeader),
    /// Loads a field through a cache of which no entry that is compared inline matched; the tag is
    /// [`MISS`] when none does. This counts as a miss, for which the frame is stored.
    pub field_more: unsafe extern "C" fn(*mut State, *const FieldCache, *mut Table) -> Pair,
    /// Stores a field through a cache in the same way; 0 is a miss.
    pub set_field: unsafe extern "C" fn(*mut State, *const FieldCache, *mut Table, u64, u64) -> u64,
    /// `rawget` of a short string key; the tag is [`MISS`] if a metatable has to be consulted.
    pub get_str: unsafe extern "C" fn(*mut State, *mut Table, u64) -> Pair,
    /// `rawget` of an integer key outside the array; the tag is [`MISS`] if a metatable has to be
    /// consulted.
    pub get_int: unsafe extern "C" fn(*mut State, *mut Table, i64) -> Pair,
    /// Stores under an integer key. 0: nothing was stored, as a metatable has to be consulted.
    pub set_int: unsafe extern "C" fn(*mut State, *mut Table, i64, u64, u64) -> u64,
    /// Stores under a short string key. 0: nothing was stored, as a metatable has to be consulted.
    pub set_str: unsafe extern "C" fn(*mut State, *mut Table, u64, u64, u64) -> u64,
    /// TFORCALL of a `next` or `ipairs` loop. Returns 1, or 0 if it is neither.
    pub for_next: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// `rawget` of any key; the tag is [`MISS`] if a metatable has to be consulted.
    pub get_any: unsafe extern "C" fn(*mut State, *mut Table, u64, u64) -> Pair,
    /// Stores a value under any key (payload and tag of each). 0: nothing was stored, as a
    /// metatable has to be consulted or the key is invalid.
    pub set_any: unsafe extern "C" fn(*mut State, *mut Table, u64, u64, u64, u64) -> u64,
    /// CONCAT of the given number of values, from the first on. 0: they are not all strings and
    /// numbers of moderate length.
    pub concat: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// FORPREP. 0: it is an error, 1: the loop runs, 2: it does not.
    pub for_prep: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// SETLIST: the table, the position before the first, the values and their number. 0: the
    /// function has panicked.
    pub set_list: unsafe extern "C" fn(*mut State, *mut Table, u32, *mut Value, usize) -> u64,
    /// VARARG to register A of the frame at a base, with operand C. 0: the stack has to grow first.
    pub var_arg: unsafe extern "C" fn(*mut State, *mut Value, usize, usize) -> u64,
    /// TFORPREP. 0: there is a value to be closed.
    pub for_each_prep: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// CLOSE of the registers from the given one on, with regard to upvalues only. 0: there is a
    /// variable to be closed.
    pub close: unsafe extern "C" fn(*mut State, *mut Value) -> u64,
    /// Compares two values of one type whose bits differ (payloads, and the tag) for equality. 2: a
    /// metamethod has to be called.
    pub equal: unsafe extern "C" fn(*mut State, u64, u64, u64) -> u64,
    /// Compares two strings. The result is negative, zero or positive.
    pub compare_strings: unsafe extern "C" fn(u64, u64) -> i64,
    /// CALLMETA from a first register on, with operand C, if it sets a plain class as the metatable
    /// of a table. 0: it does not.
    pub set_class: unsafe extern "C" fn(*mut State, *mut Value, usize) -> u64,
    /// Returns the metamethod of two operands (payloads and tags) for an [`crate::meta::Event`]
    /// other than the index events, if it is a Lua function. 0: it is not, or the operands need
    /// none.
    pub handler: unsafe extern "C" fn(*mut State, u64, u64, u64, u64, u64) -> u64,
    /// Returns the `__index` of a value that lacks a key, if it is a Lua function; else 0.
    pub index_handler: unsafe extern "C" fn(*mut State, u64, u64, u64, u64) -> u64,
    /// Returns the `__newindex` of a value that lacks a key, if it is a Lua function; else 0.
    pub new_index_handler: unsafe extern "C" fn(*mut State, u64, u64, u64, u64) -> u64,
    /// `a ^ b`
    pub pow: extern "C" fn(f64, f64) -> f64,
    /// `a % b`
    pub float_mod: extern "C" fn(f64, f64) -> f64,
    /// `a << n`
    pub shift_left: extern "C" fn(i64, i64) -> i64,
    /// Library functions, by [`crate::native::Builtin`], for one result: the arguments and their
    /// number. The tag is [`MISS`] if the function itself has to be called.
    pub builtins: &'static [unsafe extern "C" fn(*mut State, *mut Value, usize) -> Pair;
                 crate::native::Builtin::COUNT],
    /// Compares the value that code holds for a register with the home slot in the frame at a base.
    /// The second argument is packed as [`verify`] describes, and payload and tag follow.
    ///
    /// This function and the following ones are called by code that checks itself, and end the
    /// process at a difference.
    pub verify_register: unsafe extern "C" fn(*mut Value, u64, u64, u64),
    /// Compares the closure (0: not held) and the instance with those of the frame.
    pub verify_closure: unsafe extern "C" fn(*mut Value, u64, u64, u64),
    /// Compares a value with the one that a table has under a key: the table, then payload and tag
    /// of the key and of the value.
    pub verify_entry: unsafe extern "C" fn(*mut Value, u64, *mut Table, u64, u64, u64, u64),
    /// Compares a value with the result of the field access along the metatables of an object:
    /// payload and tag of the object and of the value.
    pub verify_lookup: unsafe extern "C" fn(*mut State, *mut Value, u64, u64, u64, u64, u64),
    /// Enters the interpreter. The slots of methods without code hold this address. Uses the
    /// convention of machine code.
    pub interpret: unsafe extern "C" fn(),
    /// Runs the top frame in the interpreter to its end. Code jumps here when its frame must
    /// continue in the interpreter ([`status::RESUME`]). Uses the convention of machine code, and
    /// ignores the arguments.
    pub resume: unsafe extern "C" fn(),
}

/// How code that checks itself describes the place: the pc is in the low half, and the bits above
/// say what is compared.
pub mod verify {
    /// The position of the register's number, which has eight bits.
    pub const REGISTER: u32 = 32;
    /// The payload is compared.
    pub const PAYLOAD: u64 = 1 << 48;
    /// The tag is compared.
    pub const TAG: u64 = 1 << 49;
}

/// A count at which the compiler is called, and called again at regular intervals after that.
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

    /// Returns whether a counter that is incremented by one reaches the threshold, or a multiple of
    /// the interval after it, with the value `count`.
    #[inline(always)]
    pub fn is_reached(self, count: u32) -> bool {
        count & self.mask == self.phase
    }
}

/// The tag of a [`Pair`] without a result.
pub const MISS: u64 = 0xFF;

/// The requests that a state makes to the compiler.
pub trait Tier {
    /// Returns the slot of a function's method, if it has one already; it lives as long as the
    /// proto.
    fn slot(&mut self, proto: &Arc<Proto>) -> Option<*const AtomicPtr<u8>>;
    /// Handles a method that is entered often, and has no code as far as the instance knows. Sets
    /// the instance's slot to that of the method, and requests code for it.
    ///
    /// # Safety
    /// `inst` is a live instance of the state.
    unsafe fn hot_entry(&mut self, st: *mut State, inst: *mut Instance);
    /// Handles a loop of the method that has run many iterations; `pc` is where it continues.
    /// Returns the address of code that continues from there, or null.
    ///
    /// # Safety
    /// As for [`Tier::hot_entry`].
    unsafe fn hot_loop(&mut self, st: *mut State, inst: *mut Instance, pc: u32) -> *const u8;
    /// Announces the versions of code in use. Called when the poll word's QUIESCENCE bit is set.
    ///
    /// # Safety
    /// This is a safepoint of the state.
    unsafe fn announce(&mut self, st: *mut State);
    /// Returns whether the version with this code id was permanently removed from its slot, so that
    /// frames in it should continue elsewhere.
    fn is_retired(&mut self, code: u32) -> bool;
    /// Notes that code of the version `code` has often met cases that it was not compiled for, in a
    /// function of this instance.
    ///
    /// # Safety
    /// As for [`Tier::hot_entry`].
    unsafe fn missed(&mut self, st: *mut State, inst: *mut Instance, code: u32);
    /// Does a random operation on code, in the mode `chaos`.
    ///
    /// # Safety
    /// This is a safepoint of the state.
    unsafe fn chaos(&mut self, st: *mut State, chaos: &mut Chaos);
    /// Notes that the host enters the state, possibly while it is entered already.
    fn enter(&mut self);
    /// Notes that the host leaves the state. Each call belongs to one of [`Tier::enter`].
    fn leave(&mut self);
    /// Notes that a native function is about to wait for something other than the state, which
    /// nothing accesses meanwhile.
    fn block(&mut self);
    /// Notes that the native function continues.
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
