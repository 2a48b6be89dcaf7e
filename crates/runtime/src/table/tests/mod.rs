//! Tests of tables: single cases here, and randomised tests against a model in the submodules.

mod cached;
mod model;

use std::sync::atomic::Ordering;

use fastrand::Rng;

use super::{ArrayKind, Cell, InvalidKey, KeyError, LocalShape, Node, Table};
use crate::engine::EngineShared;
use crate::header::GcHeader;
use crate::instance::FieldCache;
use crate::state::{State, Vm, poll};
use crate::strings::Scan;
use crate::value::{SlotExt, Tag, Value};

static NO_CODE: std::sync::atomic::AtomicPtr<u8> =
    std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());

static NO_VM: Vm = Vm {
    idle_slot: &NO_CODE,
    call: |_, _, _| unreachable!("no code runs"),
    continuable: |_, _, _| unreachable!("no code runs"),
    traced: |_, _, _| unreachable!("no code runs"),
    finalize: |_, _, _| unreachable!("no code runs"),
    hook: |_, _, _| unreachable!("no code runs"),
    handle: |_| unreachable!("no code runs"),
    resume: |_, _, _| unreachable!("no code runs"),
    switch: |_| unreachable!("no code runs"),
    close: |_, _| unreachable!("no code runs"),
};

/// Runs `test` on a fresh state without collections.
fn with_state(test: unsafe fn(*mut State)) {
    let engine = EngineShared::new();
    let st = State::create(engine.clone(), &NO_VM);
    // SAFETY: the state is live, and the tests' objects stay alive, since no safepoint is reached.
    unsafe {
        test(st);
        State::destroy(st);
    }
    assert_eq!(
        (engine.shape_count(), engine.symbol_count()),
        (2, 0),
        "the engine outlives no shape"
    );
}

unsafe fn string(st: *mut State, text: &str) -> Value {
    Value::string((*st).intern(text.as_bytes()))
}

/// Checks the invariants of a table.
unsafe fn check(t: *mut Table) {
    let len = (*t).array_len;
    assert!(len <= (*t).array_cap);
    assert!(len == 0 || !Table::element(t, len - 1).is_nil(), "the last element is nil");
    assert!(Table::get_int(t, len as i64 + 1).is_nil(), "the length is no border");
    assert_eq!(Table::kind(t) == ArrayKind::Empty, (*t).array.is_null());
    let shape = (*t).shape;
    if shape.is_null() {
        assert_eq!(((*t).header.word, (*t).fields_cap), (0, 0));
    } else {
        assert_eq!((*t).header.word, (*shape).shape.id());
        assert_eq!((*shape).has_meta, Table::has_meta(t));
        assert!((*shape).count <= (*t).fields_cap as u32);
        for slot in (*shape).count..(*t).fields_cap as u32 {
            assert!((*t).fields.add(slot as usize).get().is_nil());
        }
    }
    for i in 0..Table::node_count(t) {
        let n = (*t).nodes.add(i);
        let key = Node::key(n);
        if Node::value(n).is_nil() {
            continue;
        }
        assert!(key.tag() != Tag::NIL && key.tag() != super::DEAD_KEY);
        assert_eq!(Table::node_of(t, key), n, "a key is not found where it is");
        assert!(
            !key.is_int() || !(1..=len as i64).contains(&key.as_int()),
            "an element in the hash part"
        );
        if key.is_string() {
            assert!(shape.is_null() || !crate::string::LuaString::is_short(key.as_string()));
            let environment = (*t).header.flags & GcHeader::ENVIRONMENT != 0;
            assert_eq!((*n).value_tag == Tag::CELL, environment);
        }
    }
}

#[test]
fn arrays_keep_their_kind() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let t = Table::new(st, 0, 0);
        for i in 1..=100 {
            Table::set_int(st, t, i, Value::int(i * 3));
        }
        assert_eq!((Table::kind(t), Table::length(t)), (ArrayKind::Int, 100));
        Table::set_int(st, t, 100, Value::NIL);
        assert_eq!((Table::kind(t), Table::length(t)), (ArrayKind::Int, 99));
        Table::set_int(st, t, 50, Value::NIL);
        assert_eq!((Table::kind(t), Table::length(t)), (ArrayKind::Any, 99));
        assert_eq!(Table::get_int(t, 99).as_int(), 297);
        check(t);
        let f = Table::new(st, 0, 0);
        for i in 1..=10 {
            Table::set_int(st, f, i, Value::float(i as f64));
        }
        assert_eq!(Table::kind(f), ArrayKind::Float);
        Table::set_int(st, f, 3, Value::int(3));
        assert_eq!(Table::kind(f), ArrayKind::Any);
        assert!(Table::get_int(f, 3).is_int() && Table::get_int(f, 4).is_float());
        check(f);
    });
}

