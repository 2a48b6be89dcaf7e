//! One situation in each test.

use super::*;
use crate::closure::LuaClosure;
use crate::header::{GcHeader, Kind};
use crate::heap::Phase;
use crate::instance::{FieldEntry, FurtherEntries, Handled, Instance};
use crate::string::LuaString;
use crate::table::{LocalShape, Table};
use crate::upvalue::Upvalue;
use crate::value::Tag;

#[test]
fn garbage_is_collected_and_memory_reused() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        st.gc_full();
        let before = st.gc_count_bytes();
        for _ in 0..3 {
            for _ in 0..if cfg!(miri) { 600 } else { 20_000 } {
                loose_table(st);
            }
            assert!(st.gc_count_bytes() > before + 30_000);
            st.gc_full();
            assert_eq!(st.gc_count_bytes(), before);
        }
        assert!(st.gc_reserved_bytes() <= 5 << 20, "{}", st.gc_reserved_bytes());
    });
}

/// C code may read the bytes of a string up to a NUL.
#[test]
fn strings_end_by_a_nul() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        for len in (0..70).chain([8_000, 8_160, 8_192, 70_000]) {
            // Freed memory is poisoned, so the NUL cannot be there by chance.
            let bytes = vec![b'x'; len];
            let s = st.intern(&bytes);
            assert_eq!(LuaString::bytes(s), bytes);
            assert_eq!(LuaString::bytes_with_nul(s), [&bytes[..], b"\0"].concat(), "{len} bytes");
            let filled = st.new_string_with(len, |to| to.fill(b'y'));
            assert_eq!(LuaString::bytes_with_nul(filled)[len..], *b"\0", "{len} bytes");
        }
        let part = Value::string(st.intern(&[b'z'; 30]));
        let joined = State::join_long(st, [part; 3].as_ptr(), 3, 90).expect("no interrupt");
        assert_eq!(LuaString::bytes_with_nul(joined), [&[b'z'; 90][..], b"\0"].concat());
    });
}

#[test]
fn reachable_objects_survive() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let root = table(st);
        for i in 1..=200 {
            let t = loose_table(st);
            Table::set_int(st, root, i, t);
            set_name(st, t.as_table(), "name", Value::int(i));
            let long = Value::string(st.intern(&[b'x'; 100]));
            set_name(st, t.as_table(), "long", long);
            Table::set_int(st, t.as_table(), 1 << 40, Value::int(i)); // hash part
            if i % 50 == 0 {
                st.gc_full();
                st.verify_heap();
            }
        }
        st.gc_full();
        for i in 1..=200 {
            let t = Table::get_int(root, i).as_table();
            assert_eq!(get_name(st, t, "name").as_int(), i);
            assert_eq!(LuaString::bytes(get_name(st, t, "long").as_string()), [b'x'; 100]);
            assert_eq!(Table::get_int(t, 1 << 40).as_int(), i);
        }
    });
}

#[test]
fn large_objects_and_buffers() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        st.gc_full();
        let before = st.gc_count_bytes();
        let big = Value::string(st.intern(&vec![b'y'; 100_000]));
        push(st, big);
        let t = table(st);
        for i in 1..=5_000 {
            Table::set_int(st, t, i, Value::int(i));
        }
        for _ in 0..10 {
            st.intern(&vec![b'z'; 50_000]);
        }
        assert!(st.gc_count_bytes() > before + 600_000);
        st.gc_full();
        let kept = st.gc_count_bytes() - before;
        assert!((140_000..200_000).contains(&kept), "{kept}");
        assert_eq!(LuaString::bytes(big.as_string()), vec![b'y'; 100_000]);
        assert_eq!(Table::get_int(t, 5_000).as_int(), 5_000);
        st.top = st.top.sub(2);
        st.gc_full();
        assert_eq!(st.gc_count_bytes(), before);
    });
}

