//! The phase Resurrect, with a program that runs between its slices.

use super::*;
use crate::header::{GcHeader, Kind};
use crate::heap::Phase;
use crate::upvalue::Upvalue;

/// Makes `n` objects with finalizers, of which each third is kept in the table `kept`. The others
/// refer to a chain of tables with their number at its end.
unsafe fn make_objects(st: &mut State, kept: *mut Table, n: i64) {
    for i in 1..=n {
        let t = loose_table(st).as_table();
        finalizable(st, t, i);
        let (inner, end) = (loose_table(st), loose_table(st));
        Table::set_int(st, end.as_table(), 1, Value::int(i));
        Table::set_int(st, inner.as_table(), 1, end);
        set_name(st, t, "inner", inner);
        if i % 3 == 0 {
            Table::set_int(st, kept, i, Value::table(t));
        }
    }
}

/// Returns the number at the end of the chain of an object.
unsafe fn number(st: &mut State, object: Value) -> i64 {
    let inner = get_name(st, object.as_table(), "inner").as_table();
    Table::get_int(Table::get_int(inner, 1).as_table(), 1).as_int()
}

/// Marks what is reachable, so that the phase Resurrect begins.
unsafe fn mark(st: &mut State) {
    st.heap.slices.resurrection = 0;
    if st.heap.pace.generational {
        st.start_young_cycle()
    } else {
        st.start_cycle()
    }
    assert!(st.heap.marker.propagate_all() && st.atomic());
    assert_eq!(st.heap.phase, Phase::Resurrect);
    st.verify_heap();
}

/// Numbers that are expected of `make_objects`, in the order of finalization.
fn dead(n: i64) -> Vec<i64> {
    (1..=n).rev().filter(|i| i % 3 != 0).collect()
}

#[test]
fn objects_are_found_and_marked_in_slices() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let n = if cfg!(miri) { 60 } else { 200 };
        for generational in [false, true] {
            let kept = table(st);
            if generational {
                st.gc_set_generational(0, 0);
            }
            make_objects(st, kept, n);
            mark(st);
            let (mut slices, mut new) = (0, 0);
            while st.heap.phase == Phase::Resurrect {
                assert!(!st.heap.finalizers.has_pending() || st.heap.marker.gray.stack.is_empty());
                // Meanwhile the program makes others.
                let t = loose_table(st).as_table();
                new += 1;
                finalizable(st, t, 1000 + new);
                Table::set_int(st, kept, 1000 + new, Value::table(t));
                st.sweep_slice();
                slices += 1;
            }
            // There are 16 objects in a slice, and four lists of them, apart from the marking.
            assert!(slices > 4 * n / 16, "{slices}");
            assert!(st.finish_sweep());
            st.verify_swept();
            let pending: Vec<Value> = st.heap.finalizers.pending.iter().collect();
            let numbers: Vec<i64> = pending.iter().map(|v| number(st, *v)).collect();
            assert_eq!(numbers, dead(n));
            st.run_finalizers(usize::MAX);
            assert_eq!(finalized(), dead(n));
            // All others are still registered, each once.
            st.gc_full();
            assert_eq!(finalized(), []);
            assert_eq!(st.heap.finalizers.registered.len(), (n / 3 + new) as usize);
            for i in (3..=n).step_by(3) {
                let v = Table::get_int(kept, i);
                assert_eq!(number(st, v), i);
            }
            st.top = st.top.sub(1);
            st.gc_full();
            assert_eq!(finalized().len(), (n / 3 + new) as usize);
        }
    });
}

/// Transitions lead to shapes that are not marked.
#[test]
fn shapes_that_are_found_and_new_objects_live_on() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let kept = table(st);
        make_objects(st, kept, 100);
        let t = loose_table(st).as_table();
        set_name(st, t, "a field of a dead table", Value::TRUE);
        let shape = (*t).shape;
        assert!(Table::set_meta_index(st, t, kept));
        let with_meta = (*t).shape;
        mark(st);
        st.sweep_slice();
        let t = table(st);
        set_name(st, t, "a field of a dead table", Value::TRUE);
        assert!((*t).shape == shape && st.heap.phase == Phase::Resurrect);
        assert_eq!((*shape).with_meta, with_meta);
        for kept in [shape, with_meta] {
            assert!((*kept).header.flags & GcHeader::UNLOGGED != 0, "stores into it are logged");
        }
        // New shapes and coroutines are not taken for dead ones either.
        let (th, up) = thread_with_upvalue(st);
        push(st, Value::thread(th));
        let other = table(st);
        set_name(st, other, "a field that no table had", Value::TRUE);
        assert!(st.finish_sweep());
        st.verify_swept();
        assert!((*th).open == up && Upvalue::is_open(up));
        for t in [t, other] {
            let shape = (*t).shape;
            assert!(st.shapes.get(&(*shape).header.word) == Some(&shape));
        }
        assert!(st.shapes.get(&(*with_meta).header.word) == Some(&with_meta));
        assert!(get_name(st, t, "a field of a dead table").same_bits(Value::TRUE));
    });
}

/// Returns a new coroutine with two values on its stack, and an open upvalue of the first.
unsafe fn thread_with_upvalue(st: &mut State) -> (*mut Thread, *mut Upvalue) {
    let th = Thread::create(st, false);
    let place = (*th).stack;
    place.put(loose_table(st));
    place.add(1).put(loose_table(st));
    (*th).top = place.add(2);
    let up = st.alloc(Kind::Upvalue, size_of::<Upvalue>()).cast::<Upvalue>();
    (*up).place = place;
    (&raw mut (*up).closed).put(Value::NIL);
    *Upvalue::next_open(up) = std::ptr::null_mut();
    (*th).open = up;
    (th, up)
}

