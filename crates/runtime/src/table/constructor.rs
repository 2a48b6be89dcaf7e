//! Tables created by constructors: they initially have slots for all fields that the constructor
//! names.
//!
//! Thus all tables of one constructor have the same shape, whichever of the values are nil, and a
//! later store to a field that is initially nil needs no transition. As everywhere, a slot that is
//! nil represents an absent field.

use super::{LocalShape, Table};
use crate::instance::Instance;
use crate::state::State;
use crate::string::LuaString;
use perilune_bytecode::effects::stores_element;
use perilune_bytecode::flow::is_passed;
use perilune_bytecode::{Instr, MAX_ROOM, Op};

impl Table {
    /// The maximum number of inline field slots of a table.
    pub const MAX_INLINE: usize = MAX_ROOM;

    /// Creates the table of the NEWTABLE at `pc`, with inline room for `fields` fields, which are
    /// at least as many as its constructor has.
    ///
    /// # Safety
    /// As for [`Table::new`]. `inst` is a live instance of `st` with that instruction.
    #[inline]
    pub unsafe fn of_constructor(
        st: *mut State,
        inst: *mut Instance,
        pc: usize,
        fields: usize,
    ) -> *mut Table {
        let i = *(*inst).code.add(pc);
        let site = (*inst).sites.add(*(*inst).cells.add(pc) as usize);
        if (*site).shape.is_null() {
            Table::settle_site(st, inst, pc);
        }
        let t = Table::new(st, fields.min(Table::MAX_INLINE) as u8, i.c() as u32);
        let shape = (*site).shape;
        if !shape.is_null() {
            (*t).shape = shape;
            (*t).header.word = (*shape).header.word;
        }
        t
    }

    /// Decides which shape the tables of the NEWTABLE at `pc` begin with, unless they have more
    /// fields than fit inline.
    #[cold]
    #[inline(never)]
    unsafe fn settle_site(st: *mut State, inst: *mut Instance, pc: usize) {
        if (*(*inst).code.add(pc)).b() > Table::MAX_INLINE {
            return;
        }
        let shape = Table::shape_of_constructor(st, inst, pc);
        (*(*inst).sites.add(*(*inst).cells.add(pc) as usize)).shape = shape;
        (*st).barrier(inst.cast());
    }

    /// Returns the shape of a table with the fields that the constructor at `pc` names, in their
    /// order, or with as many of them as there is a shape for.
    unsafe fn shape_of_constructor(
        st: *mut State,
        inst: *mut Instance,
        pc: usize,
    ) -> *mut LocalShape {
        let code = &(&(*inst).proto).code;
        let (table, count) = (code[pc].a(), code[pc].b());
        if count == 0 {
            return (*st).empty_shape;
        }
        // There is room for all of them.
        let mut shape = LocalShape::inline(st);
        for store in stores(&code[pc + 1..], table).take(count) {
            if !matches!(store.op(), Op::SetField | Op::SetFieldK) {
                continue;
            }
            let name = (*inst).constants()[store.b()].as_string();
            if !LuaString::is_short(name) || LocalShape::find(shape, name).is_some() {
                continue;
            }
            let next = LocalShape::with_field(st, shape, name);
            if next.is_null() {
                break;
            }
            shape = next;
        }
        shape
    }
}

/// Returns the stores in `code` to register `table`, or to the register in which `setmetatable`
/// returns the table. The first ones after a NEWTABLE are those of its constructor and those for
/// which it also has room. Which ones are returned matters for speed only.
fn stores(code: &[Instr], mut table: usize) -> impl Iterator<Item = Instr> + '_ {
    code.iter().copied().filter(move |&i| {
        if is_passed(i, table) {
            table = i.a();
        }
        stores_element(i.op()) && i.a() == table
    })
}