#[test]
fn buffers_are_resized_and_freed() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let mut p = st.alloc_buffer(48);
        p.write_bytes(7, 48);
        let mut size = 48;
        for new in [64, 4_000, 9_000, 40_000, 20_000, 100] {
            p = st.resize_buffer(p, size, new);
            for i in 0..48 {
                assert_eq!(*p.add(i), 7);
            }
            size = new;
        }
        st.free_buffer(p, size);
        // The same in the middle of sweeping.
        let (a, b) = (st.alloc_buffer(10_000), st.alloc_buffer(10_000));
        st.start_cycle();
        st.heap.marker.propagate_all();
        let c = st.alloc_buffer(10_000);
        st.atomic();
        let e = st.alloc_buffer(10_000);
        while st.heap.phase == Phase::Purge {
            st.sweep_slice();
        }
        let d = st.alloc_buffer(10_000);
        for p in [a, d, c, e, b] {
            st.free_buffer(p, 10_000);
        }
        st.finish_sweep();
    });
}

#[test]
fn weak_values_go() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let w = weak_table(st, "v");
        let kept = loose_table(st);
        push(st, kept);
        for i in 1..=10 {
            let v = if i == 5 { kept } else { loose_table(st) };
            Table::set_int(st, w, i, v);
            let v = loose_table(st);
            set_name(st, w, &format!("field{i}"), v);
            let v = Value::string(st.intern(format!("string{i}").as_bytes()));
            Table::set_int(st, w, i << 33, v);
        }
        st.gc_full();
        assert_eq!(entries(st, w), 11);
        assert!(Table::get_int(w, 5).same_bits(kept));
        assert!(Table::get_int(w, 5 << 33).is_string());
        assert!(Table::get_int(w, Table::length(w)).same_bits(kept) || Table::length(w) == 0);
    });
}

#[test]
fn weak_keys_go() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let w = weak_table(st, "k");
        let kept = loose_table(st);
        push(st, kept);
        for i in 1..=10 {
            let key = if i == 3 { kept } else { loose_table(st) };
            // The value refers to the key, which must not keep the entry.
            Table::set(st, w, key, key).expect("a valid key");
            let long = Value::string(st.intern(&[b'a' + i; 60]));
            Table::set(st, w, long, Value::int(1)).expect("a valid key");
        }
        st.gc_full();
        assert_eq!(entries(st, w), 11);
        assert!(Table::get(w, kept).same_bits(kept));
    });
}

#[test]
fn chains_of_ephemerons_live_and_die_as_one() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        // Several tables, and links that go from one to the next.
        let tables = [weak_table(st, "k"), weak_table(st, "k"), weak_table(st, "k")];
        let first = loose_table(st);
        push(st, first);
        let mut key = first;
        for i in 0..if cfg!(miri) { 60 } else { 3_000 } {
            let next = loose_table(st);
            Table::set(st, tables[i % 3], key, next).expect("a valid key");
            key = next;
        }
        let count = |st: *mut State, t: [*mut Table; 3]| {
            t.into_iter().map(|t| entries(st, t)).sum::<usize>()
        };
        let before = count(st, tables);
        st.gc_full();
        assert_eq!(count(st, tables), before);
        st.top = st.top.sub(1);
        st.gc_full();
        assert_eq!(count(st, tables), 0);
    });
}

#[test]
fn next_finds_the_place_of_a_dead_key() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let t = table(st);
        let keys: Vec<Value> = (0..8).map(|_| loose_table(st)).collect();
        for &k in &keys {
            push(st, k);
            Table::set(st, t, k, Value::TRUE).expect("a valid key");
        }
        let (mut key, mut seen) = (Value::NIL, 0);
        while let Some((k, _)) = Table::next(st, t, key).expect("the key's place is known") {
            key = k;
            seen += 1;
            Table::set(st, t, k, Value::NIL).expect("a valid key");
            st.gc_full();
        }
        assert_eq!(seen, 8);
    });
}

#[test]
fn finalizers_run_in_reverse_order_and_see_resurrected_objects() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        for i in 1..=4 {
            let t = loose_table(st).as_table();
            finalizable(st, t, i);
        }
        let live = table(st);
        finalizable(st, live, 9);
        st.gc_full();
        assert_eq!(finalized(), [4, 3, 2, 1]);
        // Each was called once, and is gone in the next cycle.
        st.gc_full();
        assert_eq!(finalized(), []);
        st.gc_close();
        assert_eq!(finalized(), [9]);
    });
}

