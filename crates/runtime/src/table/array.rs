//! The array part.
//!
//! Int and Float arrays hold numbers of one kind, and all elements are present. An Any array has
//! the tags of its elements, a byte each, after the payloads. The payloads have the same layout in
//! all three, so converting an array to Any copies them unchanged. Bool arrays hold booleans, whose
//! payloads are 0, and store only their tags. Elements of Any and Bool arrays may be nil; for
//! instance, sieves begin at index 2.

use std::ptr;

use super::rehash::least_in_use;
use super::{ArrayKind, DEAD_KEY, Node, Table};
use crate::heap::round;
use crate::state::State;
use crate::value::{SlotExt, Tag, Value};

/// The least capacity of an allocated array.
pub const MIN_CAP: u32 = 4;
/// The greatest capacity.
const MAX_CAP: u32 = 1 << 31;

impl ArrayKind {
    /// Returns the kind of array that holds only values like `v`.
    #[inline]
    pub fn of(v: Value) -> ArrayKind {
        ArrayKind::of_tag(v.tag())
    }

    /// Returns the kind of array that holds only values with this tag, or one like it.
    #[inline]
    pub const fn of_tag(tag: Tag) -> ArrayKind {
        match tag {
            Tag::INTEGER => ArrayKind::Int,
            Tag::FLOAT => ArrayKind::Float,
            Tag::FALSE | Tag::TRUE => ArrayKind::Bool,
            _ => ArrayKind::Any,
        }
    }

    /// Returns the size in bytes of the buffer of an array of `cap` elements.
    #[inline]
    pub const fn bytes(self, cap: u32) -> usize {
        match self {
            ArrayKind::Empty => 0,
            ArrayKind::Int | ArrayKind::Float => cap as usize * 8,
            ArrayKind::Any => cap as usize * 9,
            ArrayKind::Bool => cap as usize,
        }
    }

    /// Returns the size in bytes of the block of memory that holds such a buffer.
    pub const fn block_bytes(self, cap: u32) -> usize {
        round(self.bytes(cap))
    }

    /// Returns the kind of an array of this kind after a store of `v`, not nil.
    #[inline]
    fn with(self, v: Value) -> ArrayKind {
        let kind = ArrayKind::of(v);
        if self == ArrayKind::Empty || self == kind { kind } else { ArrayKind::Any }
    }
}

const _: () = assert!(
    Tag::INTEGER.0 - ArrayKind::Int as u8 == 2 && Tag::FLOAT.0 - ArrayKind::Float as u8 == 2,
    "the tag of numbers follows from the kind"
);
const _: () = assert!(
    (ArrayKind::Int as u8) < ArrayKind::Any as u8
        && (ArrayKind::Float as u8) < ArrayKind::Any as u8
        && Tag::ITER.0 - ArrayKind::Bool as u8 == 2,
    "no value has the tag that would follow from the kind of booleans"
);

impl Table {
    /// Returns the kind of the array part.
    #[inline(always)]
    pub unsafe fn kind(t: *mut Table) -> ArrayKind {
        match (*t).header.aux {
            0 => ArrayKind::Empty,
            1 => ArrayKind::Int,
            2 => ArrayKind::Float,
            3 => ArrayKind::Any,
            _ => ArrayKind::Bool,
        }
    }

    /// Returns the address of the payloads.
    #[inline(always)]
    unsafe fn payloads(t: *mut Table) -> *mut u64 {
        (*t).array.cast()
    }

    /// Returns the address of the tags of an Any array.
    #[inline(always)]
    unsafe fn tags(t: *mut Table) -> *mut Tag {
        (*t).array.add((*t).array_cap as usize * 8).cast()
    }

    /// Returns the address of the tags of a Bool array.
    #[inline(always)]
    unsafe fn booleans(t: *mut Table) -> *mut Tag {
        (*t).array.cast()
    }

