//! Access to the array parts of tables for native functions that move and sort their elements.

use std::ptr;

use super::{Cx, Tab, Val};
use crate::state::State;
use crate::table::{ArrayKind, Table};
use crate::value::{Tag, Value};

/// The array part of a table whose elements are all integers or all floats.
pub enum NumberArray<'a> {
    /// Integers.
    Int(&'a mut [i64]),
    /// Floats.
    Float(&'a mut [f64]),
}

impl Cx {
    /// Passes the array part of the table at value `i` to `f`, if all elements are integers or all
    /// are floats. `f` also receives a function that tells whether the script must stop.
    pub fn with_numbers<R>(
        &mut self,
        i: usize,
        f: impl FnOnce(NumberArray<'_>, &dyn Fn() -> bool) -> R,
    ) -> Option<R> {
        // SAFETY: N1, N2; both kinds have `array_len` elements of 8 bytes. `&mut self` excludes all
        // other access while `f` runs, and `f` can only read the state's requests to stop.
        unsafe {
            let t = self.get(i).as_table()?.ptr();
            let n = (*t).array_len as usize;
            let st = self.state();
            let stop = || (*st).piece_of_work();
            let numbers = match Table::kind(t) {
                ArrayKind::Int => {
                    NumberArray::Int(std::slice::from_raw_parts_mut((*t).array.cast(), n))
                }
                ArrayKind::Float => {
                    NumberArray::Float(std::slice::from_raw_parts_mut((*t).array.cast(), n))
                }
                _ => return None,
            };
            Some(f(numbers, &stop))
        }
    }
}

impl<'a> Tab<'a> {
    /// Inserts `v` before element `pos` of the array part and moves the elements from `pos` to the
    /// end of the array part up by one, without metamethods. Does so only if `pos` is in the array
    /// part and the last element can move within it; returns whether it did.
    pub fn insert_element(self, cx: &Cx, pos: i64, v: Val<'_>) -> bool {
        // SAFETY: N2; `pos` is checked against the array.
        unsafe {
            let t = self.ptr();
            let n = i64::from((*t).array_len);
            if pos < 1 || pos > n {
                return false;
            }
            let st = &mut *cx.state();
            let last = Table::get_int(t, n);
            Table::set_int(st, t, n + 1, last);
            if i64::from((*t).array_len) <= n {
                // The new last element is not in the array part. It does no harm: the general path
                // writes it again.
                return false;
            }
            move_elements(st, t, pos as usize - 1, pos as usize, (n - pos) as usize);
            Table::set_int(st, t, pos, v.raw());
            true
        }
    }

    /// Removes element `pos` of the array part and moves the elements after it down by one. Returns
    /// `None`, without changing the table, if `pos` is not in the array part.
    pub fn remove_element(self, cx: &Cx, pos: i64) -> Option<Val<'a>> {
        // SAFETY: N2; `pos` is checked against the array.
        unsafe {
            let t = self.ptr();
            let n = i64::from((*t).array_len);
            if pos < 1 || pos > n {
                return None;
            }
            let v = Table::get_int(t, pos);
            let st = &mut *cx.state();
            move_elements(st, t, pos as usize, pos as usize - 1, (n - pos) as usize);
            Table::set_int(st, t, n, Value::NIL);
            Some(Val::new(v))
        }
    }
}

/// Copies `count` elements of the array part; both ranges are below `array_len`. The collector may
/// have traced a large table partially, and elements could move from the untraced to the traced
/// part, so this counts as a store.
unsafe fn move_elements(st: *mut State, t: *mut Table, from: usize, to: usize, count: usize) {
    if Table::kind(t) == ArrayKind::Bool {
        return ptr::copy((*t).array.add(from), (*t).array.add(to), count);
    }
    (*st).barrier(t.cast());
    let payloads = (*t).array.cast::<u64>();
    ptr::copy(payloads.add(from), payloads.add(to), count);
    if Table::kind(t) == ArrayKind::Any {
        let tags = (*t).array.add((*t).array_cap as usize * 8).cast::<Tag>();
        ptr::copy(tags.add(from), tags.add(to), count);
    }
}