#[test]
fn finalized_objects_leave_weak_values_before_and_weak_keys_after() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let (values, keys) = (weak_table(st, "v"), weak_table(st, "k"));
        let t = loose_table(st);
        finalizable(st, t.as_table(), 1);
        Table::set_int(st, values, 1, t);
        Table::set(st, keys, t, Value::TRUE).expect("a valid key");
        st.collect();
        assert_eq!((entries(st, values), entries(st, keys)), (0, 1));
        st.run_finalizers(usize::MAX);
        st.collect();
        assert_eq!(entries(st, keys), 0);
    });
}

/// Returns a thread with one slot in use, and an open upvalue for it.
unsafe fn thread_with_upvalue(st: &mut State, v: Value) -> (*mut Thread, *mut Upvalue) {
    let th = Thread::create(st, false);
    (*th).stack.put(v);
    (*th).top = (*th).stack.add(1);
    let up = st.alloc(Kind::Upvalue, size_of::<Upvalue>()).cast::<Upvalue>();
    (*up).place = (*th).stack;
    (&raw mut (*up).closed).write(Value::NIL);
    (*th).open = up;
    (th, up)
}

#[test]
fn an_upvalue_outlives_its_thread() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let v = loose_table(st);
        let (_, up) = thread_with_upvalue(st, v);
        let c = st.alloc(Kind::LuaClosure, LuaClosure::size_for(1)).cast::<LuaClosure>();
        (*c).header.aux = 1;
        (*c).instance = std::ptr::null_mut();
        *LuaClosure::upvalue(c, 0) = up;
        push(st, Value::function(c));
        st.gc_full();
        assert!(!Upvalue::is_open(up));
        assert!((*up).place.get().same_bits(v));
        st.gc_full();
        assert_eq!(entries(st, (*up).place.get().as_table()), 0);
        // Only the main thread remains.
        assert_eq!(st.heap.boxed.threads.items.len(), 1);
    });
}

#[test]
fn dead_stack_slots_are_cleared() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let stale = loose_table(st);
        st.top.put(stale);
        st.gc_full();
        assert!(st.top.get().is_nil());
        let th = Thread::create(st, false);
        push(st, Value::thread(th));
        (*th).stack.add(5).put(Value::int(1));
        st.gc_full();
        assert!((*th).stack.add(5).get().is_nil());
    });
}

/// Returns an instance with one field cache and one global cache, which is on no stack.
unsafe fn instance(st: &mut State) -> *mut Instance {
    use perilune_bytecode::{Instr, Op};
    let code = [Instr::abc(Op::GetField, 0, 0, 0), Instr::abc(Op::GetTabUp, 0, 0, 0)];
    let proto = perilune_bytecode::Proto {
        code: code[..].into(),
        constants: Box::default(),
        protos: Box::default(),
        upvalues: Default::default(),
        lines: Default::default(),
        locals: Box::default(),
        text: Default::default(),
        source: None,
        line_defined: 0,
        last_line: 0,
        num_params: 0,
        is_vararg: false,
        max_stack: 2,
        method: Default::default(),
    };
    Instance::create(st, std::sync::Arc::new(proto), std::ptr::null_mut())
}

#[test]
fn caches_forget_dead_objects() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let i = instance(st);
        let c = st.alloc(Kind::LuaClosure, LuaClosure::size_for(0)).cast::<LuaClosure>();
        (*c).instance = i;
        push(st, Value::function(c));
        let (dead, live) = (loose_table(st).as_table(), table(st));
        let entry = |t: *mut Table| FieldEntry { own_shape: 1, holder: t, ..FieldEntry::EMPTY };
        (*(*i).fields).first = entry(dead);
        let mut more = FurtherEntries::new(std::ptr::null_mut());
        (more.entries[0], more.entries[1]) = (entry(live), entry(dead));
        (*(*i).fields).more = Some(more);
        (*(*i).globals).env = dead;
        st.gc_full();
        let cache = &*(*i).fields;
        assert!(cache.first.holder.is_null());
        let more = cache.more.as_ref().expect("set above");
        assert!(more[0].holder == live && more[1].holder.is_null());
        assert!((*(*i).globals).env.is_null());
        st.top = st.top.sub(2);
        st.gc_full();
        assert_eq!(st.heap.boxed.instances.items.len(), 0);
    });
}

