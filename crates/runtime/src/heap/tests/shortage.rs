//! A state whose own allocator fails.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use super::*;
use crate::heap::Allocator;
use crate::state::poll;

/// An allocator that knows its blocks, and some of whose allocations fail.
#[derive(Default)]
struct Limited {
    /// The size of each block.
    blocks: HashMap<usize, usize>,
    /// Allocations so far.
    count: usize,
    /// The number of the first allocation that fails, from 1, and how many do.
    first: usize,
    failures: usize,
}

unsafe extern "C" fn limited(
    data: *mut c_void,
    block: *mut c_void,
    old: usize,
    new: usize,
) -> *mut c_void {
    let this = &mut *data.cast::<Limited>();
    if !block.is_null() {
        assert_eq!(this.blocks.get(&block.addr()), Some(&old), "a block of another size");
    }
    if new > old {
        this.count += 1;
        if this.count.checked_sub(this.first).is_some_and(|since| since < this.failures) {
            return null_mut();
        }
    }
    let p = Allocator::global().call(block, old, new);
    this.blocks.remove(&block.addr());
    if new > 0 {
        this.blocks.insert(p.addr(), new);
    }
    p
}

/// Makes tables, strings, an array and a large stack; polls as the interpreter does. Returns the
/// number of errors, and the number of elements that were stored in `root`.
unsafe fn work(st: &mut State, root: *mut Table) -> (usize, i64) {
    let (mut errors, mut stored) = (0, 0);
    let numbers = table(st);
    for i in 1..=if cfg!(miri) { 300 } else { 12_000 } {
        Table::set_int(st, numbers, i, Value::int(i));
        let t = loose_table(st);
        Table::set_int(st, t.as_table(), 1, Value::int(i));
        if i % 3 == 0 {
            Table::set_int(st, root, stored + 1, t);
            let text = Value::string(st.intern(format!("string {i}").as_bytes()));
            Table::set_int(st, t.as_table(), 2, text);
            let long = Value::string(st.intern(&[b'x'; 500]));
            Table::set_int(st, t.as_table(), 1 << 40, long);
        }
        let due = st.poll.load(Ordering::Relaxed) & poll::GC != 0;
        errors += usize::from(due && st.gc_poll().is_err());
        stored = i64::from((*root).array_len);
        if errors == 20 {
            break;
        }
    }
    errors += usize::from(State::reserve(st, 20_000).is_err());
    (errors, stored)
}

#[test]
fn an_allocator_that_fails() {
    let mut allocations = 0;
    let mut errors = 0;
    for failures in [0, 1, 8, usize::MAX] {
        let mut n = 1;
        while n == 1 || failures > 0 && n <= allocations {
            let mut own = Limited::default();
            // SAFETY: the allocator outlives the state, which only this thread uses.
            unsafe {
                let allocator = Allocator::new(limited, (&raw mut own).cast());
                let st = State::create_with(EngineShared::new(), &VM, allocator);
                let data = &raw mut own;
                ((*data).count, (*data).first, (*data).failures) = (0, n, failures);
                let root = table(&mut *st);
                let (failed, stored) = work(&mut *st, root);
                if failures == 0 {
                    assert_eq!(failed, 0);
                    allocations = (*data).count;
                }
                errors += failed;
                (*data).failures = 0;

                // It has memory again: nothing is lost, and nothing fails.
                let _ = (*st).gc_poll();
                (*st).gc_full();
                (*st).verify_heap();
                for i in 1..=stored {
                    let t = Table::get_int(root, i).as_table();
                    assert!(Table::get_int(t, 1).as_int() > 0);
                }
                let again = table(&mut *st);
                assert_eq!(work(&mut *st, again).0, 0, "{failures} failures from {n}");
                State::destroy(st);
                assert!((*data).blocks.is_empty(), "{failures} failures from {n}");
            }
            n += match n {
                _ if cfg!(miri) => 4,
                ..30 => 1,
                _ => n / 8,
            };
        }
    }
    assert!(allocations > 10 && errors > 0, "{allocations} allocations, {errors} errors");
}