#[test]
fn arrays_of_booleans_have_tags_only() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let is_third = |i: i64| Value::bool(i % 3 == 0);
        let filled = |n: i64| {
            let t = Table::new(st, 0, 0);
            for i in 1..=n {
                Table::set_int(st, t, i, is_third(i));
                check(t);
            }
            assert_eq!((Table::kind(t), Table::length(t)), (ArrayKind::Bool, n));
            t
        };
        let holds = |t: *mut Table, except: i64| {
            check(t);
            for i in (1..=Table::length(t)).filter(|&i| i != except) {
                assert!(Table::get_int(t, i).same_bits(is_third(i)), "{i}");
            }
        };
        let t = filled(1000);
        assert_eq!(Table::kind(t).bytes((*t).array_cap), (*t).array_cap as usize);
        holds(t, 0);
        for i in (901..=1000).rev() {
            Table::set_int(st, t, i, Value::NIL);
        }
        assert_eq!((Table::kind(t), Table::length(t)), (ArrayKind::Bool, 900));
        assert!(Table::get_int(t, 901).is_nil());
        holds(t, 0);
        let others = [Value::int(7), Value::float(0.5), string(st, "other")];
        for other in others {
            let t = filled(100);
            Table::set_int(st, t, 50, other);
            assert_eq!((Table::kind(t), Table::length(t)), (ArrayKind::Any, 100));
            assert!(Table::get_int(t, 50).same_bits(other));
            holds(t, 50);
        }
        // Another kind of value where the array is full, one where it is not, and one ahead.
        for (n, at) in [(64, 65), (65, 66), (65, 68)] {
            let t = filled(n);
            Table::set_int(st, t, at, Value::int(9));
            assert_eq!((Table::kind(t), Table::length(t)), (ArrayKind::Any, at));
            assert_eq!(Table::get_int(t, at).as_int(), 9);
            for i in 1..at {
                let expected = if i <= n { is_third(i) } else { Value::NIL };
                assert!(Table::get_int(t, i).same_bits(expected));
            }
            check(t);
        }
        // Keys that join the array from the hash part.
        let t = filled(4);
        for i in [7, 6, 8, 5] {
            Table::set_int(st, t, i, is_third(i));
        }
        assert_eq!(Table::length(t), 8);
        holds(t, 0);
        // The other kinds do not take booleans.
        let t = Table::new(st, 0, 0);
        Table::set_int(st, t, 1, Value::int(1));
        Table::set_int(st, t, 2, Value::TRUE);
        assert_eq!(Table::kind(t), ArrayKind::Any);
        check(t);
    });
}

