//! `table.insert`, `remove`, `move`, `pack`, `unpack`.

use perilune_runtime::native::{Cx, NativeResult, Raised, Tab, Val};

use super::access::{LENGTH, READ, WRITE, check, get, plain, plain_for, plain_list, set};
use crate::support::equals;

/// Number of elements moved between two checks whether the script must stop, minus 1.
const POLL_MASK: i64 = 0xFFF;

fn length(cx: &mut Cx) -> Result<i64, Raised> {
    check(cx, 0, READ | WRITE | LENGTH)?;
    match plain_for(cx, 0, LENGTH) {
        Some(t) => Ok(t.len()),
        None => cx.length(0),
    }
}

/// Implements `table.insert(list, [pos,] value)`.
pub(super) fn insert(cx: &mut Cx) -> NativeResult {
    let end = length(cx)?.wrapping_add(1);
    let pos = match cx.top() {
        2 => end,
        3 => {
            let pos = cx.check_int(1)?;
            if (pos as u64).wrapping_sub(1) >= end as u64 {
                return Err(cx.arg_error(1, "position out of bounds"));
            }
            if let Some(t) = plain_list(cx, 0, pos, end.wrapping_sub(1))
                && t.insert_element(cx, pos, cx.get(2))
            {
                return cx.ret(0);
            }
            let mut i = end;
            while i > pos {
                copy(cx, 0, i - 1, 0, i)?;
                i -= 1;
            }
            pos
        }
        _ => return Err(cx.error("wrong number of arguments to 'insert'")),
    };
    if let Some(t) = plain_for(cx, 0, WRITE) {
        t.set_int(cx, pos, cx.get(cx.top() - 1));
    } else {
        set(cx, 0, pos)?;
    }
    cx.ret(0)
}

/// Assigns `b[j] = a[i]` for arguments `a` and `b`.
fn copy(cx: &mut Cx, a: usize, i: i64, b: usize, j: i64) -> Result<(), Raised> {
    if i & POLL_MASK == 0 {
        cx.safepoint()?;
    }
    get(cx, a, i)?;
    set(cx, b, j)
}

/// Implements `table.remove(list [, pos])`.
pub(super) fn remove(cx: &mut Cx) -> NativeResult {
    let size = length(cx)?;
    let mut pos = cx.opt_int(1, size)?;
    if pos != size && (pos as u64).wrapping_sub(1) > size as u64 {
        return Err(cx.arg_error(1, "position out of bounds"));
    }
    // metamethods have no say in removing the last element of the array, if it is there
    let is_last = |t: &Tab<'_>| pos == t.len() && pos == size && !t.get_int(pos).is_nil();
    let t = cx.get(0).as_table().filter(is_last).or_else(|| plain_list(cx, 0, pos, size));
    if let Some(v) = t.and_then(|t| t.remove_element(cx, pos)) {
        return cx.ret1(v);
    }
    get(cx, 0, pos)?;
    while pos < size {
        copy(cx, 0, pos + 1, 0, pos)?;
        pos += 1;
    }
    cx.push(Val::NIL);
    set(cx, 0, pos)?;
    cx.ret(1)
}

/// Implements `table.move(a1, f, e, t [, a2])`.
pub(super) fn move_(cx: &mut Cx) -> NativeResult {
    let (f, e, t) = (cx.check_int(1)?, cx.check_int(2)?, cx.check_int(3)?);
    let to = if cx.get(4).is_nil() { 0 } else { 4 };
    check(cx, 0, READ)?;
    check(cx, to, WRITE)?;
    if e >= f {
        if f <= 0 && e >= i64::MAX.wrapping_add(f) {
            return Err(cx.arg_error(2, "too many elements to move"));
        }
        let n = e - f + 1;
        if t > i64::MAX - n + 1 {
            return Err(cx.arg_error(3, "destination wrap around"));
        }
        let upwards = t > e || t <= f || (to != 0 && !equals(cx, 0, to)?);
        if !move_plain(cx, (f, t, n), to, upwards)? {
            for i in 0..n {
                let i = if upwards { i } else { n - 1 - i };
                copy(cx, 0, f + i, to, t + i)?;
            }
        }
    }
    cx.ret1(cx.get(to))
}

/// Moves elements with primitive access. Returns false if there are metamethods.
fn move_plain(
    cx: &mut Cx,
    (f, t, n): (i64, i64, i64),
    to: usize,
    upwards: bool,
) -> Result<bool, Raised> {
    let mut done = 0;
    loop {
        // A collection may run finalizers, which may give the tables metamethods.
        let (Some(a), Some(b)) = (plain(cx, 0), plain(cx, to)) else {
            if done == 0 {
                return Ok(false);
            }
            for i in done..n {
                let i = if upwards { i } else { n - 1 - i };
                copy(cx, 0, f + i, to, t + i)?;
            }
            return Ok(true);
        };
        let end = n.min(done + POLL_MASK + 1);
        for i in done..end {
            let i = if upwards { i } else { n - 1 - i };
            b.set_int(cx, t + i, a.get_int(f + i));
        }
        if end == n {
            return Ok(true);
        }
        done = end;
        cx.safepoint()?;
    }
}

/// Implements `table.pack(…)`.
pub(super) fn pack(cx: &mut Cx) -> NativeResult {
    let n = cx.top();
    let t = cx.table_of_values(0, 1);
    t.set_name(cx, "n", Val::int(n as i64));
    cx.ret1(t.val())
}

/// Implements `table.unpack(list [, i [, j]])`.
pub(super) fn unpack(cx: &mut Cx) -> NativeResult {
    let from = cx.opt_int(1, 1)?;
    let to = match cx.get(2).is_nil() {
        true => match plain_for(cx, 0, LENGTH) {
            Some(t) => t.len(),
            None => cx.length(0)?,
        },
        false => cx.check_int(2)?,
    };
    if from > to {
        return cx.ret(0);
    }
    let n = (to as u64).wrapping_sub(from as u64);
    if n >= i32::MAX as u64 || cx.reserve(n as usize + 1).is_err() {
        return Err(cx.error("too many results to unpack"));
    }
    let n = n as usize + 1;
    if let Some(t) = plain_list(cx, 0, from, to) {
        cx.push_array(t, from, n)?;
        return cx.ret(n);
    }
    for i in 0..n as i64 {
        if i & POLL_MASK == POLL_MASK {
            cx.safepoint()?;
        }
        cx.index(0, Val::int(from + i).raw())?;
    }
    cx.ret(n)
}
