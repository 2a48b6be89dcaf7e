//! Performs the same random operations on a table and on a `HashMap`, and compares them.

use std::collections::HashMap;
use std::ops::Range;

use fastrand::Rng;

use super::{check, string, with_state};
use crate::state::State;
use crate::table::Table;
use crate::value::{Tag, Value};

/// A key, in a form whose equality is that of Lua keys.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    Int(i64),
    Float(u64),
    Text(Vec<u8>),
    Bool(bool),
    Address(u64),
}

unsafe fn key_of(v: Value) -> Key {
    match v.tag() {
        Tag::INTEGER => Key::Int(v.as_int()),
        Tag::FLOAT => Key::Float(v.bits()),
        Tag::STRING => Key::Text(crate::string::LuaString::bytes(v.as_string()).to_vec()),
        Tag::TRUE | Tag::FALSE => Key::Bool(v.truthy()),
        _ => Key::Address(v.bits()),
    }
}

unsafe fn random_key(st: *mut State, r: &mut Rng, spread: usize) -> Value {
    match r.usize(..10) {
        0..5 => Value::int(r.usize(..spread) as i64 + 1),
        5 => Value::int(r.usize(..2000) as i64 - 1000),
        6..8 => string(st, &format!("name{}", r.usize(..spread))),
        8 => {
            string(st, &format!("a name that is too long to be interned, number {}", r.usize(..8)))
        }
        _ => match r.usize(..4) {
            0 => Value::float(r.usize(..20) as f64 + 0.5),
            1 => Value::bool(r.usize(..2) == 0),
            2 => Value::light(r.usize(..10) as u64 * 16),
            _ => Value::int(i64::MIN + r.usize(..3) as i64),
        },
    }
}

unsafe fn random_value(st: *mut State, r: &mut Rng, bias: usize) -> Value {
    if r.usize(..4) == 0 {
        return Value::NIL;
    }
    match if r.usize(..10) == 0 { r.usize(..4) } else { bias } {
        0 => Value::int(r.usize(..100) as i64),
        1 => Value::float(r.usize(..100) as f64),
        2 => string(st, "v"),
        _ => Value::bool(r.bool()),
    }
}

unsafe fn compare(st: *mut State, t: *mut Table, model: &HashMap<Key, Value>) {
    check(t);
    Table::check_nodes(t);
    let (mut key, mut index, mut seen) = (Value::NIL, Table::start(st, t), 0);
    while let Some((k, v)) = Table::next(st, t, key).unwrap() {
        let (i, k2, v2) = Table::next_index(t, index).unwrap();
        assert!(k.same_bits(k2) && v.same_bits(v2));
        assert_eq!(Table::index_of_key(t, k), Ok(i));
        assert!(model[&key_of(k)].same_bits(v), "{k:?}", k = key_of(k));
        (key, index, seen) = (k, i, seen + 1);
    }
    assert!(Table::next_index(t, index).is_none());
    assert_eq!(seen, model.len());
}

/// Performs a part of a collection, in any mode, so that the table is used while it is partly
/// marked, old, and so on.
unsafe fn collect(st: *mut State, r: &mut Rng) {
    match r.usize(..8) {
        0 => _ = (*st).gc_set_generational(20, 100),
        1 => _ = (*st).gc_set_incremental(200, 100, 13),
        2 => _ = (*st).gc_full(),
        _ => _ = (*st).gc_step(0),
    }
}

/// Integer keys that move up or down, as those of queues do: the first one, and the one after the
/// last.
struct Window {
    keys: Range<i64>,
    longest: i64,
    goes_down: bool,
}

impl Window {
    fn new(r: &mut Rng) -> Window {
        let start = *r.choice(&[1, 1, 9, 900, -3, -900, i64::MAX - 300, i64::MIN + 300]).unwrap();
        Window { keys: start..start, longest: 1 << r.usize(..7), goes_down: start < 0 || r.bool() }
    }

    /// Returns a key to set, or one to clear.
    fn next(&mut self, r: &mut Rng) -> (i64, bool) {
        let Range { start, end } = &mut self.keys;
        let sets = start == end || *end - *start < self.longest && r.usize(..5) < 3;
        let key = match (sets, self.goes_down) {
            (true, false) => *end,
            (true, true) => *start - 1,
            (false, false) => *start,
            (false, true) => *end - 1,
        };
        match (sets, self.goes_down) {
            (true, false) => *end += 1,
            (true, true) => *start -= 1,
            (false, false) => *start += 1,
            (false, true) => *end -= 1,
        }
        if r.usize(..100) == 0 {
            self.goes_down ^= true;
        }
        (key, sets)
    }
}

/// Compares the value under an integer key, and stores another, as machine code does.
unsafe fn replace_int(
    st: *mut State,
    t: *mut Table,
    model: &mut HashMap<Key, Value>,
    (key, v): (i64, Value),
) {
    let old = model.get(&Key::Int(key)).copied().unwrap_or(Value::NIL);
    assert!(Table::get(t, Value::int(key)).same_bits(old), "{key}");
    let is_stored = Table::set_direct_plainly(t, key, v);
    assert!(is_stored || Table::set_int_within(st, t, key, v), "there is no limit");
    match v.is_nil() {
        true => model.remove(&Key::Int(key)),
        false => model.insert(Key::Int(key), v),
    };
}