#[test]
fn arrays_of_booleans_may_have_holes() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let is = |t: *mut Table, kind, length| {
            assert_eq!((Table::kind(t), Table::length(t)), (kind, length));
            check(t);
        };
        // The array begins when most of its keys are there.
        let t = Table::new(st, 0, 0);
        for i in 2..=100 {
            Table::set_int(st, t, i, Value::bool(i % 2 == 0));
            check(t);
        }
        is(t, ArrayKind::Bool, 100);
        assert!(Table::get_int(t, 1).is_nil() && Table::get_int(t, 3).same_bits(Value::FALSE));
        assert!(!Table::is_full(t, 1, 100) && Table::is_full(t, 2, 100));
        Table::set_int(st, t, 50, Value::NIL);
        is(t, ArrayKind::Bool, 100);
        assert!(!Table::is_full(t, 2, 100) && Table::is_full(t, 51, 100));
        assert!(!Table::set_existing_int(st, t, 50, Value::TRUE));
        assert!(Table::set_existing_int(st, t, 51, Value::TRUE));
        // The elements before the last one are removed first.
        for i in (60..=100).chain(51..60) {
            Table::set_int(st, t, i, Value::NIL);
            check(t);
        }
        is(t, ArrayKind::Bool, 49);
        Table::set_int(st, t, 50, Value::TRUE);
        is(t, ArrayKind::Bool, 50);
        Table::set_int(st, t, 1, Value::int(1));
        is(t, ArrayKind::Any, 50);
        assert!(Table::get_int(t, 3).same_bits(Value::FALSE) && Table::get_int(t, 1).is_int());
        // A quarter of the keys is enough, unless the array is small, or has other values.
        let every_third = |n: i64, v: Value| {
            let t = Table::new(st, 0, 0);
            for i in (3..=n).step_by(3) {
                Table::set_int(st, t, i, v);
            }
            check(t);
            assert!((1..=n).all(|i| Table::get_int(t, i).is_nil() == (i % 3 != 0)));
            t
        };
        let t = every_third(1000, Value::TRUE);
        assert!(Table::kind(t) == ArrayKind::Bool && Table::length(t) > 700);
        assert_eq!(Table::length(every_third(60, Value::TRUE)), 0);
        assert_eq!(Table::length(every_third(1000, Value::int(1))), 0);
        let t = every_third(1000, Value::TRUE);
        Table::set_int(st, t, 3, Value::int(1));
        assert_eq!(Table::kind(t), ArrayKind::Any);
        for i in 1001..=3000 {
            Table::set_int(st, t, i, Value::int(i));
        }
        check(t);
        assert!((1001..=3000).all(|i| Table::get_int(t, i).as_int() == i));
        // Elements ahead of the end, with and without an array before.
        for begun in [0, 3] {
            let t = Table::new(st, 0, 40);
            for i in 1..=begun {
                Table::set_int(st, t, i, Value::TRUE);
            }
            Table::set_int(st, t, 20, Value::FALSE);
            is(t, ArrayKind::Bool, 20);
            assert!((begun + 1..20).all(|i| Table::get_int(t, i).is_nil()));
            Table::set_int(st, t, 30, Value::int(3));
            is(t, ArrayKind::Any, 30);
            assert!(Table::get_int(t, 20).same_bits(Value::FALSE));
        }
        // An array that is mostly nil is rehashed when it is full.
        let t = Table::new(st, 0, 64);
        for i in 1..=64 {
            Table::set_int(st, t, i, Value::TRUE);
        }
        for i in 1..=60 {
            Table::set_int(st, t, i, Value::NIL);
        }
        Table::set_int(st, t, 65, Value::TRUE);
        check(t);
        assert!((*t).array_cap < 64 && (61..=65).all(|i| !Table::get_int(t, i).is_nil()));
    });
}

#[test]
fn keys_join_the_array() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let t = Table::new(st, 0, 0);
        for i in (1..=64).rev() {
            Table::set_int(st, t, i, Value::int(i));
            check(t);
        }
        assert_eq!(Table::length(t), 64);
        let t = Table::new(st, 0, 0);
        for i in [2, 3, 5, 4, 1] {
            Table::set_int(st, t, i, Value::TRUE);
            check(t);
        }
        assert_eq!(Table::length(t), 5);
    });
}

#[test]
fn elements_ahead_extend_the_array() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        // Batches whose last element is stored first, as by multiple assignments.
        let t = Table::new(st, 0, 0);
        for batch in 0..64 {
            for i in (1..=16).rev() {
                Table::set_int(st, t, batch * 16 + i, Value::int(i));
                check(t);
            }
            assert_eq!(Table::length(t), (batch + 1) * 16);
            assert_eq!(Table::node_count(t), 0, "in batch {batch}");
        }
        // Keys of the hash part between the end and the element join the array.
        let t = Table::new(st, 0, 0);
        for i in [1, 2, 3, 7, 4, 5] {
            Table::set_int(st, t, i, Value::int(i));
        }
        assert_eq!(((*t).array_len, (*t).array_cap), (5, 8));
        Table::set_int(st, t, 8, Value::int(8));
        check(t);
        for i in 1..=9 {
            let v = if i == 6 || i == 9 { Value::NIL } else { Value::int(i) };
            assert!(Table::get_int(t, i).same_bits(v), "{i}");
        }
        // A key that has a value is assigned in place, so that traversals stay valid.
        let t = Table::new(st, 0, 0);
        for i in [1, 2, 7, 3, 4, 5] {
            Table::set_int(st, t, i, Value::int(i));
        }
        let at = Table::index_of_key(t, Value::int(7));
        Table::set_int(st, t, 7, Value::TRUE);
        assert_eq!(Table::index_of_key(t, Value::int(7)), at);
        check(t);
    });
}

