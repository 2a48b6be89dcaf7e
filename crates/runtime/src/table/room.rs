//! Growing tables within the memory limit.
//!
//! A hash part that is full doubles. Where somebody can collect and fail, a store asks first whether there is room for that; other stores (of the host, and of
//! functions that store few values) grow the table, and the next safepoint finds the limit exceeded. An array part near the limit grows by little.

use super::{ArrayKind, KeyError, Table};
use crate::state::State;
use crate::string::LuaString;
use crate::value::Value;

/// Bytes for which a table grows without asking.
const LITTLE: usize = 1 << 14;

/// Why a store was not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The value cannot be a key.
    Key(KeyError),
    /// So many bytes would be needed.
    NoRoom(usize),
}

/// Who stores asks for room.
#[derive(Default)]
pub(crate) struct Asking {
    /// A store that would need much room is refused.
    on: bool,
    /// So many bytes were refused.
    refused: usize,
}

impl Table {
    /// [`Table::set`] within the memory limit.
    ///
    /// # Errors
    /// If `key` is nil or NaN, or the table would have to grow by more than there is room for. Nothing was stored then.
    ///
    /// # Safety
    /// As [`Table::set`].
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

    /// [`Table::set_int`] within the memory limit; whether it was done.
    ///
    /// # Safety
    /// As [`Table::set_int`].
    #[inline(always)]
    pub unsafe fn set_int_within(st: *mut State, t: *mut Table, i: i64, v: Value) -> bool {
        Table::set_int_at_once(st, t, i, v) || Table::set_within(st, t, Value::int(i), v).is_ok()
    }

    /// [`Table::set_str`] within the memory limit, for a short string; whether it was done.
    ///
    /// # Safety
    /// As [`Table::set_str`].
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

    /// Whether a table may get so many bytes, some of them in place of `old` ones that it has still; refuses the store if not.
    pub(super) unsafe fn may_grow(st: *mut State, old: usize, new: usize) -> bool {
        let within = !(*st).heap.asking.on || new <= old || new < LITTLE || (*st).check_room(new);
        if within && (*st).heap.memory.may_have(new) {
            return true;
        }
        Table::refuse(st, new);
        false
    }

    /// A store is not done for want of `bytes` bytes. A caller that did not ask gets an error from the next safepoint.
    #[cold]
    pub(super) unsafe fn refuse(st: *mut State, bytes: usize) {
        if (*st).heap.asking.on {
            (*st).heap.asking.refused = bytes;
        } else {
            (*st).heap.memory.note_failed();
            (*st).request(crate::state::poll::GC);
        }
    }

    /// Elements that a full array of `cap` is to have room for: twice as many, or few more when memory is short. `None` when there is no memory for
    /// these either.
    pub(super) unsafe fn grown(
        st: *mut State,
        kind: ArrayKind,
        cap: u32,
        least: u32,
    ) -> Option<u32> {
        // The old buffer stays until its contents are in the new one.
        let has = |cap| (*st).heap.memory.may_have(kind.bytes(cap));
        let wanted = Table::within_limit(st, kind, cap, least);
        if has(wanted) {
            return Some(wanted);
        }
        let few = cap.saturating_add(cap / 64).max(cap.saturating_add(least));
        has(few).then_some(few)
    }

    /// As [`Table::grown`], as far as the memory limit is concerned.
    unsafe fn within_limit(st: *mut State, kind: ArrayKind, cap: u32, least: u32) -> u32 {
        let wanted = cap.saturating_mul(2).max(least);
        let more = kind.bytes(wanted) - kind.bytes(cap);
        let left = (*st).memory_limit().saturating_sub((*st).gc_count_bytes());
        if more < LITTLE || more <= left {
            return wanted;
        }
        // half of what is left, as long as that is much
        let fits = left / 2 / ArrayKind::Any.bytes(1);
        if fits > cap as usize / 64 {
            return cap + (fits as u32).min(wanted - cap);
        }
        // the next safepoint collects, and raises the error if that was in vain
        (*st).request(crate::state::poll::GC);
        cap.saturating_add(cap / 64).max(cap.saturating_add(least))
    }
}
