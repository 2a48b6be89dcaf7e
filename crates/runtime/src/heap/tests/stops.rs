//! Tests that the pauses of the program are bounded.

use super::super::marker::MOST_PASSES;
use super::super::pacing::STEP;
use super::*;
use crate::header::GcHeader;
use crate::heap::Phase;
use crate::heap::stop::Stop;
use crate::string::LuaString;

/// Returns a table with as many elements as make it big, and more, which marking has scanned.
unsafe fn scanned_big_table(st: &mut State) -> *mut Table {
    let t = table(st);
    for i in 1..=2 * st.heap.slices.big as i64 {
        let v = loose_table(st);
        Table::set_int(st, t, i, v);
    }
    st.start_cycle();
    assert!(st.heap.marker.propagate_all());
    assert!((*t).header.flags & GcHeader::UNLOGGED != 0);
    t
}

unsafe fn is_marked(st: &State, v: Value) -> bool {
    st.heap.marker.is_marked(v.as_header())
}

#[test]
fn stores_into_a_big_table_mark_the_stored() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let t = scanned_big_table(st);
        let (element, key, value) = (loose_table(st), loose_table(st), loose_table(st));
        Table::set_int(st, t, 5, element);
        assert!(is_marked(st, element) && !st.heap.marker.again.contains(&t.cast()));
        // A larger hash part has to be scanned.
        Table::set(st, t, Value::float(0.5), value).expect("a valid key");
        assert!(st.heap.marker.again.contains(&t.cast()));
        assert!(st.atomic());
        st.verify_heap();
        assert!(st.finish_sweep());
        // A key is stored as well.
        let t = scanned_big_table(st);
        for i in 0..3 {
            Table::set(st, t, Value::float(i as f64 + 0.5), Value::TRUE).expect("a valid key");
        }
        st.heap.marker.again.clear();
        (*t).header.flags |= GcHeader::UNLOGGED;
        Table::set(st, t, key, Value::TRUE).expect("a valid key");
        assert!(is_marked(st, key) && st.heap.marker.again.is_empty());
    });
}

/// Without the mark the walk over the heap finds that the object is lost.
#[test]
#[should_panic(expected = "is reachable")]
fn a_lost_mark_is_found() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let t = scanned_big_table(st);
        st.lose_barriers();
        let element = loose_table(st);
        Table::set_int(st, t, 5, element);
        assert!(!is_marked(st, element) && st.atomic());
        st.verify_heap();
    });
}

#[test]
fn a_big_weak_table_does_not_keep_what_is_stored() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let t = weak_table(st, "v");
        for i in 1..=2 * st.heap.slices.big as i64 {
            Table::set_int(st, t, i, Value::TRUE);
        }
        st.gc_set_generational(0, 0);
        assert!((*t).header.flags & GcHeader::UNLOGGED != 0);
        let v = loose_table(st);
        Table::set_int(st, t, 5, v);
        assert!(!is_marked(st, v));
        st.generational_step(true);
        assert!(Table::get_int(t, 5).is_nil());
    });
}

#[test]
fn big_old_tables_keep_young_objects() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let t = scanned_big_table(st);
        st.gc_set_generational(0, 0);
        let v = loose_table(st);
        let inner = loose_table(st);
        Table::set_int(st, t, 5, v);
        Table::set_int(st, v.as_table(), 1, inner);
        assert!(st.heap.marker.again.iter().all(|&o| o != t.cast()));
        st.generational_step(true);
        assert!(is_marked(st, inner));
        st.verify_swept();
        assert_eq!(entries(st, Table::get_int(Table::get_int(t, 5).as_table(), 1).as_table()), 0);
    });
}

/// The stack that ran when the atomic step stopped is scanned by the next one, also if another
/// thread runs by then.
#[test]
fn a_stack_changes_after_the_atomic_step_has_stopped() {
    let mut stopped = 0;
    for fuse in 0..100 {
        let st = Fresh::new();
        // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
        unsafe {
            let st = &mut *st.0;
            let other = Thread::create(st, false);
            push(st, Value::thread(other));
            for mode in ["k", "v", "kv"] {
                let t = weak_table(st, mode);
                let (key, value) = (loose_table(st), loose_table(st));
                Table::set(st, t, key, value).expect("a valid key");
            }
            st.start_cycle();
            assert!(st.heap.marker.propagate_all());
            st.heap.marker.stop = Stop::watch(std::ptr::null(), fuse);
            if st.atomic() {
                break;
            }
            stopped += 1;
            st.heap.marker.stop = Stop::new();
            let v = loose_table(st);
            push(st, v);
            Thread::save_registers(st);
            (*other).resumer = st.main_thread;
            st.barrier(other.cast());
            Thread::load_registers(st, other);
            assert!(st.heap.marker.propagate_all() && st.atomic());
            st.verify_heap();
            Thread::save_registers(st);
            Thread::load_registers(st, st.main_thread);
        }
    }
    assert!(stopped > 1);
}

#[test]
fn logged_objects_are_traced_in_slices() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let t = table(st);
        let n = 40 * st.heap.slices.logged as i64;
        for i in 1..=n {
            let v = loose_table(st);
            Table::set_int(st, t, i, v);
        }
        st.start_cycle();
        assert!(st.heap.marker.propagate_all());
        for i in 1..=n {
            let v = loose_table(st);
            Table::set_int(st, Table::get_int(t, i).as_table(), 1, v);
        }
        assert_eq!(st.heap.marker.again.len(), n as usize);
        st.gc_set_step_multiplier(1);
        let mut left = Vec::new();
        while st.heap.phase == Phase::Mark {
            left.push(st.heap.marker.again.len());
            st.heap.pace.soon();
            st.gc_poll().expect("there is no limit");
        }
        // The log was emptied some slices before the atomic step.
        assert!(left.len() > 4 && left[left.len() - 2..].iter().all(|&n| n <= 4), "{left:?}");
    });
}