    /// Returns the tags of the elements of an array that may have holes, which must not change
    /// while they are in use, and `None` for other arrays.
    pub(super) unsafe fn element_tags<'a>(t: *mut Table) -> Option<&'a [Tag]> {
        let tags = match Table::kind(t) {
            ArrayKind::Any => Table::tags(t),
            ArrayKind::Bool => Table::booleans(t),
            _ => return None,
        };
        Some(std::slice::from_raw_parts(tags, (*t).array_len as usize))
    }

    /// Returns element `i`, counted from 0, which must be below `array_len`.
    #[inline(always)]
    pub unsafe fn element(t: *mut Table, i: u32) -> Value {
        let kind = (*t).header.aux;
        if kind < ArrayKind::Any as u8 {
            Value::from_parts(*Table::payloads(t).add(i as usize), Tag(kind + 2))
        } else if kind == ArrayKind::Any as u8 {
            let tag = *Table::tags(t).add(i as usize);
            Value::from_parts(*Table::payloads(t).add(i as usize), tag)
        } else {
            Value::from_parts(0, *Table::booleans(t).add(i as usize))
        }
    }

    /// Writes an element of an array other than Any and Empty if `v` is of its kind. Returns
    /// whether it did.
    #[inline(always)]
    unsafe fn write_alike(t: *mut Table, i: u32, v: Value) -> bool {
        let kind = (*t).header.aux;
        if v.tag() == Tag(kind + 2) {
            *Table::payloads(t).add(i as usize) = v.bits();
            return true;
        }
        let fits = kind == ArrayKind::Bool as u8 && v.is_bool();
        if fits {
            *Table::booleans(t).add(i as usize) = v.tag();
        }
        fits
    }

    /// Writes an element of an Any array, without a barrier.
    #[inline(always)]
    unsafe fn write_any(t: *mut Table, i: u32, v: Value) {
        *Table::payloads(t).add(i as usize) = v.bits();
        *Table::tags(t).add(i as usize) = v.tag();
    }

    /// Makes an element of an array that may have holes nil.
    #[inline(always)]
    unsafe fn write_nil(t: *mut Table, i: u32) {
        match Table::kind(t) {
            ArrayKind::Bool => *Table::booleans(t).add(i as usize) = Tag::NIL,
            _ => Table::write_any(t, i, Value::NIL),
        }
    }

    /// Returns a border, which is the result of the length operator without metamethods (manual
    /// 3.4.7).
    #[inline(always)]
    pub unsafe fn length(t: *mut Table) -> i64 {
        (*t).array_len as i64
    }

    /// Returns whether the elements from `from` to `to` are in the array part, and none is nil.
    pub unsafe fn is_full(t: *mut Table, from: i64, to: i64) -> bool {
        from >= 1
            && to <= i64::from((*t).array_len)
            && Table::element_tags(t)
                .is_none_or(|tags| (from..=to).all(|i| tags[i as usize - 1] != Tag::NIL))
    }

    /// Stores `v` under the integer key `i`.
    #[inline(always)]
    pub unsafe fn set_int(st: *mut State, t: *mut Table, i: i64, v: Value) {
        if !Table::set_int_at_once(st, t, i, v) {
            Table::set_int_slow(st, t, i, v);
        }
    }

    /// Handles the cases of [`Table::set_int`] that need no allocation. Returns false, without an
    /// effect, in other cases.
    #[inline(always)]
    pub(super) unsafe fn set_int_at_once(st: *mut State, t: *mut Table, i: i64, v: Value) -> bool {
        let at = (i as u64).wrapping_sub(1);
        let kind = (*t).header.aux;
        if at < (*t).array_len as u64 {
            if kind != ArrayKind::Any as u8 {
                if Table::write_alike(t, at as u32, v) {
                    return true;
                }
            } else if !v.is_nil() {
                Table::write_any(t, at as u32, v);
                (*st).barrier_of_store(t, v);
                return true;
            }
            if v.is_nil() {
                return Table::clear_at_once(t, at as u32);
            }
        } else if at == (*t).array_len as u64
            && at < (*t).array_cap as u64
            && (!Table::has_elements(t) || Table::is_free(t, i))
        {
            if kind != ArrayKind::Any as u8 {
                if kind != ArrayKind::Empty as u8 && Table::write_alike(t, at as u32, v) {
                    (*t).array_len = at as u32 + 1;
                    return true;
                }
            } else if !v.is_nil() {
                Table::write_any(t, at as u32, v);
                (*t).array_len = at as u32 + 1;
                (*st).barrier_of_store(t, v);
                return true;
            }
        } else if at == 0 && kind == ArrayKind::Empty as u8 && !v.is_nil() {
            return Table::begin_array(st, t, v);
        }
        false
    }