#[test]
fn records_of_metamethods_forget_dead_functions() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let i = instance(st);
        let [f, other] = [(); 2].map(|()| {
            let c = st.alloc(Kind::LuaClosure, LuaClosure::size_for(0)).cast::<LuaClosure>();
            (*c).instance = i;
            push(st, Value::function(c));
            c
        });
        let (t, meta) = (table(st), Table::new(st, 0, 0));
        assert!(Table::set_metatable(st, t, meta));
        let receiver = Value::table(t);
        let first = Tag::TABLE;
        let note = |st: &mut State, pc, function| {
            let handled = Handled { first, shape: FieldEntry::NO_SHAPE, receiver, function };
            Instance::note_handler(st, i, pc, handled);
        };
        let used = (*i).bytes();
        for _ in 0..2 {
            note(st, 1, Value::function(f));
            // changes of metatables make it stale, and the next call makes it valid again
            st.advance_epoch();
            assert!((*i).handler(1).is_some_and(|r| r.entry.epoch != st.meta_epoch));
        }
        note(st, 1, Value::function(f));
        let record = (*i).handler(1).expect("noted");
        assert!(record.only() == Some(f) && record.entry.epoch == st.meta_epoch);
        assert!((*i).handler(0).is_none() && (*i).bytes() > used);
        // a closure of the same function takes the place of another one
        note(st, 1, Value::function(other));
        assert_eq!((*i).handler(1).and_then(|r| r.only()), Some(other));
        note(st, 1, Value::function(f));
        note(st, 0, Value::function(other));
        note(st, 0, Value::NIL);
        assert!((*i).handler(0).is_some_and(|r| r.only().is_none() && r.others == 1));
        // the stack keeps `f`, whose instance this is, but not the second function
        st.top.sub(2).put(Value::NIL);
        st.gc_full();
        assert_eq!((*i).handler(1).and_then(|r| r.only()), Some(f));
        assert!((*i).handler(0).is_some_and(|r| r.entry.outcome.is_null() && r.others == 0));
        // the metatable dies with the table
        st.top = st.top.sub(1);
        st.gc_full();
        assert!((*i).handler(1).is_some_and(|r| r.only().is_none()));
        st.top = st.top.sub(2);
        st.gc_full();
        assert_eq!(st.heap.boxed.instances.items.len(), 0);
    });
}

#[test]
fn shapes_and_strings_die() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        st.gc_full();
        let (shapes, strings) = (st.shapes.len(), st.strings.count);
        for i in 0..100 {
            let t = loose_table(st).as_table();
            set_name(st, t, &format!("a field name {i}"), Value::TRUE);
        }
        assert!(st.shapes.len() >= shapes + 50 && st.strings.count >= strings + 100);
        st.gc_full();
        assert_eq!((st.shapes.len(), st.strings.count), (shapes, strings));
        assert_eq!(st.heap.boxed.shapes.items.len(), shapes);
    });
}

/// Gives a new table of the shape of `t` a class, and drops it. Returns its shape.
unsafe fn shape_with_class(st: &mut State, t: *mut Table, class: *mut Table) -> *mut LocalShape {
    let loose = loose_table(st).as_table();
    set_name(st, loose, "x", Value::TRUE);
    assert_eq!((*loose).shape, (*t).shape);
    assert!(Table::set_meta_index(st, loose, class));
    (*loose).shape
}

