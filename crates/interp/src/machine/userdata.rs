//! Fields of userdata, for machine code: those that are simply there, in the table at `__index`, or behind the host's function for computed fields.

use perilune_bytecode::Op;
use perilune_runtime::closure::NativeClosure;
use perilune_runtime::frame::Frame;
use perilune_runtime::meta::Event;
use perilune_runtime::native::Builtin;
use perilune_runtime::state::State;
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

/// Runs the instruction of the top frame, one of machine code, if it is GETFIELD or SELF of a userdata, and no code of a program or of the host is to be called.
/// Says whether it did.
///
/// # Safety
/// I2; the pc is behind the instruction.
#[inline(always)]
pub(super) unsafe fn get_field(st: *mut State) -> bool {
    let base = (*st).base;
    let frame = Frame(base);
    let inst = (*frame.callee().as_function()).instance;
    let i = *(*inst).code.add(frame.word().pc() as usize - 1);
    if !matches!(i.op(), Op::SelfK | Op::GetField) {
        return false;
    }
    let object = base.add(i.b()).get();
    if object.tag() != Tag::USERDATA {
        return false;
    }
    let name = (*inst).constants.cast_mut().add(i.c()).get();
    let v = find(st, (*object.as_userdata()).meta, name);
    if v.is_nil() {
        return false;
    }
    if i.op() == Op::SelfK {
        base.add(i.a() + 2).put(object);
    }
    base.add(i.a()).put(v);
    true
}

/// The member of this name that userdata with a metatable have; nil when it takes more to know.
#[inline(always)]
unsafe fn find(st: *mut State, meta: *mut Table, name: Value) -> Value {
    if meta.is_null() {
        return Value::NIL;
    }
    let handler = Table::get_str(meta, (&(*st).event_names)[Event::Index as usize]);
    if handler.is_table() {
        return Table::get_str(handler.as_table(), name.as_string());
    }
    if handler.tag() == Tag::NATIVE {
        let f = handler.as_native();
        if (*f).header.word == Builtin::FieldIndex as u32 && (*f).header.aux > 1 {
            // a debugger may have put something else there
            let (computed, there) =
                (NativeClosure::bound(f, 0).get(), NativeClosure::bound(f, 1).get());
            if computed.is_table()
                && there.is_table()
                && Table::get_str(computed.as_table(), name.as_string()).is_nil()
            {
                return Table::get_str(there.as_table(), name.as_string());
            }
        }
    }
    Value::NIL
}