    /// Stores `v`, not nil, as the first element of an Empty array. Returns false, without an
    /// effect, if that takes more than allocating a small array.
    #[inline(never)]
    unsafe fn begin_array(st: *mut State, t: *mut Table, v: Value) -> bool {
        let is_small = (*t).array_cap <= MIN_CAP && !Table::has_elements(t);
        is_small
            && Table::start_array(st, t, ArrayKind::of(v), MIN_CAP)
            && Table::set_int_at_once(st, t, 1, v)
    }

    /// Clears element `at`, which is below `array_len`. Returns false, without an effect, if the
    /// array must be converted first.
    #[inline]
    unsafe fn clear_at_once(t: *mut Table, at: u32) -> bool {
        if at + 1 == (*t).array_len {
            (*t).array_len = at;
            Table::trim(t);
            return true;
        }
        let may_have_holes = matches!(Table::kind(t), ArrayKind::Any | ArrayKind::Bool);
        if may_have_holes {
            Table::write_nil(t, at);
        }
        may_have_holes
    }

    /// Returns whether the hash part has no value for `i`, the next key of the array, nor for the
    /// key after it, which would have to move to the array.
    #[inline(never)]
    unsafe fn is_free(t: *mut Table, i: i64) -> bool {
        Table::live_node(t, i).is_null() && Table::live_node(t, i + 1).is_null()
    }

    /// Stores `v` under the integer key `i` in the cases that the fast path does not handle.
    #[inline(never)]
    pub unsafe fn set_int_slow(st: *mut State, t: *mut Table, i: i64, v: Value) {
        let at = (i as u64).wrapping_sub(1);
        let len = (*t).array_len;
        let becomes_nil = v.is_nil() && at < (len as u64).saturating_sub(1);
        let is_stored = !v.is_nil() && at <= len as u64;
        if (is_stored || becomes_nil) && !Table::may_hold(st, t, v) {
            return;
        }
        if at < len as u64 {
            let at = at as u32;
            if !v.is_nil() {
                if !Table::put_element(st, t, at, v) {
                    Table::refuse(st, ArrayKind::Any.bytes(len));
                }
            } else if !Table::clear_at_once(t, at) {
                if !Table::make_any(st, t, (*t).array_cap) {
                    return Table::refuse(st, ArrayKind::Any.bytes(len));
                }
                Table::write_any(t, at, v);
            }
        } else if at == len as u64 && len < MAX_CAP && Table::live_node(t, i).is_null() {
            if !v.is_nil() {
                Table::append(st, t, v);
            }
        } else if at < (*t).array_cap as u64 && !v.is_nil() {
            Table::set_ahead(st, t, at as u32, v);
        } else {
            Table::set_node(st, t, Value::int(i), v);
        }
    }

