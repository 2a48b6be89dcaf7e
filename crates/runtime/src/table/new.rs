//! Creation of tables.

use std::ptr;

use super::order::Order;
use super::{ArrayKind, LocalShape, Node, Table};
use crate::engine::MAX_FIELDS;
use crate::header::Kind;
use crate::state::State;
use crate::value::{SlotExt, Value};

impl Table {
    /// Returns the size in bytes of a table with `fields` inline field slots.
    #[inline(always)]
    pub const fn size_for(fields: u8) -> usize {
        size_of::<Table>() + fields as usize * size_of::<Value>()
    }

    /// Creates a table without fields. It has room for `fields_hint` fields inline, and allocates
    /// room for `array_cap` array elements when the first one is stored.
    ///
    /// # Safety
    /// As for [`State::alloc`]; the table is not rooted.
    #[inline]
    pub unsafe fn new(st: *mut State, fields_hint: u8, array_cap: u32) -> *mut Table {
        let t = (*st).alloc(Kind::Table, Table::size_for(fields_hint)).cast::<Table>();
        let shape = (*st).empty_shape;
        (*t).header.aux = ArrayKind::Empty as u8;
        (*t).header.word = (*shape).header.word;
        (&raw mut (*t).shape).write(shape);
        let fields = Table::inline_fields(t);
        (&raw mut (*t).fields).write(fields);
        (&raw mut (*t).meta).write(0);
        (&raw mut (*t).array).write(ptr::null_mut());
        (&raw mut (*t).array_len).write(0);
        (&raw mut (*t).array_cap).write(array_cap);
        (&raw mut (*t).nodes).write(ptr::null_mut());
        (&raw mut (*t).nodes_used).write(0);
        (&raw mut (*t).node_bits).write(0);
        (&raw mut (*t).fields_cap).write(fields_hint);
        (&raw mut (*t).fields_inline).write(fields_hint);
        (&raw mut (*t).absent).write(0);
        for i in 0..fields_hint as usize {
            fields.add(i).put(Value::NIL);
        }
        t
    }

    /// Creates a table with fields of these names, all different; the field with index `i` is
    /// `value(i)`.
    ///
    /// # Safety
    /// As for [`Table::new`]. `value` returns live values of the state.
    pub unsafe fn with_names(
        st: *mut State,
        names: &'static [&'static str],
        mut value: impl FnMut(usize) -> Value,
    ) -> *mut Table {
        let shape = LocalShape::with_names(st, names);
        let t = Table::new(st, names.len().min(MAX_FIELDS as usize) as u8, 0);
        if shape.is_null() {
            for (i, name) in names.iter().enumerate() {
                let name = (*st).intern(name.as_bytes());
                Table::set_str_const(st, t, name, value(i));
            }
            return t;
        }
        for i in 0..names.len() {
            (*t).fields.add(i).put(value(i));
        }
        Table::set_shape(st, t, shape);
        t
    }

    /// Creates an empty table in dictionary mode with `2^log_nodes` nodes, which must be few.
    ///
    /// # Safety
    /// As for [`Table::new`].
    pub unsafe fn new_dict(st: *mut State, log_nodes: u8) -> *mut Table {
        let t = Table::new(st, 0, 0);
        (*t).header.word = 0;
        (*t).shape = ptr::null_mut();
        let allocated = Table::alloc_nodes(st, t, 1 << log_nodes);
        debug_assert!(allocated, "few nodes always have memory");
        t
    }

    /// Allocates nodes for `count` keys, as the new (empty) hash part. Returns false, without an
    /// effect, if there is no memory for them, or if no table can have so many.
    pub(super) unsafe fn alloc_nodes(st: *mut State, t: *mut Table, count: usize) -> bool {
        if count == 0 {
            (*t).nodes_used = 0;
            (*t).nodes = ptr::null_mut();
            (*t).node_bits = 0;
            return true;
        }
        let size = count.next_power_of_two();
        if size > Table::MAX_NODES {
            return false;
        }
        let nodes = (*st).alloc_buffer(Table::node_bytes(size)).cast::<Node>();
        if nodes.is_null() {
            return false;
        }
        (*st).heap.note_moved_nodes(t);
        (*t).nodes_used = 0;
        (*t).nodes = nodes;
        (*t).node_bits = size.trailing_zeros() as u8;
        Table::order(t).write(Order::NEW);
        ptr::write_bytes(Table::heads(t), 0, size);
        // The table may have been scanned in this cycle, before it had this buffer.
        (*st).barrier(t.cast());
        true
    }

    /// Returns the address of the inline field slots.
    #[inline(always)]
    pub(super) unsafe fn inline_fields(t: *mut Table) -> *mut Value {
        t.add(1).cast::<Value>()
    }
}
