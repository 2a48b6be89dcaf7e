//! Implements CALLMETA: `setmetatable(o, {__index = C})` as one instruction.

use perilune_runtime::meta::Event;
use perilune_runtime::native::Builtin;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::table::{TAGGED, Table};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::native::call_for_instruction;
use crate::step::Step;

/// Gives the object at `ra + 2` the class at `ra + 3`, if the call at `ra` has no other effect: the
/// function must be the library's `setmetatable`, both values must be tables, and the object must
/// have no metatable, or one that was set in this way and has no field `__metatable`. `c` is the
/// operand C. Returns whether this was the case; if not, nothing is changed.
///
/// # Safety
/// I2; `ra` is the instruction's first register.
#[inline(never)]
pub(crate) unsafe fn set_class(st: *mut State, ra: *mut Value, c: usize) -> bool {
    let f = ra.get();
    let (object, class) = (ra.add(2).get(), ra.add(3).get());
    let meta = if object.is_table() { (*object.as_table()).meta } else { 0 };
    if f.tag() != Tag::NATIVE
        || (*f.as_native()).header.word != Builtin::SetMetatable as u32
        || !object.is_table()
        || !class.is_table()
        || (meta != 0 && meta & TAGGED == 0)
        || !Table::set_meta_index(st, object.as_table(), class.as_table())
    {
        return false;
    }
    if c != 1 {
        ra.put(object);
    }
    if c == 0 {
        (*st).top = ra.add(1);
    } else {
        let mut j = 1;
        while j + 1 < c {
            ra.add(j).put(Value::NIL);
            j += 1;
        }
    }
    true
}

/// Creates the metatable and calls the function at `ra`.
///
/// # Safety
/// I2; pc stored; `ra` is the instruction's first register.
#[inline(never)]
pub(crate) unsafe fn call_meta(st: *mut State, ra: *mut Value) -> Step {
    let s = StateRef::new(st);
    let t = Table::new(s.ptr(), 1, 0);
    Table::set_str_const(s.ptr(), t, s.event_names[Event::Index as usize], ra.add(3).get());
    ra.add(3).put(Value::table(t));
    call_for_instruction(st, ra, 2)
}
