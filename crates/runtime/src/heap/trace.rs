//! The references of objects: the only place of the heap that depends on their layouts.

use crate::closure::{LuaClosure, NativeClosure};
use crate::header::{GcHeader, Kind};
use crate::instance::{EntryKind, FieldCache, Instance};
use crate::string::LuaString;
use crate::table::{ArrayKind, Cell, LocalShape, Node, Table};
use crate::thread::Thread;
use crate::upvalue::Upvalue;
use crate::userdata::Userdata;
use crate::value::{SlotExt, Tag, Value};

/// Receives the references of an object.
pub(crate) trait Visitor {
    /// Receives a reference to an object, never null.
    unsafe fn object(&mut self, o: *mut GcHeader);
    /// Receives a buffer that the object owns.
    unsafe fn buffer(&mut self, p: *mut u8, size: usize);
    /// Receives a node of a table that has a key and no value.
    unsafe fn empty_node(&mut self, _n: *mut Node) {}
    /// Receives a reference of an inline cache that keeps its object alive if it was there when the
    /// instance was visited. There is no barrier for it: the object may die later, and the
    /// reference is cleared then.
    #[inline(always)]
    unsafe fn cached(&mut self, o: *mut GcHeader) {
        self.object(o);
    }

    /// Receives a reference to an object, or null.
    #[inline(always)]
    unsafe fn pointer<T>(&mut self, p: *mut T) {
        if !p.is_null() {
            self.object(p.cast());
        }
    }
    /// Receives a value.
    #[inline(always)]
    unsafe fn value(&mut self, v: Value) {
        if v.is_collectable() {
            self.object(v.as_header());
        }
    }
}

/// Returns the size in bytes of an object in a block or in the large space.
pub(crate) unsafe fn size_of_object(o: *mut GcHeader) -> usize {
    match (*o).kind {
        Kind::String => LuaString::size_for((*o.cast::<LuaString>()).len as usize),
        Kind::Table => {
            size_of::<Table>() + (*o.cast::<Table>()).fields_inline as usize * size_of::<Value>()
        }
        Kind::LuaClosure => LuaClosure::size_for((*o).aux as usize),
        Kind::NativeClosure => NativeClosure::size_for((*o).aux as usize),
        Kind::Upvalue => size_of::<Upvalue>(),
        Kind::Cell => size_of::<Cell>().next_multiple_of(16),
        Kind::Memory => Userdata::size_in_block(o.cast()),
        kind => unreachable!("{kind:?} is boxed"),
    }
}

/// Returns the approximate number of bytes of a boxed object and of everything that it owns outside
/// the heap.
pub(crate) unsafe fn size_of_boxed(o: *mut GcHeader) -> usize {
    match (*o).kind {
        Kind::Thread => size_of::<Thread>() + (*o.cast::<Thread>()).capacity * size_of::<Value>(),
        Kind::Userdata => (*o.cast::<Userdata>()).bytes(),
        Kind::Shape => {
            let keys = &(*o.cast::<LocalShape>()).keys;
            size_of::<LocalShape>() + keys.len() * 12
        }
        Kind::Instance => (*o.cast::<Instance>()).bytes(),
        kind => unreachable!("{kind:?} is not boxed"),
    }
}

/// Visits the references of `o`, except inline caches and transitions of shapes, which are weak.
pub(crate) unsafe fn visit_children<V: Visitor>(o: *mut GcHeader, v: &mut V) {
    match (*o).kind {
        Kind::String => {}
        Kind::Table => {
            let t = o.cast::<Table>();
            visit_table_frame(t, v);
            visit_fields(t, v);
            visit_array(t, 0, usize::MAX, v);
            visit_nodes(t, 0, usize::MAX, v);
        }
        Kind::LuaClosure => {
            let c = o.cast::<LuaClosure>();
            v.pointer((*c).instance);
            for i in 0..(*c).header.aux as usize {
                v.pointer(*LuaClosure::upvalue(c, i));
            }
        }
        Kind::NativeClosure => {
            let c = o.cast::<NativeClosure>();
            for i in 0..(*c).header.aux as usize {
                v.value(NativeClosure::bound(c, i).get());
            }
        }
        Kind::Upvalue => v.value((*o.cast::<Upvalue>()).place.get()),
        Kind::Cell => v.value((&raw mut (*o.cast::<Cell>()).value).get()),
        Kind::Userdata | Kind::Memory => {
            let u = o.cast::<Userdata>();
            v.pointer((*u).meta);
            for value in &*(*u).user_values {
                v.value(*value);
            }
        }
        Kind::Thread => visit_thread(o.cast(), v),
        Kind::Instance => {
            let i = o.cast::<Instance>();
            for value in (*i).constants() {
                v.value(*value);
            }
            for child in (*i).children() {
                v.pointer(*child);
            }
            for site in (*i).sites() {
                v.pointer(site.shape);
            }
            // Caches are weak, but objects that die young leave no reference to the shapes that
            // they went through, and code would miss the transitions after each cycle.
            for e in (*i).field_caches().iter().flat_map(FieldCache::entries) {
                if let EntryKind::Gain(_) = e.kind() {
                    v.cached(e.outcome);
                }
            }
        }
        Kind::Shape => {
            for key in &(*o.cast::<LocalShape>()).keys {
                v.pointer(*key);
            }
            v.pointer((*o.cast::<LocalShape>()).with_meta);
        }
    }
}

