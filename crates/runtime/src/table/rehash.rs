//! Resizing the array and hash parts together, when the hash part is full or an array has become
//! sparse.

use super::{ArrayKind, Node, Table};
use crate::header::GcHeader;
use crate::state::State;
use crate::string::LuaString;
use crate::value::{Tag, Value};

/// The number of integer keys in each range `(2^(i-1), 2^i]`.
struct Census {
    ranges: [usize; 32],
    total: usize,
}

impl Census {
    fn add(&mut self, key: i64) {
        if (1..=1 << 31).contains(&key) {
            self.ranges[(64 - (key as u64 - 1).leading_zeros()) as usize] += 1;
            self.total += 1;
        }
    }

    /// Adds all keys from `first` to `last`.
    fn add_run(&mut self, first: i64, last: i64) {
        // Each range ends at `high`, and the keys before `next` are added already.
        let (mut next, mut high) = (first.max(1), 1);
        for range in &mut self.ranges {
            let end = last.min(high);
            if next <= end {
                let count = (end - next + 1) as usize;
                *range += count;
                self.total += count;
                next = end + 1;
            }
            high *= 2;
        }
    }

    /// Adds the keys of an array whose elements have these tags, without those that are nil.
    fn add_tags(&mut self, tags: &[Tag]) {
        let (mut low, mut high) = (0, 1);
        for range in &mut self.ranges {
            if low >= tags.len() {
                break;
            }
            let within = &tags[low..high.min(tags.len())];
            let count = Tag::count_live(within);
            *range += count;
            self.total += count;
            low = high;
            high *= 2;
        }
    }

    /// Returns the largest power of two such that an array of that size is worth while, and the
    /// number of keys that this array takes.
    fn best(&self, booleans: bool) -> (usize, usize) {
        let (mut seen, mut size, mut inside) = (0, 0, 0);
        for (i, &n) in self.ranges.iter().enumerate() {
            let candidate = 1usize << i;
            let least = least_in_use(candidate, booleans);
            if least >= self.total {
                break;
            }
            seen += n;
            if seen > least && n > 0 {
                (size, inside) = (candidate, seen);
            }
        }
        (size, inside)
    }
}

/// The size above which an array may be sparse.
const SPARSE: usize = 1024;

/// Returns a bound for the use of an array: it is worth while if more than this many of its `size`
/// elements are in use.
///
/// The bound is a quarter, since nodes for as many keys take more memory: an element takes 9 bytes
/// at most and a node 28. Small arrays have the size that they have in PUC Lua, as programs show
/// their border; those of booleans seldom.
pub(super) fn least_in_use(size: usize, booleans: bool) -> usize {
    let small = if booleans { SmallKeys::MAX } else { SPARSE };
    size / if size > small { 4 } else { 2 }
}

/// The least number of nodes of a table whose keys are computed, and are not integers: it is likely
/// to get more than one.
pub(super) const MIN_NODES: usize = 4;

/// The keys from 1 to 64 that are in use: key `k` is bit `k - 1`.
#[derive(Clone, Copy, Default)]
pub(super) struct SmallKeys(u64);

impl SmallKeys {
    /// The greatest key.
    pub(super) const MAX: usize = 64;

    /// Adds `key` if it is between 1 and `MAX`.
    pub(super) fn add(&mut self, key: i64) {
        if (1..=Self::MAX as i64).contains(&key) {
            self.0 |= 1 << (key - 1);
        }
    }

    /// Returns whether `key`, which is between 1 and `MAX`, is in use.
    fn has(self, key: usize) -> bool {
        self.0 >> (key - 1) & 1 != 0
    }

    /// Returns the number of keys up to `last`, which is at most `MAX`.
    fn count_to(self, last: usize) -> usize {
        let keys = self.0 & u64::MAX.checked_shr((Self::MAX - last) as u32).unwrap_or(0);
        keys.count_ones() as usize
    }