#[test]
fn a_queue_does_not_grow() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let t = Table::new(st, 0, 0);
        let rounds = if cfg!(miri) { 300 } else { 20_000 };
        for i in 1..=rounds {
            Table::set_int(st, t, i, Value::bool(true));
            if i > 10 {
                Table::set_int(st, t, i - 10, Value::NIL);
            }
        }
        check(t);
        assert!((*t).array_cap <= 64 && Table::node_count(t) <= 64);
    });
}

#[test]
fn float_keys_are_normalised() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let t = Table::new(st, 0, 0);
        Table::set(st, t, Value::float(1.0), Value::TRUE).unwrap();
        assert_eq!(Table::length(t), 1);
        Table::set(st, t, Value::float(-0.0), Value::FALSE).unwrap();
        assert!(Table::get(t, Value::int(0)).same_bits(Value::FALSE));
        Table::set(st, t, Value::float(9_007_199_254_740_992.0), Value::int(7)).unwrap();
        assert_eq!(Table::get(t, Value::int(1 << 53)).as_int(), 7);
        Table::set(st, t, Value::float(9_223_372_036_854_775_808.0), Value::int(8)).unwrap();
        assert!(Table::get(t, Value::int(i64::MIN)).is_nil());
        assert_eq!(Table::get(t, Value::float(9_223_372_036_854_775_808.0)).as_int(), 8);
        assert_eq!(Table::set(st, t, Value::float(f64::NAN), Value::NIL), Err(KeyError::Nan));
        assert_eq!(Table::set(st, t, Value::NIL, Value::NIL), Err(KeyError::Nil));
        assert!(
            Table::get(t, Value::float(f64::NAN)).is_nil() && Table::get(t, Value::NIL).is_nil()
        );
    });
}

#[test]
fn shapes_are_shared_and_given_up() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let (a, b) = (Table::new(st, 0, 0), Table::new(st, 2, 0));
        for i in 0..20 {
            let name = (*st).intern(format!("f{i}").as_bytes());
            Table::set_str_const(st, a, name, Value::int(i));
            Table::set_str_const(st, b, name, Value::TRUE);
            assert_eq!((*a).shape, (*b).shape);
        }
        assert_eq!(Table::get(a, string(st, "f13")).as_int(), 13);
        check(a);
        // A computed name of an existing field does not change the shape; a new one makes the table
        // a dictionary.
        Table::set(st, a, string(st, "f13"), Value::int(1)).unwrap();
        assert_eq!((*a).shape, (*b).shape);
        Table::set(st, a, string(st, "other"), Value::int(2)).unwrap();
        assert!((*a).shape.is_null());
        check(a);
        assert_eq!(Table::get(a, string(st, "f19")).as_int(), 19);
        for i in 0..200 {
            let name = (*st).intern(format!("g{i}").as_bytes());
            Table::set_str_const(st, b, name, Value::int(i));
        }
        assert!((*b).shape.is_null());
        assert_eq!(Table::get(b, string(st, "g199")).as_int(), 199);
        assert!(Table::get(b, string(st, "f0")).same_bits(Value::TRUE));
        check(b);
    });
}

#[test]
fn metatables_change_the_shape() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let (t, m) = (Table::new(st, 0, 0), Table::new(st, 0, 0));
        let x = (*st).intern(b"x");
        Table::set_str_const(st, t, x, Value::int(1));
        let plain = (*t).shape;
        assert!(Table::set_metatable(st, t, m));
        assert_ne!((*t).shape, plain);
        assert_eq!(Table::metatable(st, t), m);
        check(t);
        assert!(Table::set_metatable(st, t, std::ptr::null_mut()));
        assert_eq!((*t).shape, plain);
        assert!(Table::set_meta_index(st, t, m));
        check(t);
        assert!(Table::index_event(st, t).same_bits(Value::table(m)));
        assert_eq!((*t).meta & 1, 1, "asking for __index materialises nothing");
        let real = Table::metatable(st, t);
        assert_eq!(Table::metatable(st, t), real);
        assert!(Table::get(real, string(st, "__index")).same_bits(Value::table(m)));
        check(real);
    });
}

