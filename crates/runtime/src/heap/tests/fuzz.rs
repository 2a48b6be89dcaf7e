//! Random programs against a model.

use fastrand::Rng;

use super::super::stop::tests::FUSE;
use super::*;

thread_local! {
    /// Whether collections have to stop at times.
    static FUSES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

const ROOTS: usize = 24;
const SLOTS: usize = 6;

/// The expected contents of a table: its number, and for each slot the number of the table in it.
#[derive(Clone)]
struct Model {
    slots: [Option<usize>; SLOTS],
}

/// Returns the key of a slot. The slots are spread over all parts of a table.
unsafe fn key(st: &mut State, slot: usize) -> Value {
    match slot {
        0 => Value::int(2),
        1 => Value::string(st.intern(b"field")),
        2 => Value::string(st.intern(b"another field")),
        3 => Value::float(0.5),
        4 => Value::int(3),
        _ => Value::string(st.intern(b"a name that is too long to be interned, so a long string")),
    }
}

/// Returns a table with the number `n` at index 1, after allocating some garbage.
unsafe fn numbered(st: &mut State, n: usize, r: &mut Rng) -> Value {
    let t = Table::new(st, r.usize(..5) as u8, 0);
    Table::set_int(st, t, 1, Value::int(n as i64));
    for i in 0..r.usize(..4) {
        st.intern(format!("garbage {n} {i}").as_bytes());
    }
    if r.usize(..50) == 0 {
        for i in 2..r.usize(..1_500) as i64 {
            Table::set_int(st, t, i, Value::int(i));
        }
    }
    if r.usize(..100) == 0 {
        st.intern(&vec![b'x'; r.usize(..20_000)]);
    }
    if r.usize(..30) == 0 {
        let th = Thread::create(st, false);
        set_name(st, t, "a thread", Value::thread(th));
    }
    Value::table(t)
}

/// Compares everything reachable from a root with the model.
unsafe fn compare(st: &mut State, root: Value, number: usize, models: &[Model]) {
    let mut work = vec![(root, number)];
    let mut seen = std::collections::HashMap::new();
    while let Some((v, number)) = work.pop() {
        assert!(v.is_table());
        let t = v.as_table();
        match seen.insert(number, t) {
            Some(other) => assert!(other == t, "identity is kept"),
            None => {
                assert_eq!(Table::get_int(t, 1).as_int(), number as i64);
                for slot in 0..SLOTS {
                    let k = key(st, slot);
                    let v = Table::get(t, k);
                    match models[number].slots[slot] {
                        Some(n) => work.push((v, n)),
                        None => assert!(!v.is_table()),
                    }
                }
            }
        }
    }
}

fn fuzz(seed: u64, set_up: unsafe fn(&mut State), checked: bool) {
    let fresh = Fresh::new();
    let mut r = Rng::with_seed(seed);
    // SAFETY: the state is used only here, and everything that stays alive is in slots of its
    // stack.
    unsafe {
        let st = &mut *fresh.0;
        st.heap.set_checked(checked);
        set_up(st);
        let mut models = Vec::new();
        let mut roots = [0; ROOTS];
        for root in &mut roots {
            *root = models.len();
            let t = numbered(st, *root, &mut r);
            models.push(Model { slots: [None; SLOTS] });
            push(st, t);
        }
        let first = st.top.sub(ROOTS);
        for step in 0..if cfg!(miri) { 300 } else { 30_000 } {
            let (i, slot) = (r.usize(..ROOTS), r.usize(..SLOTS));
            let mut owner = (first.add(i).get(), roots[i]);
            // Walk to a random object.
            for _ in 0..r.usize(..4) {
                if let Some(n) = models[owner.1].slots[r.usize(..SLOTS)] {
                    let s = models[owner.1]
                        .slots
                        .iter()
                        .position(|s| *s == Some(n))
                        .expect("just found");
                    let k = key(st, s);
                    owner = (Table::get(owner.0.as_table(), k), n);
                }
            }
            match r.usize(..10) {
                0..=3 => {
                    let n = models.len();
                    models.push(Model { slots: [None; SLOTS] });
                    let t = numbered(st, n, &mut r);
                    let k = key(st, slot);
                    Table::set(st, owner.0.as_table(), k, t).expect("a valid key");
                    models[owner.1].slots[slot] = Some(n);
                }
                4..=6 => {
                    // Link to another root's object.
                    let j = r.usize(..ROOTS);
                    let k = key(st, slot);
                    Table::set(st, owner.0.as_table(), k, first.add(j).get()).expect("a valid key");
                    models[owner.1].slots[slot] = Some(roots[j]);
                }
                7 => {
                    let k = key(st, slot);
                    Table::set(st, owner.0.as_table(), k, Value::NIL).expect("a valid key");
                    models[owner.1].slots[slot] = None;
                }
                8 => {
                    first.add(i).put(owner.0);
                    roots[i] = owner.1;
                }
                _ => {
                    let n = models.len();
                    models.push(Model { slots: [None; SLOTS] });
                    let t = numbered(st, n, &mut r);
                    first.add(i).put(t);
                    roots[i] = n;
                }
            }
            if st.heap.phases.is_some() {
                st.gc_poll().expect("there is no limit");
            }
            if r.usize(..20) == 0 {
                if FUSES.get() {
                    let most = [20, 400][r.usize(..2)];
                    FUSE.set(r.usize(..most));
                }
                match r.usize(..3) {
                    0 => drop(st.gc_step(0)),
                    1 => drop(st.gc_step(r.usize(..3) + 1)),
                    _ => st.gc_poll().expect("there is no limit"),
                }
                FUSE.set(usize::MAX);
            }
            if step % 1_000 == 999 || step == 299 {
                if FUSES.get() {
                    FUSE.set(r.usize(..2_000));
                    st.gc_full();
                    FUSE.set(usize::MAX);
                }
                if r.usize(..4) == 0 {
                    st.gc_full();
                }
                for (i, root) in roots.iter().enumerate() {
                    compare(st, first.add(i).get(), *root, &models);
                }
            }
        }
    }
}

#[test]
fn incremental() {
    fuzz(0x1234_5678, |_| {}, true);
    fuzz(0x9876_5432, |_| {}, false);
}

#[test]
fn generational() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    let set_up: unsafe fn(&mut State) = |st| unsafe {
        st.gc_set_generational(0, 0);
    };
    fuzz(0x1234_5678, set_up, true);
    fuzz(0xABCD_EF01, set_up, false);
}