    /// Stores `v`, not nil, in element `at`, which is allocated but beyond the end of the array. A
    /// statement such as `t[i], t[i+1] = f()` stores its last element first.
    ///
    /// Elements in between become holes, if there are few: their number bounds the cost of this
    /// store, and of finding the new end when the element is cleared again.
    unsafe fn set_ahead(st: *mut State, t: *mut Table, at: u32, v: Value) {
        const MAX_HOLES: u32 = 256;
        // Each hole may have a value in the hash part, where a search costs more.
        const MAX_SEARCHES: u32 = 32;
        let len = (*t).array_len;
        let hashed = Table::has_elements(t);
        // A key that has a value stays where it is, since a traversal may be at that position.
        if at - len > if hashed { MAX_SEARCHES } else { MAX_HOLES }
            || !Table::live_node(t, at as i64 + 1).is_null()
            || !Table::reaches(t, at + 1)
        {
            return Table::set_node(st, t, Value::int(at as i64 + 1), v);
        }
        let kind = Table::kind(t);
        let only_booleans = matches!(kind, ArrayKind::Empty | ArrayKind::Bool) && v.is_bool();
        let to = if only_booleans && !hashed { ArrayKind::Bool } else { ArrayKind::Any };
        if kind != to {
            let (old, new) = (kind.bytes((*t).array_cap), to.bytes((*t).array_cap));
            if !Table::may_grow(st, old, new) {
                return;
            }
            if !Table::prepare_array(st, t, (*t).array_cap as usize, to) {
                return Table::refuse(st, new);
            }
        }
        for i in len..at {
            let n = if hashed { Table::live_node(t, i as i64 + 1) } else { ptr::null_mut() };
            if n.is_null() {
                Table::write_nil(t, i);
            } else {
                Table::write_any(t, i, Node::value(n));
                Table::kill_node(t, n);
            }
        }
        if to == ArrayKind::Any {
            Table::write_any(t, at, v);
        } else {
            let written = Table::write_alike(t, at, v);
            debug_assert!(written);
        }
        (*t).array_len = at + 1;
        (*st).barrier(t.cast());
        Table::migrate(st, t);
    }

    /// Returns whether the array of PUC Lua would reach the key `i` beyond the end of this array
    /// when a value is stored under it: it is a power of two in size, and more than half in use, or
    /// was so when its last element was stored. Programs test `#t` of small tables with holes; an
    /// array of more than 64 elements reaches any key, and so does one with much room, which was
    /// reserved or used before.
    unsafe fn reaches(t: *mut Table, i: u32) -> bool {
        const SMALL: u32 = 64;
        let len = (*t).array_len;
        if len > SMALL {
            return true;
        }
        let size = len.next_power_of_two();
        if i <= size || (*t).array_cap > MIN_CAP.max(2 * size) {
            return true;
        }
        let used = (0..len).filter(|&at| !Table::element(t, at).is_nil()).count() as u32;
        used + 1 > i.next_power_of_two() / 2
    }

    /// Returns the node of the integer key `i`, which is above 0, if the key has a value in the
    /// hash part, or null.
    unsafe fn live_node(t: *mut Table, i: i64) -> *mut Node {
        if !Table::may_have_node(t, i) {
            return ptr::null_mut();
        }
        let n = Table::node_of_int(t, i);
        if n.is_null() || (*n).value_tag == Tag::NIL { ptr::null_mut() } else { n }
    }

    /// Removes the key of `n`, an integer whose value is now in the array, from the hash part.
    unsafe fn kill_node(t: *mut Table, n: *mut Node) {
        (*n).value_tag = Tag::NIL;
        (*n).value_bits = 0;
        // A traversal that clears the element must not find this node again.
        (*n).key_tag = DEAD_KEY;
        Table::note_moved_to_array(t, n, (*n).key_bits as i64);
    }

    /// Returns whether the array holds values like `v`, or can be converted so that it does.
    unsafe fn may_hold(st: *mut State, t: *mut Table, v: Value) -> bool {
        match Table::kind(t) {
            ArrayKind::Empty | ArrayKind::Any => true,
            kind if kind == ArrayKind::of(v) => true,
            kind => {
                let cap = (*t).array_cap;
                Table::may_grow(st, kind.bytes(cap), ArrayKind::Any.bytes(cap))
            }
        }
    }

    /// Stores `v`, not nil, in element `i` below `array_len` of an array of any kind. Returns
    /// false, without an effect, if the array would have to be converted and there is no memory.
    pub(super) unsafe fn put_element(st: *mut State, t: *mut Table, i: u32, v: Value) -> bool {
        if Table::kind(t) != ArrayKind::Any {
            if Table::write_alike(t, i, v) {
                return true;
            }
            if !Table::make_any(st, t, (*t).array_cap) {
                return false;
            }
        }
        Table::write_any(t, i, v);
        (*st).barrier_of_store(t, v);
        true
    }