#[test]
fn absent_bits_are_cleared() {
    use crate::meta::Event;
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        for computed in [false, true] {
            let (t, m) = (Table::new(st, 0, 0), Table::new(st, 0, 0));
            assert!(Table::set_metatable(st, t, m));
            for e in [Event::Index, Event::NewIndex, Event::Len, Event::Add] {
                let name = string(st, e.name());
                assert!(Table::metamethod(st, Value::table(t), e).is_nil());
                if computed {
                    Table::set(st, m, name, Value::TRUE).unwrap();
                } else {
                    Table::set_str_const(st, m, name.as_string(), Value::TRUE);
                }
                assert!(Table::metamethod(st, Value::table(t), e).same_bits(Value::TRUE));
                Table::set(st, m, name, Value::NIL).unwrap();
                assert!(Table::metamethod(st, Value::table(t), e).is_nil());
                Table::set(st, m, name, Value::FALSE).unwrap();
                assert!(Table::metamethod(st, Value::table(t), e).same_bits(Value::FALSE));
            }
        }
    });
}

#[test]
fn environments_keep_cells() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let t = Table::new(st, 0, 0);
        let x = (*st).intern(b"x");
        Table::set_str_const(st, t, x, Value::int(1));
        assert!(Table::make_environment(st, t));
        check(t);
        let cell = Table::cell_of(st, t, x, false);
        assert_eq!((&raw mut (*cell).value).get().as_int(), 1);
        for i in 0..100 {
            let name = string(st, &format!("global{i}"));
            Table::set(st, t, name, Value::int(i)).unwrap();
        }
        assert_eq!(Table::cell_of(st, t, x, false), cell, "a cell stays put");
        Table::set_str_const(st, t, x, Value::int(2));
        assert_eq!((&raw mut (*cell).value).get().as_int(), 2);
        (&raw mut (*cell).value).put(Value::int(3));
        assert_eq!(Table::get_str(t, x).as_int(), 3);
        let y = (*st).intern(b"y");
        assert!(Table::cell_of(st, t, y, false).is_null());
        let cell = Table::cell_of(st, t, y, true);
        assert!((&raw mut (*cell).value).get().is_nil());
        Table::set_str(st, t, y, Value::TRUE);
        assert!((&raw mut (*cell).value).get().same_bits(Value::TRUE));
        check(t);
    });
}

#[test]
fn cells_say_whether_they_have_changed() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let leaves = || (*st).poll.load(Ordering::Relaxed) & poll::LEAVE != 0;
        let t = Table::new(st, 0, 0);
        let [x, y] = [(*st).intern(b"x"), (*st).intern(b"y")];
        Table::set_str_const(st, t, x, Value::int(1));
        assert!(Table::make_environment(st, t));
        let cell = Table::cell_of(st, t, x, false);
        Table::set_str(st, t, x, Value::int(1));
        assert_eq!((*cell).header.aux, Cell::CONSTANT);
        (*cell).header.aux = Cell::RELIED_ON;
        assert!(Table::is_relied_on(st, t, x) && !Table::is_relied_on(st, t, y));
        Table::set_str(st, t, x, Value::int(1));
        assert!(!leaves() && (*cell).header.aux == Cell::RELIED_ON);
        Table::set_str(st, t, x, Value::NIL);
        assert!(leaves() && (*cell).header.aux == Cell::CHANGED);
        let cell = Table::cell_of(st, t, y, true);
        Table::set_str(st, t, y, Value::TRUE);
        assert_eq!((*cell).header.aux, Cell::CONSTANT, "the first value is no change");
        Table::set_str(st, t, y, Value::FALSE);
        assert_eq!((*cell).header.aux, Cell::CHANGED);
    });
}

