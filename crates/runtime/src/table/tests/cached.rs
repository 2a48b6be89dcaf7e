//! Random class hierarchies that change under inline caches, whose results must remain those of a
//! plain lookup.

use fastrand::Rng;

use super::{check, string, with_state};
use crate::instance::FieldCache;
use crate::meta::Event;
use crate::state::State;
use crate::string::LuaString;
use crate::table::{Found, Stored, Table};
use crate::value::Value;

const NAMES: [&str; 6] = ["a", "b", "method", "x", "__index", "__newindex"];

/// The possible results of a cached load.
#[derive(PartialEq, Eq, Debug)]
enum Answer {
    Value(u64, u8),
    Call(u64),
    Loop,
}

/// Loads the field by a plain lookup.
unsafe fn walk(st: *mut State, t: *mut Table, name: *mut LuaString) -> Answer {
    let index = Value::string((&(*st).event_names)[Event::Index as usize]);
    let mut t = t;
    for _ in 0..2000 {
        let v = Table::get(t, Value::string(name));
        let handler = match (*t).meta {
            0 => Value::NIL,
            word if word & 1 != 0 => Value::table(std::ptr::with_exposed_provenance_mut(word & !1)),
            word => Table::get(std::ptr::with_exposed_provenance_mut(word), index),
        };
        if !v.is_nil() || handler.is_nil() {
            return Answer::Value(if v.is_nil() { 0 } else { v.bits() }, v.tag().0);
        }
        if !handler.is_table() {
            return Answer::Call(handler.bits());
        }
        t = handler.as_table();
    }
    Answer::Loop
}

unsafe fn load(
    st: *mut State,
    cache: *mut FieldCache,
    t: *mut Table,
    name: *mut LuaString,
    hits: &mut usize,
) -> Answer {
    if let Some(v) = FieldCache::hit_get(st, cache, t) {
        *hits += 1;
        return Answer::Value(if v.is_nil() { 0 } else { v.bits() }, v.tag().0);
    }
    match Table::cache_get(st, cache, t, name) {
        Found::Value(v) => Answer::Value(v.bits(), v.tag().0),
        Found::Nil => Answer::Value(0, 0),
        Found::TooLong => Answer::Loop,
        Found::Metamethod { handler, .. } => Answer::Call(handler.bits()),
    }
}

unsafe fn check_absent(st: *mut State, t: *mut Table) {
    for &e in &Event::ALL[..8] {
        if (*t).absent & 1 << e as u8 != 0 {
            assert!(
                Table::get_str(t, (&(*st).event_names)[e as usize]).is_nil(),
                "{} is not absent",
                e.name()
            );
        }
    }
}