/// Objects that die before a collection leave the shape that the next ones have.
#[test]
fn a_shape_keeps_the_one_with_a_metatable() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let shapes = st.shapes.len();
        let (class, t) = (table(st), table(st));
        set_name(st, t, "x", Value::TRUE);
        let shape = (*t).shape;
        let with_meta = shape_with_class(st, t, class);
        for _ in 0..2 {
            st.gc_full();
            assert_eq!((*shape).with_meta, with_meta);
            assert!(st.shapes.get(&(*with_meta).header.word) == Some(&with_meta));
        }
        assert_eq!(shape_with_class(st, t, class), with_meta);
        st.top = st.top.sub(2);
        st.gc_full();
        assert_eq!(st.shapes.len(), shapes);
    });
}

/// The shape without a metatable is old when its successor is created.
#[test]
fn an_old_shape_keeps_a_young_one_with_a_metatable() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let (class, t) = (table(st), table(st));
        set_name(st, t, "x", Value::TRUE);
        let shape = (*t).shape;
        st.gc_set_generational(0, 0);
        st.gc_full();
        let with_meta = shape_with_class(st, t, class);
        for _ in 0..3 {
            st.generational_step(true);
            assert_eq!((*shape).with_meta, with_meta);
            assert!(st.shapes.get(&(*with_meta).header.word) == Some(&with_meta));
        }
    });
}

#[test]
fn strings_found_while_dead_ones_are_purged_live_on() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let name = |i: usize| format!("string number {i}");
        let n = if cfg!(miri) { 5_000 } else { 20_000 };
        for i in 0..n {
            st.intern(name(i).as_bytes());
        }
        st.start_cycle();
        st.heap.marker.propagate_all();
        st.atomic();
        assert_eq!(st.heap.phase, Phase::Purge);
        let mut kept = Vec::new();
        let holder = table(st);
        for round in 0.. {
            if st.heap.phase != Phase::Purge {
                break;
            }
            // Some of the strings exist and are dead by now, others are new.
            for i in 0..20 {
                let text = name((i * 977 + round * 31) % (n + 1_000));
                let s = st.intern(text.as_bytes());
                kept.push((text, s));
                Table::set_int(st, holder, kept.len() as i64, Value::string(s));
            }
            st.sweep_slice();
        }
        st.finish_sweep();
        assert!(kept.len() > 20);
        for _ in 0..2 {
            for (text, s) in &kept {
                assert_eq!(LuaString::bytes(*s), text.as_bytes());
                assert!(st.intern(text.as_bytes()) == *s);
            }
            st.gc_full();
            st.verify_heap();
        }
        assert!(st.strings.count < 1_000 + kept.len());
    });
}

#[test]
fn stores_while_marking_are_seen() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let (a, b) = (table(st), table(st));
        let moved = loose_table(st);
        Table::set_int(st, a, 1, moved);
        st.start_cycle();
        st.heap.marker.propagate_all();
        assert!((*b).header.flags & GcHeader::UNLOGGED != 0);
        // A new object holds the only reference to an old one, and is stored into a scanned one.
        let newborn = loose_table(st);
        let white = loose_table(st);
        Table::set_int(st, newborn.as_table(), 1, white);
        Table::set_int(st, b, 1, newborn);
        assert!((*b).header.flags & GcHeader::UNLOGGED == 0);
        st.atomic();
        st.verify_heap();
        st.finish_sweep();
        assert!(Table::get_int(Table::get_int(b, 1).as_table(), 1).same_bits(white));
        assert!((*b).header.flags & GcHeader::UNLOGGED != 0);
    });
}

#[test]
fn minor_collections_keep_what_old_objects_got() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let old = table(st);
        st.gc_set_generational(0, 0);
        let young = loose_table(st);
        Table::set_int(st, old, 1, young);
        for _ in 0..100 {
            loose_table(st);
        }
        let before = st.gc_count_bytes();
        st.gc_step(0);
        st.verify_heap();
        assert!(st.gc_count_bytes() + 6_000 < before);
        assert!(Table::get_int(old, 1).same_bits(young));
        // Old garbage remains until a full collection.
        Table::set_int(st, old, 1, Value::NIL);
        st.gc_step(0);
        assert_eq!((*young.as_header()).mark, st.heap.marker.mark);
        st.gc_full();
        assert_ne!((*young.as_header()).mark, st.heap.marker.mark);
    });
}

