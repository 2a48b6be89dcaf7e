//! Members of userdata: those that are simply there, in the table at `__index`, or behind the host's function for computed fields, which need not run to
//! find them.

use std::sync::atomic::Ordering;

use perilune_bytecode::Op;
use perilune_runtime::closure::NativeClosure;
use perilune_runtime::frame::Frame;
use perilune_runtime::meta::Event;
use perilune_runtime::native::Builtin;
use perilune_runtime::state::{State, poll};
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

/// What is known of a member without running code.
pub(crate) enum Member {
    /// It is this, and not nil.
    Value(Value),
    /// It is what this function makes of the userdata.
    Computed(Value),
    /// Nothing.
    Unknown,
}

/// Runs the instruction of the top frame, one of machine code, if it is GETFIELD or SELF of a userdata whose member is simply there. A computed field is left to
/// the caller; the userdata is the second value then.
///
/// # Safety
/// I2; the pc is behind the instruction.
#[inline(always)]
pub(crate) unsafe fn get_field(st: *mut State) -> (Member, Value) {
    let base = (*st).base;
    let frame = Frame(base);
    let inst = (*frame.callee().as_function()).instance;
    let i = *(*inst).code.add(frame.word().pc() as usize - 1);
    if !matches!(i.op(), Op::SelfK | Op::GetField) {
        return (Member::Unknown, Value::NIL);
    }
    let object = base.add(i.b()).get();
    if object.tag() != Tag::USERDATA {
        return (Member::Unknown, Value::NIL);
    }
    let name = (*inst).constants.cast_mut().add(i.c()).get();
    let member = find(st, (*object.as_userdata()).meta, name);
    match member {
        Member::Value(v) => {
            if i.op() == Op::SelfK {
                base.add(i.a() + 2).put(object);
            }
            base.add(i.a()).put(v);
        }
        Member::Computed(_) if i.op() == Op::SelfK => return (Member::Unknown, object),
        _ => {}
    }
    (member, object)
}

/// The member of this name that userdata with a metatable have.
#[inline(always)]
unsafe fn find(st: *mut State, meta: *mut Table, name: Value) -> Member {
    if meta.is_null() {
        return Member::Unknown;
    }
    let handler = Table::get_str(meta, (&(*st).event_names)[Event::Index as usize]);
    if handler.is_table() {
        return match Table::get_str(handler.as_table(), name.as_string()) {
            v if v.is_nil() => Member::Unknown,
            v => Member::Value(v),
        };
    }
    behind(st, handler, name)
}

/// The member of this name of userdata with `handler` as `__index`, if that is the host's function for computed fields. A hook shall see that function.
///
/// # Safety
/// I2.
#[inline(always)]
pub(crate) unsafe fn behind(st: *mut State, handler: Value, name: Value) -> Member {
    if handler.tag() != Tag::NATIVE || !name.is_string() {
        return Member::Unknown;
    }
    let f = handler.as_native();
    let hooked = (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0;
    if (*f).header.word != Builtin::FieldIndex as u32 || (*f).header.aux < 2 || hooked {
        return Member::Unknown;
    }
    // a debugger may have put something else there
    let (computed, there) = (NativeClosure::bound(f, 0).get(), NativeClosure::bound(f, 1).get());
    if !computed.is_table() || !there.is_table() {
        return Member::Unknown;
    }
    let getter = Table::get_str(computed.as_table(), name.as_string());
    if !getter.is_nil() {
        return Member::Computed(getter);
    }
    match Table::get_str(there.as_table(), name.as_string()) {
        v if v.is_nil() => Member::Unknown,
        v => Member::Value(v),
    }
}