    /// Returns the border that PUC Lua finds in an array of `size` elements, at most `MAX`: its
    /// size, or one less, or the result of a binary search.
    pub(super) fn border(self, size: usize) -> usize {
        if size == 0 || self.has(size) {
            return size;
        }
        let (mut low, mut high) = (0, size);
        if size > 1 && self.has(size - 1) {
            low = size - 1;
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if self.has(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns whether a key above `border` is in use.
    pub(super) fn pass(self, border: usize) -> bool {
        border < Self::MAX && self.0 >> border != 0
    }
}

impl Table {
    /// Inserts a normalised key that is in no part of the table, with the node value `v`, after
    /// resizing the parts. Has no effect on a table that [may not grow](Table::may_grow).
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn rehash(st: *mut State, t: *mut Table, key: Value, v: Value) {
        Table::note_move(st, t);
        if Table::is_full_dictionary(t, key) {
            return Table::enlarge_dictionary(st, t, key, v);
        }
        let mut census = Census { ranges: [0; 32], total: 0 };
        match Table::element_tags(t) {
            Some(tags) => census.add_tags(tags),
            None => census.add_run(1, (*t).array_len.into()),
        }
        let mut booleans = matches!(Table::kind(t), ArrayKind::Empty | ArrayKind::Bool);
        let mut keys = census.total + 1;
        let nodes = (*t).nodes;
        let node_count = Table::node_count(t);
        let run = Table::direct_run(t);
        if let Some(run) = run {
            keys += run.count();
            census.add_run(run.first, run.last);
            booleans &= run.booleans;
        } else {
            for i in 0..node_count {
                let n = nodes.add(i);
                if !Node::value(n).is_nil() {
                    keys += 1;
                    if (*n).key_tag == Tag::INTEGER {
                        census.add((*n).key_bits as i64);
                        booleans &= Node::value(n).is_bool();
                    }
                }
            }
        }
        if key.is_int() {
            census.add(key.as_int());
            booleans &= v.is_bool();
        }
        let (mut size, mut inside) = census.best(booleans);
        if let Some(border) = Table::small_border(t, key, size) {
            (size, inside) = border;
        }
        let capacity = Table::node_capacity(t);
        let direct = Table::direct_capacity(t, key, size, keys - inside, run);
        let wanted = direct.unwrap_or_else(|| Table::wanted_nodes(keys - inside, capacity));
        let room = if booleans { ArrayKind::Bool } else { ArrayKind::Any };
        let new = Table::node_bytes(wanted) + room.bytes(size as u32);
        let old = Table::node_bytes(capacity) + Table::kind(t).bytes((*t).array_cap);
        if !Table::may_grow(st, old, new) {
            return;
        }

        // Find how far the array will extend, whether it will have holes, and whether it can hold
        // the values that join it.
        let kind = Table::kind(t);
        let spills = size < (*t).array_len as usize;
        let old_len = if spills { Table::len_within(t, size) } else { (*t).array_len as usize };
        let (mut last, mut joining, mut alike) = (old_len, 0, true);
        let mut note = |key: Value, v: Value| {
            if key.is_int() && key.as_int() >= 1 && key.as_int() <= size as i64 {
                last = last.max(key.as_int() as usize);
                joining += 1;
                alike &= kind == ArrayKind::of(v);
            }
        };
        note(key, v);
        let scan = if inside > 0 { node_count } else { 0 };
        for i in 0..scan {
            let n = nodes.add(i);
            if !Node::value(n).is_nil() {
                note(Node::key(n), Node::value(n));
            }
        }
        // All memory is allocated before the contents change.
        if last > old_len {
            let has_holes = last - old_len > joining;
            let kind = match kind {
                _ if booleans => room,
                kind if alike && !has_holes => kind,
                _ => ArrayKind::Any,
            };
            if !Table::prepare_array(st, t, size, kind) {
                return Table::refuse(st, new);
            }
        }
        if !Table::alloc_nodes(st, t, wanted) {
            return Table::refuse(st, new);
        }
        if direct.is_some() {
            Table::make_direct(t);
        }
        if spills {
            Table::spill_array(st, t, size);
            debug_assert_eq!((*t).array_len as usize, old_len);
        }
        if last > old_len {
            Table::extend_array(t, last);
        }
        if direct.is_some() && run.is_some() && (*t).array_len == 0 {
            Table::move_direct(t, nodes, node_count);
        } else {
            for i in 0..node_count {
                let n = nodes.add(i);
                if !Node::value(n).is_nil() {
                    let v = Value::from_parts((*n).value_bits, (*n).value_tag);
                    Table::re_enter(st, t, Node::key(n), v);
                }
            }
        }
        Table::re_enter(st, t, key, v);
        if !nodes.is_null() {
            (*st).free_buffer(nodes.cast(), Table::node_bytes(capacity));
        }
        Table::migrate(st, t);
        (*st).barrier(t.cast());
    }

    /// Returns whether the table has no array, and neither an integer nor a dead key: adding `key`
    /// only takes more nodes.
    unsafe fn is_full_dictionary(t: *mut Table, key: Value) -> bool {
        let nodes = (*t).nodes;
        (*t).array_len == 0
            && !key.is_int()
            && !Table::is_direct(t)
            && (0..Table::node_count(t)).all(|i| {
                let n = nodes.add(i);
                (*n).key_tag != Tag::INTEGER && !Node::value(n).is_nil()
            })
    }

    /// Doubles the number of nodes, and inserts `key` with the node value `v`. The nodes keep their
    /// order.
    unsafe fn enlarge_dictionary(st: *mut State, t: *mut Table, key: Value, v: Value) {
        let count = Table::node_count(t);
        let wanted = (count + 1).next_power_of_two().max(MIN_NODES);
        let (new, old) = (Table::node_bytes(wanted), Table::node_bytes(Table::node_capacity(t)));
        if !Table::may_grow(st, old, new) {
            return;
        }
        if !Table::reserve_nodes(st, t, wanted - count, std::iter::empty()) {
            return Table::refuse(st, new);
        }
        let entered = Table::insert_node(t, key, v);
        debug_assert!(entered);
    }

    /// Returns where the array ends and how many keys it takes, if it does not end at the last key
    /// up to `size`. Programs show the length of small arrays with holes, so their length is that
    /// of PUC Lua, and the keys after it are in the hash part. Larger arrays keep their elements
    /// for speed.
    unsafe fn small_border(t: *mut Table, key: Value, size: usize) -> Option<(usize, usize)> {
        if size > SmallKeys::MAX {
            return None;
        }
        let mut keys = Table::small_elements(t, size);
        let mut add = |key: Value| {
            if key.is_int() && key.as_int() <= size as i64 {
                keys.add(key.as_int());
            }
        };
        add(key);
        for i in 0..Table::node_count(t) {
            let n = (*t).nodes.add(i);
            if !Node::value(n).is_nil() {
                add(Node::key(n));
            }
        }
        let border = keys.border(size);
        keys.pass(border).then(|| (border, keys.count_to(border)))
    }

    /// Returns the keys of the first `size` elements, at most [`SmallKeys::MAX`], that are not nil.
    unsafe fn small_elements(t: *mut Table, size: usize) -> SmallKeys {
        let mut keys = SmallKeys::default();
        for i in 0..size.min((*t).array_len as usize) {
            if !Table::element(t, i as u32).is_nil() {
                keys.add(i as i64 + 1);
            }
        }
        keys
    }

    /// Ends the array of a constructor with `size` positional items, whose last element is the last
    /// item that is not nil, at the border that PUC Lua finds. The elements after it move to the
    /// hash part, if there is memory; the table has no nodes yet.
    pub(super) unsafe fn settle_items(st: *mut State, t: *mut Table, size: usize) {
        if size > SmallKeys::MAX || size == (*t).array_len as usize {
            return;
        }
        let keys = Table::small_elements(t, size);
        let border = keys.border(size);
        let rest = keys.count_to((*t).array_len as usize) - keys.count_to(border);
        if rest > 0 && Table::reserve_nodes(st, t, rest, std::iter::empty()) {
            Table::spill_array(st, t, border);
        }
    }

    /// Returns the number of nodes to allocate for `keys` when there were `old`. A hash part that
    /// does not grow, because some of its keys no longer have a value, gets room for about as many
    /// keys again. Otherwise a hash part in which keys are added and removed would be rebuilt for
    /// each of them.
    fn wanted_nodes(keys: usize, old: usize) -> usize {
        match keys.next_power_of_two() {
            _ if keys == 0 => 0,
            size if size <= old => size * 2,
            size => size,
        }
    }

    /// Inserts a key, which is not in the table, into the part where it belongs. There must be room
    /// for it.
    #[inline]
    unsafe fn re_enter(st: *mut State, t: *mut Table, key: Value, node_value: Value) {
        if key.is_int() && (key.as_int() as u64).wrapping_sub(1) < (*t).array_len as u64 {
            let stored = Table::put_element(st, t, key.as_int() as u32 - 1, node_value);
            debug_assert!(stored, "the array was converted before");
        } else {
            let entered = Table::insert_node(t, key, node_value);
            debug_assert!(entered);
        }
    }

    /// Moves the array elements from `size` up to the hash part, which has room for them, and
    /// shrinks the array to `size`.
    unsafe fn spill_array(st: *mut State, t: *mut Table, size: usize) {
        for i in size as u32..(*t).array_len {
            let v = Table::element(t, i);
            if !v.is_nil() {
                let entered = Table::insert_node(t, Value::int(i as i64 + 1), v);
                debug_assert!(entered);
            }
        }
        (*t).array_len = size as u32;
        Table::trim(t);
        Table::resize_array(st, t, size as u32);
    }

    /// Makes room for `extra` more keys in the hash part, and drops its dead keys. Inserts the
    /// `fields` after the integer keys and before the others, in the order in which a traversal
    /// visited them before. Returns false, without an effect, if there is no memory.
    pub(super) unsafe fn reserve_nodes(
        st: *mut State,
        t: *mut Table,
        extra: usize,
        fields: impl Iterator<Item = (Value, Value)>,
    ) -> bool {
        let (nodes, capacity) = ((*t).nodes, Table::node_capacity(t));
        let node_count = Table::node_count(t);
        let live = (0..node_count).filter(|&i| !Node::value(nodes.add(i)).is_nil()).count();
        Table::note_move(st, t);
        if !Table::alloc_nodes(st, t, live + extra) {
            return false;
        }
        let enter_old = |integers: bool| {
            for i in 0..node_count {
                let n = nodes.add(i);
                if !Node::value(n).is_nil() && ((*n).key_tag == Tag::INTEGER) == integers {
                    Table::re_enter_node(t, n);
                }
            }
        };
        enter_old(true);
        for (key, v) in fields {
            let entered = Table::insert_node(t, key, v);
            debug_assert!(entered);
        }
        enter_old(false);
        if !nodes.is_null() {
            (*st).free_buffer(nodes.cast(), Table::node_bytes(capacity));
        }
        true
    }

    /// Inserts the key of `n`, a copy or a node of another buffer, with its value. There must be
    /// room for it.
    pub(super) unsafe fn re_enter_node(t: *mut Table, n: *mut Node) {
        let v = Value::from_parts((*n).value_bits, (*n).value_tag);
        let entered = Table::insert_node(t, Node::key(n), v);
        debug_assert!(entered);
    }

    /// Records that the values of `t` move, or that its metatable changes, which invalidates caches
    /// of chains.
    #[inline(always)]
    pub(super) unsafe fn note_move(st: *mut State, t: *mut Table) {
        if (*t).header.flags & super::WATCHED != 0 {
            Table::bump(st, t);
        }
    }

    /// Records that `key` is added to the hash part or to the shape, which may invalidate caches of
    /// chains. The values of other keys do not move.
    #[inline(always)]
    pub(super) unsafe fn note_new_key(st: *mut State, t: *mut Table, key: Value) {
        if (*t).header.flags & super::WATCHED != 0 && Table::is_cached_key(t, key) {
            Table::bump(st, t);
        }
    }

    /// Returns whether a cache may rely on the key of a watched table: on that of a field that is
    /// looked up along chains, or on that of an event.
    unsafe fn is_cached_key(t: *mut Table, key: Value) -> bool {
        if !key.is_string() {
            return false;
        }
        (*key.as_string()).uses & LuaString::INHERITED != 0 || Table::is_event(t, key)
    }

    /// Returns whether the string `key` of `t` may be the name of an event, if `t` is a metatable.
    unsafe fn is_event(t: *mut Table, key: Value) -> bool {
        (*t).header.flags & GcHeader::IS_META != 0
            && LuaString::bytes(key.as_string()).starts_with(b"__")
    }

    /// Invalidates caches of metatable chains and of absent metamethods that depend on `t`.
    #[cold]
    pub(super) unsafe fn bump(st: *mut State, t: *mut Table) {
        (*t).absent = 0;
        (*st).advance_epoch();
    }

    /// Records that the value of the string key `name` of `t` is about to change from `old` to
    /// `new`.
    #[inline(always)]
    pub(super) unsafe fn note_write(
        st: *mut State,
        t: *mut Table,
        name: Value,
        old: Value,
        new: Value,
    ) {
        if (*t).header.flags & super::WATCHED != 0 {
            Table::note_write_cold(st, t, name, old, new);
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn note_write_cold(st: *mut State, t: *mut Table, name: Value, old: Value, new: Value) {
        if !Table::is_cached_key(t, name) {
            return;
        }
        // Other stores of nil do not invalidate caches: caches read the holder's value, and a table
        // before it in the chain only loses a field. But caches have copies of functions.
        if Table::is_event(t, name)
            || old.is_nil() && !new.is_nil()
            || matches!(old.tag(), Tag::FUNCTION | Tag::NATIVE)
        {
            Table::bump(st, t);
        }
    }
}