#[test]
fn constructors_store_lists() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let ints: Vec<Value> = (1..=9).map(Value::int).collect();
        let t = Table::new(st, 0, 9);
        Table::set_list(st, t, 0, ints.as_ptr(), 9);
        assert_eq!((Table::kind(t), Table::length(t), (*t).array_cap), (ArrayKind::Int, 9, 9));
        Table::set_list(st, t, 9, ints.as_ptr(), 9);
        assert_eq!((Table::kind(t), Table::length(t)), (ArrayKind::Int, 18));
        let mixed = [Value::NIL, Value::TRUE, Value::float(1.5), Value::NIL];
        Table::set_list(st, t, 18, mixed.as_ptr(), 4);
        assert_eq!((Table::kind(t), Table::length(t)), (ArrayKind::Any, 21));
        check(t);
        let flags = [Value::FALSE, Value::TRUE, Value::TRUE];
        let f = Table::new(st, 0, 3);
        Table::set_list(st, f, 0, flags.as_ptr(), 3);
        Table::set_list(st, f, 3, flags.as_ptr(), 3);
        assert_eq!((Table::kind(f), Table::length(f)), (ArrayKind::Bool, 6));
        assert!((1..=6).all(|i| Table::get_int(f, i).same_bits(Value::bool(i % 3 != 1))));
        Table::set_list(st, f, 6, ints.as_ptr(), 2);
        assert_eq!((Table::kind(f), Table::length(f)), (ArrayKind::Any, 8));
        assert!(Table::get_int(f, 6).truthy() && Table::get_int(f, 7).as_int() == 1);
        check(f);
        // A batch that ended with nils, then another one.
        Table::set_list(st, t, 22, ints.as_ptr(), 2);
        assert_eq!(Table::length(t), 24);
        assert!(Table::get_int(t, 22).is_nil());
        check(t);
        // Keys that were set before the list was.
        let t = Table::new(st, 0, 0);
        Table::set_int(st, t, 2, Value::TRUE);
        Table::set_int(st, t, 4, Value::TRUE);
        Table::set_list(st, t, 0, ints.as_ptr(), 3);
        assert_eq!(Table::length(t), 4);
        assert_eq!(Table::get_int(t, 2).as_int(), 2);
        check(t);
    });
}

#[test]
fn traversal_may_clear() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let mut random = Rng::with_seed(7);
        for round in 0..if cfg!(miri) { 4 } else { 200 } {
            let t = Table::new(st, 0, 0);
            let mut total = 0;
            for i in 0..random.usize(..30) {
                let name = (*st).intern(format!("n{i}").as_bytes());
                Table::set_str_const(st, t, name, Value::TRUE);
                total += 1;
            }
            for _ in 0..random.usize(..60) {
                let i = random.usize(..50) as i64;
                total += Table::get_int(t, i).is_nil() as usize;
                Table::set_int(st, t, i, Value::int(i));
            }
            let (mut seen, mut key, mut index) = (0, Value::NIL, Table::start(st, t));
            loop {
                if round % 2 == 0 {
                    let Some((next, k, _)) = Table::next_index(t, index) else { break };
                    (index, key) = (next, k);
                } else {
                    let Some((k, _)) = Table::next(st, t, key).unwrap() else { break };
                    key = k;
                }
                seen += 1;
                if round % 3 > 0 {
                    Table::set(st, t, key, Value::NIL).unwrap();
                }
            }
            assert_eq!(seen, total);
            check(t);
        }
        let t = Table::new(st, 0, 0);
        assert_eq!(Table::next(st, t, Value::int(1)).err(), Some(InvalidKey));
        assert_eq!(Table::next(st, t, string(st, "x")).err(), Some(InvalidKey));
    });
}

#[test]
fn strings_are_interned() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let a = (*st).intern(b"some name");
        assert_eq!(a, (*st).intern(b"some name"));
        assert_eq!((*st).intern(b"x"), (&(*st).byte_strings)[b'x' as usize]);
        assert_eq!((*st).intern(b""), (*st).intern(b""));
        let long = [b'a'; 41];
        assert_ne!((*st).intern(&long), (*st).intern(&long));
        assert!(Value::string((*st).intern(&long)).raw_equals(Value::string((*st).intern(&long))));
        assert_eq!((*st).new_string_with(9, |b| b.copy_from_slice(b"some name")), a);
        let n = if cfg!(miri) { 1500 } else { 5000 };
        let all: Vec<_> = (0..n).map(|i| (*st).intern(format!("string {i}").as_bytes())).collect();
        for (i, &s) in all.iter().enumerate() {
            assert_eq!((*st).intern(format!("string {i}").as_bytes()), s);
        }
        // The first ten strings stay alive, and so do all that existed before.
        for &s in &all[10..] {
            (*s).header.mark = 77;
        }
        let live = (*a).header.mark;
        (*st).strings.begin_purge(live, Scan::Thorough);
        while !(*st).strings.purge(100) {}
        assert_eq!((*st).intern(b"some name"), a);
        assert_eq!((*st).intern(b"string 9"), all[9]);
        assert_ne!((*st).intern(b"string 10"), all[10]);
        // With few strings, the table shrinks from one collection to the next.
        let strings = &raw const (*st).strings;
        let slots = || {
            let s = &*strings;
            s.capacity()
        };
        let before = slots();
        for s in (&(*st).strings).all() {
            (*s).header.mark = 77;
        }
        (*st).strings.begin_purge(77, Scan::Thorough);
        assert!((*st).strings.purge(usize::MAX));
        assert!(slots() < before);
        assert_eq!((*st).intern(b"some name"), a);
    });
}