    /// Stores `v`, not nil, under the key `array_len + 1`.
    unsafe fn append(st: *mut State, t: *mut Table, v: Value) {
        if (*t).array_len == (*t).array_cap && Table::is_sparse(t) {
            // Most of the array is nil, as in a queue whose head and tail advance: rehash it, or it
            // would keep growing.
            return Table::rehash(st, t, Value::int((*t).array_len as i64 + 1), v);
        }
        if Table::push(st, t, v) {
            Table::migrate(st, t);
        }
    }

    /// Appends `v`, not nil, to the elements. Returns false, without an effect, if there is no
    /// memory for it.
    unsafe fn push(st: *mut State, t: *mut Table, v: Value) -> bool {
        let len = (*t).array_len;
        let cap = (*t).array_cap;
        let full = len == cap;
        let kind = Table::kind(t).with(v);
        // Numbers may become any values later.
        let room = if kind == ArrayKind::Bool { kind } else { ArrayKind::Any };
        let wanted = match Table::kind(t) {
            _ if !full => Some(cap),
            // The expected number of elements is ignored when there is no memory for it.
            ArrayKind::Empty => Table::grown(st, room, cap, MIN_CAP).or(Some(MIN_CAP)),
            _ => Table::grown(st, room, cap, MIN_CAP),
        };
        let Some(wanted) = wanted else {
            Table::refuse(st, room.bytes(cap));
            return false;
        };
        let ready = match Table::kind(t) {
            ArrayKind::Empty => Table::start_array(st, t, kind, wanted),
            old if old != kind => Table::make_any(st, t, wanted),
            _ if full => Table::resize_array(st, t, wanted),
            _ => true,
        };
        if !ready {
            Table::refuse(st, room.bytes(wanted));
            return false;
        }
        if kind == ArrayKind::Any {
            Table::write_any(t, len, v);
            (*st).barrier_of_store(t, v);
        } else {
            let written = Table::write_alike(t, len, v);
            debug_assert!(written);
        }
        (*t).array_len = len + 1;
        true
    }

    /// Moves the integer keys that follow the last element from the hash part to the array. They
    /// stay where they are when there is no memory for a larger array.
    pub(super) unsafe fn migrate(st: *mut State, t: *mut Table) {
        while Table::has_elements(t) && (*t).array_len < MAX_CAP {
            let n = Table::live_node(t, (*t).array_len as i64 + 1);
            if n.is_null() || !Table::push(st, t, Node::value(n)) {
                return;
            }
            Table::kill_node(t, n);
        }
    }

    /// Returns whether so little of the (full) array is in use that it is not worth while.
    unsafe fn is_sparse(t: *mut Table) -> bool {
        let len = (*t).array_len as usize;
        let Some(tags) = Table::element_tags(t).filter(|_| len >= 2 * MIN_CAP as usize) else {
            return false;
        };
        Tag::count_live(tags) <= least_in_use(len, false)
    }

    /// Lowers `array_len` to the last element that is not nil, after elements were cleared in
    /// place.
    pub(crate) unsafe fn trim(t: *mut Table) {
        if let Some(mut tags) = Table::element_tags(t) {
            while let [rest @ .., Tag::NIL] = tags {
                tags = rest;
            }
            (*t).array_len = tags.len() as u32;
        }
    }

    /// Allocates the first buffer of the array. Returns false, without an effect, if there is no
    /// memory for it.
    unsafe fn start_array(st: *mut State, t: *mut Table, kind: ArrayKind, cap: u32) -> bool {
        let cap = cap.clamp(1, MAX_CAP);
        let array = (*st).alloc_buffer(kind.bytes(cap));
        if array.is_null() {
            return false;
        }
        (*t).array = array;
        (*t).array_cap = cap;
        (*t).header.aux = kind as u8;
        (*st).barrier(t.cast());
        true
    }

