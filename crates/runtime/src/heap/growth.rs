//! Growth of the lists of the heap and of handles when memory may be short.

/// Appends `item` to `list`. Returns false, leaving the list unchanged, if there is no memory for
/// it.
#[inline(always)]
pub(crate) fn try_push<T>(list: &mut Vec<T>, item: T) -> bool {
    if list.len() == list.capacity() && list.try_reserve(1).is_err() {
        return false;
    }
    list.push(item);
    true
}

/// Appends `item`, after enlarging `list` when less than an eighth of it is free, so that a failure
/// shows while there is still room. Returns false if the list cannot grow and a collection is
/// needed.
pub(super) fn push_early<T>(list: &mut Vec<T>, item: T) -> bool {
    let has_room = has_room(list);
    list.push(item);
    has_room
}

/// Returns whether more than an eighth of `list` is free, after enlarging it if necessary and
/// possible.
pub(crate) fn has_room<T>(list: &mut Vec<T>) -> bool {
    let room = list.capacity() - list.len();
    room > list.capacity() / 8 || list.try_reserve(list.len().max(4)).is_ok()
}