/// Performs `steps` operations. Returns how many found [direct nodes](crate::table::direct).
unsafe fn run(st: *mut State, seed: u64, steps: usize) -> usize {
    let mut r = Rng::with_seed(seed);
    for i in 0..r.usize(..200) {
        (*string(st, &format!("name{i}")).as_string()).uses = r.u32(..2);
    }
    let mut window = seed.is_multiple_of(3).then(|| Window::new(&mut r));
    let mut direct = 0;
    let mut model: HashMap<Key, Value> = HashMap::new();
    let t = Table::new(st, r.usize(..5) as u8, r.usize(..6) as u32);
    (*st).add_host_root(Value::table(t));
    let (spread, bias) = (1 << r.usize(..8), r.usize(..4));
    if r.usize(..4) == 0 {
        assert!(Table::make_environment(st, t));
    }
    for step in 0..steps {
        direct += usize::from(Table::is_direct(t));
        if let Some(window) = &mut window
            && r.usize(..50) != 0
        {
            let (key, sets) = window.next(&mut r);
            let v = if sets { random_value(st, &mut r, bias) } else { Value::NIL };
            replace_int(st, t, &mut model, (key, v));
            if r.usize(..100) == 0 {
                compare(st, t, &model);
            }
            continue;
        }
        match r.usize(..40) {
            0 if r.usize(..2) == 0 => collect(st, &mut r),
            0 => {
                let meta =
                    if r.usize(..3) == 0 { std::ptr::null_mut() } else { Table::new(st, 0, 0) };
                assert!(Table::set_metatable(st, t, meta));
            }
            1 => {
                let items: Vec<Value> =
                    (0..r.usize(..12)).map(|_| random_value(st, &mut r, bias)).collect();
                let start =
                    if r.usize(..2) == 0 { Table::length(t) as usize } else { r.usize(..spread) };
                Table::set_list(st, t, start as u32, items.as_ptr(), items.len());
                for (i, &v) in items.iter().enumerate() {
                    let key = Key::Int((start + i) as i64 + 1);
                    if v.is_nil() {
                        model.remove(&key)
                    } else {
                        model.insert(key, v)
                    };
                }
            }
            2..8 => {
                // Push and pop.
                let n = Table::length(t);
                if r.usize(..3) == 0 {
                    Table::set_int(st, t, n, Value::NIL);
                    model.remove(&Key::Int(n));
                } else {
                    let v = random_value(st, &mut r, bias);
                    if !v.is_nil() {
                        Table::set_int(st, t, n + 1, v);
                        model.insert(Key::Int(n + 1), v);
                    }
                }
            }
            op => {
                let key = random_key(st, &mut r, spread);
                let v = random_value(st, &mut r, bias);
                let k = key_of(key);
                let old = model.get(&k).copied().unwrap_or(Value::NIL);
                assert!(Table::get(t, key).same_bits(old), "{k:?} at step {step} of seed {seed}");
                if op < 14 {
                    assert_eq!(Table::set_existing(st, t, key, v), !old.is_nil());
                    if old.is_nil() {
                        continue;
                    }
                } else if key.is_string() && op < 34 {
                    Table::set_str_const(st, t, key.as_string(), v);
                } else if key.is_int() && op < 34 {
                    assert!(Table::set_int_within(st, t, key.as_int(), v), "there is no limit");
                } else {
                    Table::set(st, t, key, v).unwrap();
                }
                if v.is_nil() {
                    model.remove(&k)
                } else {
                    model.insert(k, v)
                };
                assert!(Table::get(t, key).same_bits(v));
            }
        }
        if r.usize(..20) == 0 || steps < 60 {
            compare(st, t, &model);
        }
    }
    compare(st, t, &model);
    direct
}

/// Sets many integer keys in an order with strides, and clears some of them.
unsafe fn run_with_strides(st: *mut State, seed: u64) {
    let mut r = Rng::with_seed(seed);
    let t = Table::new(st, 0, 0);
    (*st).add_host_root(Value::table(t));
    let mut model: HashMap<Key, Value> = HashMap::new();
    let bias = r.usize(..4);
    let start = *r.choice(&[1, 1, 1, 2, 700, -700, i64::MAX - 5000, i64::MIN]).unwrap();
    // The keys are close together, or there are gaps between them.
    let (count, gap) = (r.i64(100..5000), *r.choice(&[1, 1, 1, 2, 3, 5, 30]).unwrap());
    let any = r.i64(1..count);
    let stride = *r.choice(&[1, count - 1, count - 1, 2, 7, 64, any]).unwrap();
    let cleared = r.i64(1..40);
    for i in 0..count {
        let place = (i * stride + i * stride / count) % count;
        let key = start.saturating_add(place * gap);
        let clears = i % cleared == cleared - 1;
        let v = if clears { Value::NIL } else { random_value(st, &mut r, bias) };
        replace_int(st, t, &mut model, (key, v));
        let end = Table::length(t);
        let has = |key| model.contains_key(&Key::Int(key));
        assert!(!has(end + 1) && (end == 0 || has(end)), "{end} is no border, seed {seed}");
        if r.usize(..500) == 0 {
            collect(st, &mut r);
            compare(st, t, &model);
        }
    }
    compare(st, t, &model);
}

#[test]
fn large_tables_agree_with_a_model() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        for seed in 1..=if cfg!(miri) { 1 } else { 300 } {
            run_with_strides(st, seed);
        }
    });
}

#[test]
fn agrees_with_a_model() {
    // SAFETY: the state is live, and objects stay alive, since no safepoint is reached.
    with_state(|st| unsafe {
        let (seeds, steps) = if cfg!(miri) { (3, 80) } else { (400, 500) };
        let mut direct = 0;
        for seed in 1..=seeds {
            direct += run(st, seed * 0x9E37_79B9, steps);
            direct += run(st, seed * 0x85EB_CA6B, 50);
        }
        assert!(direct > seeds as usize, "direct nodes are tested");
    });
}
