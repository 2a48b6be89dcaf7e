//! Finds members of userdata without running code: those in the table at `__index`, or those that
//! the host's function for computed fields provides.

use std::sync::atomic::Ordering;

use perilune_bytecode::Op;
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::FieldCache;
use perilune_runtime::meta::Event;
use perilune_runtime::state::{State, poll};
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

/// The result of looking up a member without running code.
pub(crate) enum Member {
    /// The member is this value, which is not nil.
    Value(Value),
    /// The member is the result of this function for the userdata.
    Computed(Value),
    /// Nothing is known about the member.
    Unknown,
}

/// Runs the instruction of the top frame, which is a frame of machine code, if it is GETFIELD or
/// SELF of a userdata with a plain member, which the cache then records. A computed field is left
/// to the caller; the second value is then the userdata.
///
/// # Safety
/// I2; the pc is after the instruction.
#[inline(always)]
pub(crate) unsafe fn get_field(st: *mut State) -> (Member, Value) {
    let base = (*st).base;
    let frame = Frame(base);
    let inst = (*frame.callee().as_function()).instance;
    let at = frame.word().pc() as usize - 1;
    let i = *(*inst).code.add(at);
    if !matches!(i.op(), Op::SelfK | Op::GetField) {
        return (Member::Unknown, Value::NIL);
    }
    let object = base.add(i.b()).get();
    if object.tag() != Tag::USERDATA {
        return (Member::Unknown, Value::NIL);
    }
    let name = (*inst).constants.cast_mut().add(i.c()).get();
    let cache = (*inst).fields.add(*(*inst).cells.add(at) as usize);
    let member = find(st, cache, (*object.as_userdata()).meta, name);
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

/// Returns the member of this name of userdata with a metatable. Records a plain member in `cache`.
///
/// # Safety
/// I2; `cache` is that of an access to fields of this name.
#[inline(always)]
pub(crate) unsafe fn find(
    st: *mut State,
    cache: *mut FieldCache,
    meta: *mut Table,
    name: Value,
) -> Member {
    if meta.is_null() || is_hooked(st) {
        return Member::Unknown;
    }
    if let Some(v) = FieldCache::hit_userdata(cache, st, meta) {
        return Member::Value(v);
    }
    let handler = Table::get_str(meta, (&(*st).event_names)[Event::Index as usize]);
    if let Member::Computed(getter) = computed_by(st, handler, name) {
        return Member::Computed(getter);
    }
    match Table::cache_userdata(st, cache, meta, name.as_string()) {
        Some(v) => Member::Value(v),
        None => Member::Unknown,
    }
}

/// Returns whether a hook is set, which must be notified of calls of the host's function for
/// computed fields.
#[inline(always)]
unsafe fn is_hooked(st: *mut State) -> bool {
    (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0
}

/// Returns the member of this name of userdata with `handler` as `__index`, if that is the host's
/// function for computed fields.
///
/// # Safety
/// I2.
#[inline(always)]
pub(crate) unsafe fn computed_by(st: *mut State, handler: Value, name: Value) -> Member {
    if !name.is_string() || is_hooked(st) {
        return Member::Unknown;
    }
    let Some([computed, members]) = Table::computed_fields(handler) else {
        return Member::Unknown;
    };
    let getter = Table::get_str(computed, name.as_string());
    if !getter.is_nil() {
        return Member::Computed(getter);
    }
    match Table::get_str(members, name.as_string()) {
        v if v.is_nil() => Member::Unknown,
        v => Member::Value(v),
    }
}
