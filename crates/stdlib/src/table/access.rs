//! Access to arguments that are tables or have the required metamethods.

use perilune_runtime::meta::Event;
use perilune_runtime::native::{Cx, Raised, Tab, Val};

/// The operation of a function on its argument: it reads elements.
pub(super) const READ: u8 = 1;
/// It writes elements.
pub(super) const WRITE: u8 = 2;
/// It takes the length.
pub(super) const LENGTH: u8 = 4;

/// Checks that argument `i` is a table, or has the required metamethods.
pub(super) fn check(cx: &Cx, i: usize, what: u8) -> Result<(), Raised> {
    let v = cx.get(i);
    if v.as_table().is_some() {
        return Ok(());
    }
    let has = |bit, event| what & bit == 0 || !cx.metamethod(v, event).is_nil();
    let stands_in = cx.metatable_of(v).is_some()
        && has(READ, Event::Index)
        && has(WRITE, Event::NewIndex)
        && has(LENGTH, Event::Len);
    if stands_in { Ok(()) } else { Err(cx.type_error(i, "table")) }
}

/// Returns argument `i` if it is a table without metamethods for these operations.
#[inline]
pub(super) fn plain(cx: &Cx, i: usize) -> Option<Tab<'_>> {
    plain_for(cx, i, READ | WRITE | LENGTH)
}

/// Returns argument `i` if it is a table without metamethods for `what`. Objects, whose classes
/// have an `__index`, can be written to in this way, and elements that they have can be read.
#[inline]
pub(super) fn plain_for(cx: &Cx, i: usize, what: u8) -> Option<Tab<'_>> {
    let t = cx.get(i).as_table()?;
    if !t.has_meta() {
        return Some(t);
    }
    let free = |bit, event| what & bit == 0 || cx.metamethod(t.val(), event).is_nil();
    let is_free =
        free(READ, Event::Index) && free(WRITE, Event::NewIndex) && free(LENGTH, Event::Len);
    is_free.then_some(t)
}

/// Returns argument `i` if it is a table whose elements from `from` to `to` can be read and written
/// without metamethods: it has none, or an `__index` that is not asked as all these are there.
#[inline]
pub(super) fn plain_list(cx: &Cx, i: usize, from: i64, to: i64) -> Option<Tab<'_>> {
    let t = plain_for(cx, i, WRITE | LENGTH)?;
    let is_plain =
        !t.has_meta() || cx.metamethod(t.val(), Event::Index).is_nil() || t.is_full(from, to);
    is_plain.then_some(t)
}

/// Pushes `argument[k]`.
pub(super) fn get(cx: &mut Cx, i: usize, k: i64) -> Result<(), Raised> {
    cx.index(i, Val::int(k).raw())
}

/// Assigns the last value to `argument[k]`, and pops it.
pub(super) fn set(cx: &mut Cx, i: usize, k: i64) -> Result<(), Raised> {
    cx.set_index(i, Val::int(k).raw())
}