#[test]
fn shapes_are_forgotten() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let t = Table::new(st, 0, 0);
        let x = (*st).intern(b"x");
        Table::set_str_const(st, t, x, Value::TRUE);
        let shape = (*t).shape;
        LocalShape::forget(st, shape);
        assert!((*(*st).empty_shape).next.is_empty());
        let u = Table::new(st, 0, 0);
        Table::set_str_const(st, u, x, Value::TRUE);
        assert_ne!((*u).shape, shape);
        assert_eq!((*u).header.word, (*t).header.word, "the engine's shape is still the same");
    });
}

/// Creates a table with two inline fields and with room for `room` of them.
unsafe fn inline_table(st: *mut State, room: u8) -> *mut Table {
    let t = Table::new(st, room, 0);
    let mut shape = LocalShape::inline(st);
    for (i, name) in [b"a", b"b"].into_iter().enumerate() {
        shape = LocalShape::with_field(st, shape, (*st).intern(name));
        (*t).fields.add(i).put(Value::int(i as i64));
    }
    Table::set_shape(st, t, shape);
    t
}

#[test]
fn fields_outgrow_their_room() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let full = || inline_table(st, 2);
        let name = |name: &str| (*st).intern(name.as_bytes());
        let empty = (*st).empty_shape;
        let other = [name("a"), name("b"), name("c")]
            .iter()
            .fold(empty, |shape, &name| LocalShape::with_field(st, shape, name));

        let t = full();
        assert!((*(*t).shape).is_inline);
        Table::check_fields(t);
        Table::set_str_const(st, t, name("c"), Value::TRUE);
        Table::check_fields(t);
        assert_eq!((*t).shape, other, "tables that outgrow their room share the shape of others");
        assert!(Table::get_str(t, name("b")).raw_equals(Value::int(1)));

        let (t, meta) = (full(), Table::new(st, 0, 0));
        assert!(Table::set_metatable(st, t, meta));
        assert!((*(*t).shape).is_inline && (*(*t).shape).has_meta);
        Table::set_str_const(st, t, name("c"), Value::TRUE);
        Table::check_fields(t);
        assert!(!(*(*t).shape).is_inline && (*(*t).shape).has_meta);
        assert!(Table::set_metatable(st, t, std::ptr::null_mut()));
        assert_eq!((*t).shape, other);
        let t = full();
        let before = (*t).shape;
        assert!(Table::set_metatable(st, t, meta));
        assert!(Table::set_metatable(st, t, std::ptr::null_mut()));
        assert_eq!((*t).shape, before);
    });
}

#[test]
fn caches_notice_missing_room() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let (full, roomy) = (|| inline_table(st, 2), || inline_table(st, 4));
        let name = (*st).intern(b"c");
        let mut cache = FieldCache::EMPTY;
        Table::cache_set(st, &mut cache, roomy(), name, Value::FALSE);
        let t = roomy();
        assert!(FieldCache::hit_set(st, &cache, t, Value::FALSE));
        assert!((*(*t).shape).is_inline);
        let t = full();
        assert!(!FieldCache::hit_set(st, &cache, t, Value::FALSE), "there is no room");
        Table::cache_set(st, &mut cache, t, name, Value::FALSE);
        // Now the cache maps both to the shape that does not require inline slots.
        for t in [full(), roomy(), full()] {
            assert!(FieldCache::hit_set(st, &cache, t, Value::FALSE));
            assert!(!(*(*t).shape).is_inline);
            Table::check_fields(t);
        }
    });
}

unsafe fn keys(st: *mut State, t: *mut Table) -> Vec<String> {
    let (mut at, mut out) = (Table::start(st, t), Vec::new());
    while let Some((next, k, _)) = Table::next_index(t, at) {
        out.push(match k.tag() {
            Tag::INTEGER => k.as_int().to_string(),
            Tag::FLOAT => k.as_float().to_string(),
            Tag::STRING => {
                String::from_utf8_lossy(crate::string::LuaString::bytes(k.as_string())).into()
            }
            _ => "other".into(),
        });
        at = next;
    }
    out
}