    /// Changes the capacity of an array of any kind to `cap`, which is at least its length. Returns
    /// false, without an effect, if there is no memory.
    #[inline(never)]
    pub(super) unsafe fn resize_array(st: *mut State, t: *mut Table, cap: u32) -> bool {
        let kind = Table::kind(t);
        let cap = cap.min(MAX_CAP);
        debug_assert!(cap >= (*t).array_len);
        if kind == ArrayKind::Empty || cap == (*t).array_cap {
            (*t).array_cap = cap;
            return true;
        }
        let old_cap = (*t).array_cap;
        let (old_bytes, new_bytes) = (kind.bytes(old_cap), kind.bytes(cap));
        let len = (*t).array_len as usize;
        if cap == 0 {
            (*st).free_buffer((*t).array, old_bytes);
            (*t).array = ptr::null_mut();
            (*t).header.aux = ArrayKind::Empty as u8;
        } else {
            // The tags of an Any array follow its payloads, so they move: before the buffer
            // shrinks, or after it has grown.
            let tags = |array: *mut u8, cap: u32| array.add(cap as usize * 8);
            let mut array = (*t).array;
            if kind == ArrayKind::Any && cap < old_cap {
                ptr::copy(tags(array, old_cap), tags(array, cap), len);
            }
            array = (*st).resize_buffer(array, old_bytes, new_bytes);
            if array.is_null() {
                if kind == ArrayKind::Any && cap < old_cap {
                    ptr::copy(tags((*t).array, cap), tags((*t).array, old_cap), len);
                }
                return false;
            }
            if kind == ArrayKind::Any && cap > old_cap {
                ptr::copy(tags(array, old_cap), tags(array, cap), len);
            }
            (*t).array = array;
        }
        (*t).array_cap = cap;
        (*st).barrier(t.cast());
        true
    }

    /// Converts the array to an Any array with the capacity `cap`, which is at least its length.
    /// Returns false, without an effect, if there is no memory.
    #[inline(never)]
    pub(super) unsafe fn make_any(st: *mut State, t: *mut Table, cap: u32) -> bool {
        match Table::kind(t) {
            ArrayKind::Empty => Table::start_array(st, t, ArrayKind::Any, cap),
            ArrayKind::Any => Table::resize_array(st, t, cap),
            kind => {
                let cap = cap.min(MAX_CAP);
                let old_bytes = kind.bytes((*t).array_cap);
                let new_bytes = ArrayKind::Any.bytes(cap);
                let array = (*st).resize_buffer((*t).array, old_bytes, new_bytes);
                if array.is_null() {
                    return false;
                }
                let len = (*t).array_len as usize;
                let tags = array.add(cap as usize * 8);
                if kind == ArrayKind::Bool {
                    // The payloads overwrite the old tags.
                    ptr::copy_nonoverlapping(array, tags, len);
                    ptr::write_bytes(array.cast::<u64>(), 0, len);
                } else {
                    ptr::write_bytes(tags, kind as u8 + 2, len);
                }
                (*t).array = array;
                (*t).array_cap = cap;
                (*t).header.aux = ArrayKind::Any as u8;
                (*st).barrier(t.cast());
                true
            }
        }
    }

    /// Makes the capacity of the array at least `cap`, and converts it to `kind`, which is its kind
    /// already, or Any, or any kind if the array is Empty. Returns false if there is no memory for
    /// it. The elements are unchanged in either case.
    pub(super) unsafe fn prepare_array(
        st: *mut State,
        t: *mut Table,
        cap: usize,
        kind: ArrayKind,
    ) -> bool {
        let cap = (cap as u32).max((*t).array_cap);
        match Table::kind(t) {
            old if old == kind => Table::resize_array(st, t, cap),
            ArrayKind::Empty => Table::start_array(st, t, kind, cap),
            _ => Table::make_any(st, t, cap),
        }
    }

    /// Returns the length that the array has when only its first `size` elements remain.
    pub(super) unsafe fn len_within(t: *mut Table, size: usize) -> usize {
        let mut len = size.min((*t).array_len as usize);
        while len > 0 && Table::element(t, len as u32 - 1).is_nil() {
            len -= 1;
        }
        len
    }

