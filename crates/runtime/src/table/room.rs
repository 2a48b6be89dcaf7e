//! Growth of tables within the memory limit.
//!
//! A full hash part doubles its size. A store whose caller can collect and raise an error first
//! checks whether there is room for the larger hash part. Other stores (by the host, and by
//! functions that store few values) grow the table, and the next safepoint detects that the limit
//! is exceeded. An array part near the limit grows in small steps.

use super::{ArrayKind, Asking, KeyError, Table};
use crate::state::State;
use crate::string::LuaString;
use crate::value::Value;

/// Number of bytes by which a table may grow without a check.
const LITTLE: usize = 1 << 14;

/// The reason why a store was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The value is not a valid key.
    Key(KeyError),
    /// The store would need this many bytes.
    NoRoom(usize),
}

impl Table {
    /// Like [`Table::set`], but respects the memory limit.
    ///
    /// # Errors
    /// Returns an error, and stores nothing, if `key` is nil or NaN, or if the table would have to
    /// grow by more than there is room for.
    ///
    /// # Safety
    /// As for [`Table::set`].
    #[inline(never)]
    pub unsafe fn set_within(
        st: *mut State,
        t: *mut Table,
        key: Value,
        v: Value,
    ) -> Result<(), Refused> {
        (*st).heap.asking = Asking { on: true, refused: 0 };
        let r = Table::set(st, t, key, v);
        let Asking { refused, .. } = std::mem::take(&mut (*st).heap.asking);
        match r {
            Err(e) => Err(Refused::Key(e)),
            Ok(()) if refused > 0 => Err(Refused::NoRoom(refused)),
            Ok(()) => Ok(()),
        }
    }

    /// Like [`Table::set_int`], but respects the memory limit. Returns whether the value was
    /// stored.
    ///
    /// # Safety
    /// As for [`Table::set_int`].
    #[inline(always)]
    pub unsafe fn set_int_within(st: *mut State, t: *mut Table, i: i64, v: Value) -> bool {
        Table::set_int_at_once(st, t, i, v)
            || Table::set_int_node_at_once(st, t, i, v)
            || Table::set_within(st, t, Value::int(i), v).is_ok()
    }

    /// Like [`Table::set_str`] for a short string, but respects the memory limit. Returns whether
    /// the value was stored.
    ///
    /// # Safety
    /// As for [`Table::set_str`].
    #[inline(always)]
    pub unsafe fn set_short_within(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        v: Value,
    ) -> bool {
        Table::set_short_at_once(st, t, name, v)
            || Table::set_within(st, t, Value::string(name), v).is_ok()
    }

    /// Stores `v` under the integer key `i`, respecting the memory limit, if that needs no
    /// metamethod. Otherwise returns false and changes nothing.
    ///
    /// # Safety
    /// As for [`Table::set_int`].
    #[inline(always)]
    pub unsafe fn set_int_plainly(st: *mut State, t: *mut Table, i: i64, v: Value) -> bool {
        match Table::lacks_newindex(t) {
            true => Table::set_int_within(st, t, i, v),
            false => Table::set_existing_int(st, t, i, v),
        }
    }

    /// Like [`Table::set_int_plainly`], for a short string.
    ///
    /// # Safety
    /// As for [`Table::set_str`].
    #[inline(always)]
    pub unsafe fn set_short_plainly(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        v: Value,
    ) -> bool {
        match Table::lacks_newindex(t) {
            true => Table::set_short_within(st, t, name, v),
            false => Table::set_existing_str(st, t, name, v),
        }
    }

    /// Returns whether a table may allocate `new` bytes, which replace its present `old` bytes. If
    /// not, refuses the store.
    pub(super) unsafe fn may_grow(st: *mut State, old: usize, new: usize) -> bool {
        let within = !(*st).heap.asking.on || new <= old || new < LITTLE || (*st).check_room(new);
        if within && (*st).heap.memory.may_have(new) {
            return true;
        }
        Table::refuse(st, new);
        false
    }

    /// Refuses a store that needs `bytes` bytes. If the caller did not request a check, the next
    /// safepoint raises an error.
    #[cold]
    pub(super) unsafe fn refuse(st: *mut State, bytes: usize) {
        if (*st).heap.asking.on {
            (*st).heap.asking.refused = bytes;
        } else {
            (*st).skip_for_memory();
        }
    }

    /// Returns the new capacity for a full array of capacity `cap`: twice as many elements, or a
    /// few more when memory is short. Returns `None` when there is no memory even for these.
    pub(super) unsafe fn grown(
        st: *mut State,
        kind: ArrayKind,
        cap: u32,
        least: u32,
    ) -> Option<u32> {
        // The old buffer is needed until its contents are copied.
        let has = |cap| (*st).heap.memory.may_have(kind.bytes(cap));
        let wanted = Table::within_limit(st, kind, cap, least);
        if has(wanted) {
            return Some(wanted);
        }
        let few = cap.saturating_add(cap / 64).max(cap.saturating_add(least));
        has(few).then_some(few)
    }

    /// Like [`Table::grown`], but considers the memory limit only.
    unsafe fn within_limit(st: *mut State, kind: ArrayKind, cap: u32, least: u32) -> u32 {
        let wanted = cap.saturating_mul(2).max(least);
        let more = kind.bytes(wanted) - kind.bytes(cap);
        let left = (*st).memory_limit().saturating_sub((*st).gc_count_bytes());
        if more < LITTLE || more <= left {
            return wanted;
        }
        // Take half of the remaining memory, as long as that is a considerable part of the array.
        let fits = left / 2 / kind.bytes(1);
        if fits > cap as usize / 64 {
            return cap + (fits as u32).min(wanted - cap);
        }
        // The next safepoint collects, and raises the error if that frees too little.
        (*st).request(crate::state::poll::GC);
        cap.saturating_add(cap / 64).max(cap.saturating_add(least))
    }
}