/// Tiny increments of random kinds.
#[test]
fn phases() {
    fuzz(0x1234_5678, |st| st.set_gc_phases(1), true);
    fuzz(0x9876_5432, |st| st.set_gc_phases(2), false);
}

/// The verification of the mode finds the effects of a missing write barrier.
#[test]
#[should_panic(expected = "is reachable")]
fn lost_barriers_are_found() {
    let set_up: unsafe fn(&mut State) = |st| {
        st.set_gc_phases(1);
        st.lose_barriers();
    };
    fuzz(0x1234_5678, set_up, true);
}

/// Collections that have to stop at any point do no harm.
#[test]
fn stopped() {
    FUSES.set(true);
    fuzz(0x1357_9BDF, |_| {}, true);
    fuzz(0x0246_8ACE, |_| {}, false);
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    let generational: unsafe fn(&mut State) = |st| unsafe {
        st.gc_set_generational(0, 0);
    };
    fuzz(0x1111_9999, generational, true);
    fuzz(0x2222_8888, generational, false);
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    let changing: unsafe fn(&mut State) = |st| unsafe {
        st.gc_set_generational(0, 0);
        st.gc_set_incremental(100, 1, 0);
    };
    fuzz(0x3333_7777, changing, true);
    FUSES.set(false);
}

/// A full collection with a check of the heap at every poll.
#[test]
fn stress() {
    fuzz(0x2468_ACE0, |st| st.set_gc_stress(true), true);
}

#[test]
fn small_slices() {
    let set_up: unsafe fn(&mut State) = |st| {
        st.gc_set_step_multiplier(1);
        st.gc_set_pause(100);
    };
    fuzz(0x5555_1111, set_up, true);
    fuzz(0x7777_3333, set_up, false);
}