#[test]
fn steps_end_a_cycle() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let root = table(st);
        for i in 1..=300 {
            let t = loose_table(st);
            Table::set_int(st, root, i, t);
        }
        st.gc_stop();
        let steps = |st: &mut State, size| {
            st.gc_full();
            (1..).find(|_| st.gc_step(size) == Some(true)).expect("a cycle ends")
        };
        assert!(steps(st, 10) < steps(st, 2));
        assert_eq!(steps(st, 20_000), 1);
        assert!(!st.gc_is_running());
        st.gc_restart();
        assert!(st.gc_is_running());
    });
}

#[test]
fn the_memory_limit_is_an_error_when_live_objects_exceed_it() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        st.set_memory_limit(st.gc_count_bytes() + 300_000);
        // Garbage is no problem.
        for _ in 0..if cfg!(miri) { 5 } else { 10_000 } {
            loose_table(st);
            assert!(st.gc_poll().is_ok());
        }
        assert!(!st.check_room(400_000));
        let t = table(st);
        let full = (1..).any(|i| {
            let s = Value::string(st.intern(&[b'q'; 5_000]));
            Table::set_int(st, t, i, s);
            st.gc_poll().is_err()
        });
        assert!(full);
        st.top = st.top.sub(1);
        assert!(st.gc_poll().is_ok());
        assert!(st.make_room(100_000));
    });
}

/// Weak tables, finalizers, coroutines and strings, with collections that stop after any number of
/// checks: the results are the same as without.
#[test]
fn a_collection_that_had_to_stop_is_made_up_for() {
    use super::super::stop::tests::FUSE;
    // A full collection of 30 objects makes about 65 checks.
    let (n, fuses, step) = if cfg!(miri) { (30, 70, 14) } else { (100, 300, 1) };
    for fuse in (0..fuses).step_by(step) {
        for generational in [false, true] {
            FINALIZED.with_borrow_mut(Vec::clear);
            let st = State::create(EngineShared::new(), &VM);
            // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
            unsafe {
                let st = &mut *st;
                if generational {
                    st.gc_set_generational(0, 0);
                }
                let (weak_keys, weak_values) = (weak_table(st, "k"), weak_table(st, "v"));
                let kept = Table::new(st, 0, 0);
                push(st, Value::table(kept));
                for i in 0..n {
                    let key = Table::new(st, 0, 0);
                    Table::set_int(st, key, 1, Value::int(i));
                    if i % 2 == 0 {
                        Table::set_int(st, kept, i / 2 + 1, Value::table(key));
                    } else {
                        finalizable(st, key, i);
                    }
                    let value = Table::new(st, 0, 0);
                    Table::set_int(st, value, 1, Value::int(i));
                    Table::set(st, weak_keys, Value::table(key), Value::table(value)).unwrap();
                    Table::set(st, weak_values, Value::int(i + 7), Value::table(value)).unwrap();
                    Thread::create(st, false);
                    st.intern(format!("string {i}").as_bytes());
                }
                for _ in 0..4 {
                    FUSE.set(fuse);
                    st.gc_full();
                    FUSE.set(usize::MAX);
                    let t = Table::new(st, 0, 0);
                    Table::set_int(st, kept, 1000, Value::table(t));
                }
                st.gc_full();
                st.gc_full();
                let half = n as usize / 2;
                let left = (entries(st, weak_keys), entries(st, weak_values));
                assert_eq!(left, (half, half), "{fuse}");
                assert_eq!(st.heap.boxed.threads.items.len(), 1);
                for i in 0..n / 2 {
                    let t = Table::get_int(kept, i + 1).as_table();
                    assert_eq!(Table::get_int(t, 1).as_int(), 2 * i);
                }
            }
            let mut all = finalized();
            all.sort_unstable();
            assert_eq!(all, (0..n / 2).map(|i| 2 * i + 1).collect::<Vec<_>>(), "{fuse}");
            // SAFETY: the state was created above, and is freed once.
            unsafe { State::destroy(st) };
        }
    }
}