    /// Raises `array_len` to `len`, at most the capacity; the caller stores the new elements next.
    pub(super) unsafe fn extend_array(t: *mut Table, len: usize) {
        let old = (*t).array_len as usize;
        if matches!(Table::kind(t), ArrayKind::Any | ArrayKind::Bool) {
            for i in old..len {
                Table::write_nil(t, i as u32);
            }
        }
        (*t).array_len = len as u32;
    }

    /// Like [`Table::set_list`], for a list of unknown length: its capacity grows in proportion, so
    /// that many calls do not copy the list many times.
    ///
    /// # Safety
    /// As for [`Table::set_list`].
    pub unsafe fn append_list(
        st: *mut State,
        t: *mut Table,
        start: u32,
        src: *const Value,
        count: usize,
    ) {
        let cap = (*t).array_cap;
        let twice = cap.saturating_mul(2).min(MAX_CAP);
        let grows = start as usize + count > cap as usize;
        if grows && (*st).heap.memory.may_have(ArrayKind::Any.bytes(twice)) {
            // without memory for that, the list grows by what it needs
            let _ = Table::resize_array(st, t, twice);
        }
        Table::set_list(st, t, start, src, count);
    }

    /// Stores the `count` values at `src` under the keys from `start + 1` on: the positional items
    /// of a table constructor.
    ///
    /// # Safety
    /// `src` is valid for reads of `count` values.
    pub unsafe fn set_list(
        st: *mut State,
        t: *mut Table,
        start: u32,
        src: *const Value,
        count: usize,
    ) {
        let src = src.cast_mut();
        let len = (*t).array_len;
        let end = start as usize + count;
        if !(*t).nodes.is_null() || start < len || end > MAX_CAP as usize {
            for i in 0..count {
                Table::set_int(st, t, start as i64 + 1 + i as i64, src.add(i).get());
            }
            return;
        }
        if count == 0 {
            return;
        }
        let first = ArrayKind::of(src.get());
        let alike = first != ArrayKind::Any
            && start == len
            && (1..count).all(|i| ArrayKind::of(src.add(i).get()) == first)
            && (Table::kind(t) == first || Table::kind(t) == ArrayKind::Empty);
        let cap = (end as u32).max((*t).array_cap);
        let fits =
            cap == (*t).array_cap && Table::kind(t) == if alike { first } else { ArrayKind::Any };
        if !fits && !(*st).heap.memory.may_have(ArrayKind::Any.bytes(cap)) {
            return Table::refuse(st, ArrayKind::Any.bytes(cap));
        }
        if alike {
            let ready = if Table::kind(t) == ArrayKind::Empty {
                Table::start_array(st, t, first, cap)
            } else {
                Table::resize_array(st, t, cap)
            };
            if !ready {
                return Table::refuse(st, ArrayKind::Any.bytes(cap));
            }
            for i in 0..count {
                let written = Table::write_alike(t, start + i as u32, src.add(i).get());
                debug_assert!(written);
            }
            (*t).array_len = end as u32;
            return;
        }
        if !Table::make_any(st, t, cap) {
            return Table::refuse(st, ArrayKind::Any.bytes(cap));
        }
        for i in len..start {
            Table::write_any(t, i, Value::NIL);
        }
        for i in 0..count {
            Table::write_any(t, start + i as u32, src.add(i).get());
        }
        (*t).array_len = end as u32;
        Table::trim(t);
        Table::settle_items(st, t, end);
        (*st).barrier(t.cast());
    }

    /// Makes room for `array` elements and, in a dictionary, `keys` more keys, if there is memory.
    pub unsafe fn resize_hint(st: *mut State, t: *mut Table, array: u32, keys: u32) {
        let memory = &(*st).heap.memory;
        if !memory.may_have(ArrayKind::Any.bytes(array) + Table::node_bytes(keys as usize)) {
            return;
        }
        if array > (*t).array_cap {
            Table::resize_array(st, t, array);
        }
        if keys > 0 && (*t).shape.is_null() {
            Table::reserve_nodes(st, t, keys as usize, std::iter::empty());
        }
    }
}
