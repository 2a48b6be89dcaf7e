//! Allocates, at exits, the tables that code has represented by their fields, and the closures that
//! it has not created.

use std::ptr;

use perilune_runtime::instance::Instance;
use perilune_runtime::native::Raised;
use perilune_runtime::state::State;
use perilune_runtime::table::Table;
use perilune_runtime::tier::virtuals::{halves, parts_of_counts, parts_of_site};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::closure::make_closure;

/// A description that is being read.
struct Description {
    start: *mut Value,
    at: *mut Value,
}

impl Description {
    unsafe fn next(&mut self) -> Value {
        let v = self.at.get();
        self.at = self.at.add(1);
        v
    }

    unsafe fn word(&mut self) -> u64 {
        self.next().bits()
    }

    /// Returns the object whose description begins at a position: its first slot.
    unsafe fn object(&self, position: usize) -> Value {
        self.start.add(position).get()
    }
}

/// Allocates the tables and closures whose description is at the address that the code has stored
/// in the state, and stores them to their registers. The collector does not run.
///
/// # Errors
/// Returns "not enough memory". The tables are in their registers, but some have no metatable.
///
/// # Safety
/// I2; the code that was left has stored a description as
/// [`virtuals`](perilune_runtime::tier::virtuals) says, above the registers of all its frames.
pub(super) unsafe fn allocate_described(st: *mut State) -> Result<(), Raised> {
    let start: *mut Value = ptr::with_exposed_provenance_mut((*st).returned.bits as usize);
    let mut description = Description { start, at: start };
    let (tables, closures, registers) = parts_of_counts(description.word());
    let mut is_complete = true;
    for _ in 0..tables {
        let place = description.at;
        let t = allocate(st, &mut description, &mut is_complete);
        place.put(Value::table(t));
    }
    for _ in 0..closures {
        let place = description.at;
        let (inner, distance) = halves(description.word());
        let inst: *mut Instance = ptr::with_exposed_provenance_mut(description.word() as usize);
        place.put(make_closure(st, inst, inner, start.sub(distance)));
    }
    for _ in 0..registers {
        let (position, distance) = halves(description.word());
        start.sub(distance).put(description.object(position));
    }
    if is_complete { Ok(()) } else { Err((*st).raise_memory()) }
}

/// Allocates the next table of a description. Clears `is_complete` if there is no memory for its
/// metatable.
unsafe fn allocate(
    st: *mut State,
    description: &mut Description,
    is_complete: &mut bool,
) -> *mut Table {
    let (fields, slots, is_class, pc) = parts_of_site(description.word());
    let inst: *mut Instance = ptr::with_exposed_provenance_mut(description.word() as usize);
    let metatable = description.next();
    let t = Table::of_constructor(st, inst, pc, slots);
    for _ in 0..fields {
        let mut name = description.next();
        if !name.is_string() {
            let store = *(*inst).code.add(name.bits() as usize);
            name = (*inst).constants.cast_mut().add(store.b()).get();
        }
        let mut v = description.next();
        if v.tag() == Tag::ITER {
            v = description.object(v.bits() as usize);
        }
        Table::set_str_const(st, t, name.as_string(), v);
    }
    *is_complete &= match metatable.tag() {
        Tag::NIL => true,
        _ if is_class => Table::set_meta_index(st, t, metatable.as_table()),
        _ => Table::set_metatable(st, t, metatable.as_table()),
    };
    t
}