#[test]
fn integers_ascend_and_others_keep_the_order_of_insertion() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let t = Table::new(st, 0, 0);
        for name in ["zulu", "alpha", "mike"] {
            Table::set_str(st, t, string(st, name).as_string(), Value::TRUE);
        }
        for i in [40, 0, -7, 20, 1, 2, 30, -1] {
            Table::set_int(st, t, i, Value::TRUE);
        }
        check(t);
        let all = ["-7", "-1", "0", "1", "2", "20", "30", "40", "zulu", "alpha", "mike"];
        assert_eq!(keys(st, t), all);
        check(t);
        // The order is the same whether or not the collector has killed the key.
        for collects in [false, true] {
            let name = string(st, "zulu").as_string();
            Table::set_str(st, t, name, Value::NIL);
            if collects {
                (*st).top.put(Value::table(t));
                (*st).top = (*st).top.add(1);
                (*st).gc_full();
                (*st).top = (*st).top.sub(1);
            }
            Table::set_str(st, t, string(st, "zulu").as_string(), Value::TRUE);
            assert_eq!(keys(st, t)[8..], ["alpha", "mike", "zulu"]);
            let name = string(st, "alpha").as_string();
            Table::set_str(st, t, name, Value::NIL);
            Table::set_str(st, t, name, Value::TRUE);
            let name = string(st, "mike").as_string();
            Table::set_str(st, t, name, Value::NIL);
            Table::set_str(st, t, name, Value::TRUE);
            assert_eq!(keys(st, t)[8..], ["zulu", "alpha", "mike"]);
            check(t);
        }
    });
}

#[test]
fn direct_nodes_hold_integers_in_a_narrow_range() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let name = string(st, "name");
        for first in [1000, -40, i64::MAX - 49, i64::MIN] {
            let t = Table::new(st, 0, 0);
            for i in 0..50 {
                Table::set_int(st, t, first + (i ^ 1), Value::TRUE);
            }
            assert!(Table::is_direct(t) && Table::node_capacity(t) <= 256);
            check(t);
            let expected: Vec<_> = (first..=first + 49).map(|i| i.to_string()).collect();
            assert_eq!(keys(st, t), expected);
            assert!(!Table::is_direct(t), "a traversal puts the nodes into order");

            let t = Table::new(st, 0, 0);
            for i in 0..50 {
                Table::set_int(st, t, first + i, Value::TRUE);
            }
            assert!(Table::is_direct(t));
            Table::set(st, t, name, Value::TRUE).unwrap();
            assert!(!Table::is_direct(t), "strings have chains");
            assert_eq!(keys(st, t), [&expected[..], &["name".into()]].concat());
        }
        let t = Table::new(st, 0, 0);
        for i in 0..50 {
            Table::set_int(st, t, 1000 + i * 2, Value::TRUE);
        }
        assert!(!Table::is_direct(t), "the keys are not close together");
    });
}

#[test]
fn keys_that_come_and_go_do_not_grow_a_table() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        for stay in [0, 1, 3, 7, 12, 60, 64] {
            let t = Table::new_dict(st, 0);
            for i in 0..stay {
                Table::set_node(st, t, Value::light(i), Value::TRUE);
            }
            let rounds = if cfg!(miri) { 100 } else { 10_000 };
            for i in 0..rounds {
                let key = string(st, &format!("n{}", i % 300));
                Table::set(st, t, key, Value::TRUE).unwrap();
                Table::set(st, t, key, Value::NIL).unwrap();
            }
            check(t);
            assert!(Table::node_capacity(t) <= 4 * (stay as usize + 1), "{stay}");
            assert_eq!(Table::node_count(t), stay as usize + 1, "{stay}");
        }
    });
}

#[test]
fn a_large_table_is_sorted_when_a_quarter_is_new() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let t = Table::new(st, 0, 0);
        let key = |i: i64| Value::int(i * 7919 % 50021 * 16);
        for i in 1..=400 {
            Table::set(st, t, key(i), Value::TRUE).unwrap();
        }
        let sorted = |st: *mut State| {
            let (mut at, mut last) = (Table::start(st, t), i64::MIN);
            while let Some((next, k, _)) = Table::next_index(t, at) {
                if k.as_int() <= last {
                    return false;
                }
                (at, last) = (next, k.as_int());
            }
            true
        };
        assert!(sorted(st));
        Table::set(st, t, Value::int(-5), Value::TRUE).unwrap();
        assert!(!sorted(st), "one key is not worth it");
        for i in 401..=540 {
            Table::set(st, t, key(i), Value::TRUE).unwrap();
        }
        assert!(sorted(st));
        check(t);
    });
}