/// Visits a table's references apart from its entries, and its buffers.
pub(crate) unsafe fn visit_table_frame<V: Visitor>(t: *mut Table, v: &mut V) {
    v.pointer(std::ptr::with_exposed_provenance_mut::<Table>((*t).meta & !1));
    v.pointer((*t).shape);
    if (*t).fields_cap > (*t).fields_inline {
        v.buffer((*t).fields.cast(), (*t).fields_cap as usize * size_of::<Value>());
    }
    if !(*t).array.is_null() {
        v.buffer((*t).array, Table::kind(t).bytes((*t).array_cap));
    }
    if !(*t).nodes.is_null() {
        v.buffer((*t).nodes.cast(), Table::node_bytes(Table::node_capacity(t)));
    }
}

/// Visits the values of the fields that the shape describes.
pub(crate) unsafe fn visit_fields<V: Visitor>(t: *mut Table, v: &mut V) {
    if !(*t).shape.is_null() {
        for i in 0..(*(*t).shape).count as usize {
            v.value((*t).fields.add(i).get());
        }
    }
}

/// Returns the payloads and tags of an array part whose elements may be collectable; null
/// otherwise.
pub(crate) unsafe fn any_array(t: *mut Table) -> (*mut u64, *mut Tag) {
    if (*t).header.aux != ArrayKind::Any as u8 || (*t).array.is_null() {
        return (std::ptr::null_mut(), std::ptr::null_mut());
    }
    let bits = (*t).array.cast::<u64>();
    (bits, bits.add((*t).array_cap as usize).cast())
}

/// Visits the values of the array part, from element `first` up to but not including `end`.
pub(crate) unsafe fn visit_array<V: Visitor>(t: *mut Table, first: usize, end: usize, v: &mut V) {
    let (bits, tags) = any_array(t);
    if !bits.is_null() {
        for i in first..end.min((*t).array_len as usize) {
            v.value(Value::from_parts(*bits.add(i), *tags.add(i)));
        }
    }
}

/// Returns whether the node, which has a key, has no value (and, in an environment, no cell).
#[inline(always)]
pub(crate) unsafe fn is_empty(n: *mut Node) -> bool {
    (*n).value_tag == Tag::NIL
}

/// Returns the number of nodes of the hash part that are in use.
pub(crate) unsafe fn node_count(t: *mut Table) -> usize {
    Table::node_count(t)
}

/// Visits the keys and values of the hash part, from node `first` up to but not including `end`.
pub(crate) unsafe fn visit_nodes<V: Visitor>(t: *mut Table, first: usize, end: usize, v: &mut V) {
    for i in first..end.min(node_count(t)) {
        let n = (*t).nodes.add(i);
        if !is_empty(n) {
            v.value(Value::from_parts((*n).key_bits, (*n).key_tag));
            v.value(Value::from_parts((*n).value_bits, (*n).value_tag));
        } else if (*n).key_tag.is_collectable() {
            v.empty_node(n);
        }
    }
}

/// Visits a thread's references. The `top` of the running thread must be up to date.
pub(crate) unsafe fn visit_thread<V: Visitor>(th: *mut Thread, v: &mut V) {
    visit_stack(th, v);
    visit_thread_apart_from_stack(th, v);
}

/// Visits a thread's references apart from those in its stack.
pub(crate) unsafe fn visit_thread_apart_from_stack<V: Visitor>(th: *mut Thread, v: &mut V) {
    let mut up = (*th).open;
    while !up.is_null() {
        v.object(up.cast());
        up = *Upvalue::next_open(up);
    }
    v.pointer((*th).resumer);
    v.value((*th).death);
    if let Some(hook) = &(*th).hook {
        v.value(hook.function);
    }
}

/// Visits the live slots of a stack.
///
/// All frames have their registers in their home slots, so every slot below `top` is a value (a
/// frame header has the tag FRAME).
unsafe fn visit_stack<V: Visitor>(th: *mut Thread, v: &mut V) {
    let mut slot = (*th).stack;
    while slot < (*th).top {
        v.value(slot.get());
        slot = slot.add(1);
    }
}