unsafe fn run(st: *mut State, seed: u64, steps: usize, hits: &mut usize) {
    let mut r = Rng::with_seed(seed);
    let names: Vec<_> = NAMES.iter().map(|n| string(st, n).as_string()).collect();
    let tables: Vec<*mut Table> = (0..7).map(|i| Table::new(st, i % 3, 0)).collect();
    if r.usize(..3) == 0 {
        assert!(Table::make_environment(st, tables[0]));
    }
    // Loads and stores have separate caches, as in instructions.
    let make = || -> Vec<_> { (0..12).map(|i| (FieldCache::EMPTY, i % NAMES.len())).collect() };
    let (mut loads, mut stores_to) = (make(), make());
    for step in 0..steps {
        let t = tables[r.usize(..tables.len())];
        let n = r.usize(..NAMES.len());
        let name = names[n];
        let v = match r.usize(..6) {
            0 => Value::NIL,
            _ if n >= 4 => match r.usize(..4) {
                0 => Value::light(16),
                _ => Value::table(tables[r.usize(..tables.len())]),
            },
            1 => Value::float(0.5),
            2 => string(st, "text"),
            _ => Value::int(r.usize(..50) as i64),
        };
        match r.usize(..90) {
            0 => assert!(Table::set_metatable(st, t, tables[r.usize(..tables.len())])),
            1 if r.usize(..2) == 0 => assert!(Table::set_metatable(st, t, std::ptr::null_mut())),
            2 => assert!(Table::set_meta_index(st, t, tables[r.usize(..tables.len())])),
            3 => _ = Table::metatable(st, t),
            4 if r.usize(..8) == 0 => {
                Table::set_str(st, t, (*st).intern(format!("k{}", r.usize(..90)).as_bytes()), v)
            }
            5 => Table::set_str_const(st, t, name, v),
            6 => Table::set_str(st, t, name, v),
            7 => Table::set_int(st, t, r.usize(..50) as i64, v),
            8..24 => {
                let (cache, n) = &mut stores_to[r.usize(..12)];
                let name = names[*n];
                let key = Value::string(name);
                let newindex = (&(*st).event_names)[Event::NewIndex as usize];
                let word = (*t).meta;
                let handler = match word {
                    0 => Value::NIL,
                    _ if word & 1 != 0 => Value::NIL,
                    _ => Table::get_str(std::ptr::with_exposed_provenance_mut(word), newindex),
                };
                let old = Table::get(t, key);
                let stores = !old.is_nil() || handler.is_nil();
                let done = FieldCache::hit_set(st, cache, t, v)
                    || matches!(Table::cache_set(st, cache, t, name, v), Stored::Done);
                assert_eq!(done, stores, "step {step} of seed {seed}");
                let expected = if stores { v } else { old };
                assert!(Table::get(t, key).same_bits(expected), "step {step} of seed {seed}");
            }
            _ => {
                let (cache, n) = &mut loads[r.usize(..12)];
                let expected = walk(st, t, names[*n]);
                assert_eq!(
                    load(st, cache, t, names[*n], hits),
                    expected,
                    "step {step} of seed {seed}"
                );
            }
        }
        for &t in &tables {
            check_absent(st, t);
        }
        if r.usize(..50) == 0 {
            tables.iter().for_each(|&t| check(t));
        }
    }
}

#[test]
fn caches_agree_with_a_walk() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let (seeds, steps) = if cfg!(miri) { (3, 150) } else { (600, 600) };
        let mut hits = 0;
        for seed in 1..=seeds {
            run(st, seed * 0x9E37_79B9, steps, &mut hits);
        }
        assert!(hits > seeds as usize * steps / 10, "only hits");
    });
}

#[test]
fn stable_classes_hit() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        // o -> class -> base, in both forms of metatable.
        let (base, class) = (Table::new(st, 0, 0), Table::new(st, 0, 0));
        let [x, method, index] = ["x", "method", "__index"].map(|n| string(st, n).as_string());
        Table::set_str_const(st, base, method, Value::int(7));
        Table::set_str_const(st, class, index, Value::table(class));
        Table::set_str_const(st, base, index, Value::table(base));
        assert!(Table::set_metatable(st, class, base));
        for tagged in [false, true] {
            let (mut get_x, mut get_method, mut set_x) =
                (FieldCache::EMPTY, FieldCache::EMPTY, FieldCache::EMPTY);
            let mut misses = 0;
            for i in 0..10 {
                let o = Table::new(st, 1, 0);
                if tagged {
                    assert!(Table::set_meta_index(st, o, class));
                } else {
                    assert!(Table::set_metatable(st, o, class));
                }
                if !FieldCache::hit_set(st, &set_x, o, Value::int(i)) {
                    misses += 1;
                    Table::cache_set(st, &mut set_x, o, x, Value::int(i));
                }
                for (cache, name, expected) in [(&mut get_x, x, i), (&mut get_method, method, 7)] {
                    let v = FieldCache::hit_get(st, cache, o).unwrap_or_else(|| {
                        misses += 1;
                        match Table::cache_get(st, cache, o, name) {
                            Found::Value(v) => v,
                            _ => Value::NIL,
                        }
                    });
                    assert_eq!(v.as_int(), expected);
                }
                // A field that is nil and that no class has.
                Table::set_str_const(st, o, x, Value::NIL);
                if FieldCache::hit_get(st, &get_x, o).is_none() {
                    misses += 1;
                    assert!(matches!(Table::cache_get(st, &mut get_x, o, x), Found::Nil));
                }
            }
            assert_eq!(misses, 4);
        }
    });
}
