//! Feedback: records of instructions about their operands, for the compiler.

use perilune_bytecode::Instr;
use perilune_bytecode::feedback::access;
use perilune_runtime::closure::NativeClosure;
use perilune_runtime::convert::float_to_integer;
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::{CalleeCache, FieldEntry, Handled, Instance};
use perilune_runtime::meta::Event;
use perilune_runtime::state::State;
use perilune_runtime::table::{ArrayKind, Table};
use perilune_runtime::value::{Tag, Value};

/// Returns the feedback of an access to integer key `n` of a table.
///
/// # Safety
/// `t` is a live table.
#[inline(always)]
pub(crate) unsafe fn access_of_int(t: *mut Table, n: i64) -> u32 {
    if (n as u64).wrapping_sub(1) < (*t).array_len as u64 {
        access::ARRAY | access::INTS << ((*t).header.aux - ArrayKind::Int as u8)
    } else {
        access::ARRAY | access::OUTSIDE
    }
}

/// Returns the feedback of an access to a table under a key that is not a short string, given the
/// function for integer keys.
///
/// # Safety
/// As for `of_int`.
#[inline(always)]
unsafe fn access_of(key: Value, t: *mut Table, of_int: unsafe fn(*mut Table, i64) -> u32) -> u32 {
    if key.is_int() {
        return of_int(t, key.as_int());
    }
    match key.is_float().then(|| float_to_integer(key.as_float())).flatten() {
        Some(n) => of_int(t, n) & !access::ARRAY | access::INTEGRAL,
        None => access::OTHER,
    }
}

/// Returns the feedback of a load from a table under a key that is not a short string.
///
/// # Safety
/// `t` is a live table.
pub(crate) unsafe fn load_of(t: *mut Table, key: Value) -> u32 {
    access_of(key, t, access_of_int)
}

/// Returns the feedback of a store to a table under a key that is not a short string.
///
/// # Safety
/// `t` is a live table.
pub(crate) unsafe fn store_to(t: *mut Table, key: Value) -> u32 {
    access_of(key, t, store_to_int)
}

/// Returns the feedback of a store to integer key `n` of a table. Arrays often begin with key 0,
/// which is not representative of the other keys.
///
/// # Safety
/// `t` is a live table.
#[inline(always)]
pub(crate) unsafe fn store_to_int(t: *mut Table, n: i64) -> u32 {
    let seen = access_of_int(t, n);
    let is_next = (n as u64).wrapping_sub(1) == (*t).array_len as u64;
    if seen & access::OUTSIDE != 0 && !is_next && n != 0 { seen | access::SPARSE } else { seen }
}

// The bits for kinds of arrays are in the order of the kinds.
const _: () = {
    let int = ArrayKind::Int as u8;
    assert!(access::INTS << (ArrayKind::Float as u8 - int) == access::FLOATS);
    assert!(access::INTS << (ArrayKind::Any as u8 - int) == access::ANY);
    assert!(access::INTS << (ArrayKind::Bool as u8 - int) == access::BOOLS);
};

/// The distance from a frame's instructions to their feedback cells.
#[derive(Clone, Copy)]
pub(crate) struct Cells {
    base: *mut u32,
    distance: usize,
}

impl Cells {
    /// Returns the cells of `inst`.
    ///
    /// # Safety
    /// `inst` is live.
    #[inline(always)]
    pub(crate) unsafe fn of(inst: *mut Instance) -> Cells {
        let base = (*inst).cells;
        Cells { base, distance: base.addr().wrapping_sub((*inst).code.addr()) }
    }

    /// Returns the cell of the instruction at `ip`.
    #[inline(always)]
    pub(crate) fn at(self, ip: *const Instr) -> *mut u32 {
        self.base.with_addr(ip.addr().wrapping_add(self.distance))
    }
}

/// Records the kinds of operands that the instruction before the pc of the top frame has.
///
/// # Safety
/// I2; pc stored.
pub(crate) unsafe fn note_operands(st: *mut State, bits: u32) {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    *(*inst).cells.add(frame.word().pc() as usize - 1) |= bits;
}

/// Records that the instruction before the pc of the top frame calls `function`, a metamethod of
/// `receiver`. `first` is the tag of its first operand; `shape` is that of a table without the
/// field that is looked up.
///
/// # Safety
/// As [`note_operands`]; the values are live.
pub(crate) unsafe fn note_handler(
    st: &mut State,
    first: Tag,
    shape: u32,
    receiver: Value,
    function: Value,
) {
    let frame = Frame(st.base);
    let inst = (*frame.callee().as_function()).instance;
    let pc = frame.word().pc() as usize - 1;
    Instance::note_handler(st, inst, pc, Handled { first, shape, receiver, function });
}

/// Records the callee of the CALL or TAILCALL before the pc of the top frame; if the callee is an
/// object, also its `__call` metamethod.
///
/// # Safety
/// As [`note_handler`] and [`note_called`].
#[inline(always)]
pub(crate) unsafe fn note_call(st: *mut State, inst: *mut Instance, cell: usize, callee: Value) {
    note_called(inst, cell, callee);
    if !matches!(callee.tag(), Tag::FUNCTION | Tag::NATIVE) {
        note_called_object(st, callee);
    }
}

#[cold]
unsafe fn note_called_object(st: *mut State, object: Value) {
    let function = Table::metamethod(st, object, Event::Call);
    if !function.is_nil() {
        note_handler(&mut *st, object.tag(), FieldEntry::NO_SHAPE, object, function);
    }
}

/// Records that a call has this callee.
///
/// # Safety
/// I1; `cell` is the cell of a call in `inst`, and `callee` is live.
#[inline(always)]
pub(crate) unsafe fn note_called(inst: *mut Instance, cell: usize, callee: Value) {
    let callee = match callee.tag() {
        Tag::FUNCTION => (*callee.as_function()).instance.addr(),
        Tag::NATIVE => NativeClosure::callee(callee.as_native()),
        _ => CalleeCache::OTHER,
    };
    if (*(*inst).callees.add(cell)).callee != callee {
        note_callee(inst, cell, callee);
    }
}

/// Records another callee of a call site.
///
/// # Safety
/// I1; `cell` is the cell of a call in `inst`.
#[cold]
#[inline(never)]
pub(crate) unsafe fn note_callee(inst: *mut Instance, cell: usize, callee: usize) {
    note_other_callee((*inst).callees.add(cell), callee);
}

/// Records another callee in the record of a call site.
///
/// # Safety
/// `record` is that of a call of a live instance.
#[cold]
#[inline(never)]
pub(crate) unsafe fn note_other_callee(record: *mut CalleeCache, callee: usize) {
    let c = &mut *record;
    if c.callee == 0 {
        c.callee = callee;
    } else {
        c.others = c.others.saturating_add(1);
    }
}