/// Slices grow when the program logs more objects between two of them than one traces.
#[test]
fn marking_outpaces_a_program_that_only_stores() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let (t, n) = (table(st), 2000);
        for i in 1..=n {
            let v = loose_table(st);
            Table::set_int(st, t, i, v);
            Table::set_int(st, v.as_table(), 1, Value::TRUE);
        }
        st.gc_set_step_multiplier(1);
        st.start_cycle();
        let start = st.heap.marker.work;
        assert!(st.heap.marker.propagate_all());
        let one = (st.heap.marker.work - start) / n as usize;
        // Tracing a table again, with the table that was stored into it, is four times the work.
        let stores = st.heap.pace.slice_budget(true) / (3 * one);
        let mut next = 0;
        while st.heap.phase == Phase::Mark {
            for _ in 0..stores {
                next = next % n + 1;
                let v = loose_table(st);
                Table::set_int(st, Table::get_int(t, next).as_table(), 1, v);
            }
            st.heap.pace.soon();
            st.gc_poll().expect("there is no limit");
        }
        let passes = st.heap.marker.passes;
        assert!(passes > 4 && passes < MOST_PASSES, "{passes}");
    });
}

#[test]
fn young_strings_are_visited_alone() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let strings = |st: &State| st.strings.count;
        for i in 0..3_000 {
            let s = Value::string(st.intern(format!("an old string {i}").as_bytes()));
            if i % 3 == 0 {
                push(st, s);
                st.top = st.top.sub((i > 30) as usize);
            }
        }
        st.gc_set_generational(0, 0);
        let before = strings(st);
        for round in 0..3 {
            for i in 0..2_000 {
                st.intern(format!("a young string {round} {i}").as_bytes());
            }
            let kept = st.intern(b"the string that is kept");
            push(st, Value::string(kept));
            st.generational_step(true);
            // Few dead ones stay, in the lines of live objects.
            assert!(strings(st) < before + 40, "{} {before}", strings(st));
            assert_eq!(st.intern(b"the string that is kept"), kept);
            st.verify_swept();
        }
    });
}

/// Strings that stay in the table because of others in their lines can be found again, in all
/// phases, after many cycles.
#[test]
fn dead_strings_are_found_again() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let name = |i: usize| format!("name {i}");
        let kept = table(st);
        for round in 0..if cfg!(miri) { 3 } else { 450 } {
            // Each third string lives for a few rounds.
            for i in 0..60 {
                let s = Value::string(st.intern(name(i).as_bytes()));
                if (i + round / 5) % 3 == 0 {
                    Table::set_int(st, kept, i as i64 + 1, s);
                } else {
                    Table::set_int(st, kept, i as i64 + 1, Value::FALSE);
                }
                if i == round % 60 {
                    st.gc_step(0);
                }
            }
            if round % 3 == 0 && matches!(st.heap.phase, Phase::Idle | Phase::Mark) {
                st.start_cycle_again();
            }
            if round % 7 == 0 {
                st.gc_full();
                st.verify_swept();
            }
            for i in 0..60 {
                let v = Table::get_int(kept, i as i64 + 1);
                if v.is_string() {
                    assert_eq!(LuaString::bytes(v.as_string()), name(i).as_bytes());
                    assert!(st.intern(name(i).as_bytes()) == v.as_string());
                }
            }
        }
    });
}

#[test]
fn huge_objects_are_freed_in_slices() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        st.heap.set_checked(false);
        st.intern(&vec![b'x'; 40 << 20]);
        st.start_cycle();
        assert!(st.heap.marker.propagate_all() && st.atomic());
        let mut slices = 0;
        while st.heap.phase != Phase::Idle {
            st.sweep_slice();
            slices += 1;
        }
        assert!(slices >= 8, "{slices}");
    });
}

#[test]
fn the_work_for_a_large_object_is_divided() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        st.start_cycle();
        let usual = st.heap.pace.slice_budget(true);
        st.charge(1 << 30);
        assert_eq!(st.heap.pace.slice_budget(false), usual);
        assert!(st.heap.pace.is_behind());
        // The next slices make up for it, without more allocation.
        let mut slices = 1;
        while st.heap.pace.is_behind() {
            assert_eq!(st.heap.pace.slice_budget(false), usual);
            slices += 1;
        }
        assert!((9 << 30) / usual < slices && slices < (11 << 30) / usual, "{slices}");
        assert!(usual <= 16 * STEP as usize);
    });
}

/// Finalizers that wait do not make cycles begin early.
#[test]
fn cycles_begin_when_they_are_due() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        for i in 0..100 {
            let t = loose_table(st).as_table();
            finalizable(st, t, i);
        }
        st.collect();
        st.charge(4 << 20);
        st.heap.pace.live = 64 << 20;
        st.heap.pace.wait_for_cycle();
        st.heap.pace.postpone();
        assert!(st.heap.finalizers.has_pending());
        let mut polls = 0;
        while st.heap.finalizers.has_pending() {
            let wait = st.heap.pace.trigger - st.heap.pace.balance;
            st.charge(wait);
            st.gc_poll().expect("there is no limit");
            assert_eq!(st.heap.phase, Phase::Idle);
            polls += 1;
        }
        assert!(polls >= 10);
        st.charge(1 << 30);
        st.gc_poll().expect("there is no limit");
        assert_ne!(st.heap.phase, Phase::Idle);
    });
}