/// A coroutine is resurrected, with a variable that a closure of the program shares: an object that
/// is stored there meanwhile is not one that the phase may visit.
#[test]
fn new_values_of_shared_variables_are_left_alone() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let (th, up) = thread_with_upvalue(st);
        let place = (*up).place;
        push(st, Value::object(up, crate::value::Tag::CELL));
        let holder = loose_table(st).as_table();
        finalizable(st, holder, 1);
        set_name(st, holder, "thread", Value::thread(th));
        mark(st);
        let weak = weak_table(st, "v");
        st.top = st.top.sub(1);
        let value = loose_table(st);
        Table::set_int(st, weak, 1, value);
        place.put(Value::table(weak));
        st.barrier(up.cast());
        assert!(st.finish_sweep());
        // Neither marked, nor cleared.
        assert!((*weak).header.mark == 0 && Table::get_int(weak, 1).same_bits(value));
        // The thread is alive again, so the variable is still the one in its stack.
        assert!((*up).place == place && (*th).open == up);
        st.verify_swept();
        st.run_finalizers(usize::MAX);
        st.gc_full();
        assert!((*up).place == &raw mut (*up).closed);
        assert!((*up).place.get().same_bits(Value::table(weak)));
    });
}

/// Objects that the barrier marks in generational mode are left for the next collection.
#[test]
fn stores_into_big_old_tables_are_left_for_later() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let big = table(st);
        for i in 1..=2 * st.heap.slices.big as i64 {
            let v = loose_table(st);
            Table::set_int(st, big, i, v);
        }
        st.gc_set_generational(0, 0);
        assert!((*big).header.flags & GcHeader::UNLOGGED != 0);
        let kept = table(st);
        make_objects(st, kept, 100);
        mark(st);
        let weak = weak_table(st, "v");
        let value = loose_table(st);
        Table::set_int(st, weak, 1, value);
        Table::set_int(st, big, 5, Value::table(weak));
        assert!(st.heap.marker.is_marked(weak.cast()));
        st.top = st.top.sub(1);
        assert!(st.finish_sweep());
        assert!(Table::get_int(weak, 1).same_bits(value));
        st.generational_step(true);
        assert!(Table::get_int(weak, 1).is_nil());
        st.verify_swept();
    });
}

/// An object that cannot be recorded makes a new cycle necessary. Objects that were found before
/// are finalized all the same, once.
#[test]
fn a_phase_that_is_given_up_is_made_up_for() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        for after in (0..80).step_by(if cfg!(miri) { 16 } else { 1 }) {
            let kept = table(st);
            make_objects(st, kept, 60);
            mark(st);
            for _ in 0..after {
                if st.heap.phase == Phase::Resurrect {
                    st.sweep_slice();
                }
            }
            if st.heap.phase == Phase::Resurrect {
                st.heap.marker.lose();
                st.sweep_slice();
                assert_eq!(st.heap.phase, Phase::Mark);
            }
            st.heap.marker.stop = crate::heap::stop::Stop::new();
            st.intern(b"a string that is made in between");
            st.gc_full();
            st.verify_swept();
            let mut all = finalized();
            assert_eq!(all.len(), 40, "{after}");
            all.sort_unstable_by_key(|i| -i);
            assert_eq!(all, dead(60));
            st.top = st.top.sub(1);
            st.gc_full();
            assert_eq!(finalized().len(), 20);
        }
    });
}

/// Objects that are marked in the phase count as live: strings that are kept as keys, and
/// resurrected objects.
#[test]
fn what_is_marked_counts_as_live() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let both = weak_table(st, "kv");
        st.gc_full();
        let before = st.gc_count_bytes();
        let key = Value::string(st.intern(&[b'x'; 300_000]));
        Table::set(st, both, key, Value::int(1)).expect("a valid key");
        let t = loose_table(st).as_table();
        finalizable(st, t, 1);
        let long = Value::string(st.intern(&[b'y'; 200_000]));
        set_name(st, t, "long", long);
        assert!(st.collect());
        assert!((500_000..505_000).contains(&(st.gc_count_bytes() - before)));
        st.run_finalizers(usize::MAX);
        st.gc_full();
        assert!((300_000..305_000).contains(&(st.gc_count_bytes() - before)));
    });
}

#[test]
fn closing_a_state_in_the_phase_finalizes_all() {
    for slices in (0..40).step_by(if cfg!(miri) { 8 } else { 1 }) {
        FINALIZED.with_borrow_mut(Vec::clear);
        let st = State::create(EngineShared::new(), &VM);
        // SAFETY: the state is used only here, and freed once.
        unsafe {
            {
                let st = &mut *st;
                let kept = table(st);
                make_objects(st, kept, 60);
                mark(st);
                for _ in 0..slices {
                    if st.heap.phase == Phase::Resurrect {
                        st.sweep_slice();
                    }
                }
                st.gc_close();
            }
            let expected: Vec<i64> =
                dead(60).into_iter().chain((1..=60).rev().filter(|i| i % 3 == 0)).collect();
            assert_eq!(finalized(), expected, "{slices}");
            State::destroy(st);
        }
    }
}
