//! Weak tables of all kinds, with a program that runs between the slices of collections.

use std::collections::HashSet;

use fastrand::Rng;

use super::super::stop::tests::FUSE;
use super::*;
use crate::header::GcHeader;
use crate::heap::Phase;
use crate::userdata::Userdata;
use crate::value::Tag;

/// Where a program keeps its objects.
const SLOTS: usize = 28;
/// The kinds of its weak tables; those of the second half are big.
const MODES: [&str; 12] = ["k", "k", "k", "v", "v", "kv", "k", "k", "v", "v", "kv", "k"];

/// The model of one object. Objects are named by their numbers.
#[derive(Clone, Default)]
struct Model {
    /// The objects that it refers to.
    links: [Option<usize>; 2],
    has_finalizer: bool,
}

/// A program and its model.
struct Program<'a> {
    st: &'a mut State,
    r: Rng,
    slots: *mut Value,
    weak: *mut Value,
    models: Vec<Model>,
    /// The numbers of the objects in the slots.
    roots: [Option<usize>; SLOTS],
    /// The entries that were stored into weak tables: for tables with weak values under an integer,
    /// the number of the value; otherwise those of the key and of the value.
    stored: Vec<Vec<(usize, usize)>>,
    /// Whether objects have finalizers.
    finalizes: bool,
    /// Whether collections stop early.
    stops: bool,
}

/// Returns the number of an object.
unsafe fn number(v: Value) -> usize {
    let t = match v.tag() {
        Tag::USERDATA => (&(*v.as_userdata()).user_values)[0],
        _ => v,
    };
    Table::get_int(t.as_table(), 1).as_int() as usize
}

impl Program<'_> {
    unsafe fn new_object(&mut self) -> (usize, Value) {
        let number = self.models.len();
        let t = loose_table(self.st);
        Table::set_int(self.st, t.as_table(), 1, Value::int(number as i64));
        let has_finalizer = self.finalizes && self.r.usize(..4) == 0;
        if has_finalizer {
            finalizable(self.st, t.as_table(), number as i64);
        }
        self.models.push(Model { links: [None; 2], has_finalizer });
        if self.r.usize(..5) == 0 {
            // A userdata that holds the table.
            let u = self.st.make_boxed(Userdata::new(Box::new(()), 1), 100);
            (&mut (*u).user_values)[0] = t;
            return (number, Value::userdata(u));
        }
        (number, t)
    }

    /// Returns the table that holds the number and links of an object.
    unsafe fn table_of(v: Value) -> *mut Table {
        match v.tag() {
            Tag::USERDATA => (&(*v.as_userdata()).user_values)[0].as_table(),
            _ => v.as_table(),
        }
    }

    /// Returns an object of a slot, after making one if the slot is empty.
    unsafe fn object(&mut self) -> (usize, Value) {
        let at = self.r.usize(..SLOTS);
        if let Some(number) = self.roots[at] {
            return (number, self.slots.add(at).get());
        }
        let (number, v) = self.new_object();
        self.slots.add(at).put(v);
        self.roots[at] = Some(number);
        (number, v)
    }

    unsafe fn step(&mut self) {
        let w = self.r.usize(..MODES.len());
        let weak = self.weak.add(w).get().as_table();
        match self.r.usize(..12) {
            0..=1 => {
                let at = self.r.usize(..SLOTS);
                self.slots.add(at).put(Value::NIL);
                self.roots[at] = None;
            }
            2..=3 => {
                let (owner, v) = self.object();
                let (other, link) = self.object();
                let which = self.r.usize(..2);
                self.models[owner].links[which] = Some(other);
                Table::set_int(self.st, Self::table_of(v), which as i64 + 2, link);
            }
            4..=8 => {
                let ((k, key), (v, value)) = (self.object(), self.object());
                if MODES[w] == "v" {
                    let at = self.r.usize(..60);
                    let at = if self.r.usize(..2) == 0 { at as i64 + 1 } else { -1 - at as i64 };
                    Table::set_int(self.st, weak, at, value);
                    self.stored[w].push((at as usize, v));
                } else {
                    Table::set(self.st, weak, key, value).expect("a valid key");
                    self.stored[w].push((k, v));
                }
            }
            9 => self.traverse(w),
            10 => {
                // An object is fetched through a weak table, and lives again.
                let at = self.r.usize(..SLOTS);
                let mut key = Value::NIL;
                for _ in 0..self.r.usize(..5) + 1 {
                    match Table::next(self.st, weak, key).expect("keys come from the table") {
                        Some((k, v)) => {
                            key = k;
                            let found = if self.r.usize(..2) == 0 { k } else { v };
                            if found.is_table() || found.tag() == Tag::USERDATA {
                                self.slots.add(at).put(found);
                                self.roots[at] = Some(number(found));
                            }
                        }
                        None => break,
                    }
                }
            }
            _ => {
                // Nodes move.
                for i in 0..self.r.usize(..60) {
                    let key = Value::int(1_000_000 - i as i64);
                    Table::set(self.st, weak, key, Value::TRUE).expect("a valid key");
                }
                for i in 0..60 {
                    let key = Value::int(1_000_000 - i);
                    Table::set(self.st, weak, key, Value::NIL).expect("a valid key");
                }
            }
        }
    }

    /// Checks the entries that a traversal of a weak table sees.
    unsafe fn traverse(&mut self, w: usize) {
        let weak = self.weak.add(w).get().as_table();
        let stored: HashSet<_> = self.stored[w].iter().copied().collect();
        let mut key = Value::NIL;
        while let Some((k, v)) = Table::next(self.st, weak, key).expect("keys come from the table")
        {
            key = k;
            if !v.is_collectable() {
                continue;
            }
            let k = if k.is_int() { k.as_int() as usize } else { number(k) };
            assert!(stored.contains(&(k, number(v))), "an entry that was never stored");
        }
    }

    /// Returns the numbers of the objects that are reachable.
    unsafe fn reachable(&self) -> HashSet<usize> {
        let mut seen: HashSet<usize> = HashSet::new();
        let mut work: Vec<usize> = self.roots.iter().flatten().copied().collect();
        loop {
            while let Some(n) = work.pop() {
                if seen.insert(n) {
                    work.extend(self.models[n].links.iter().flatten());
                }
            }
            for (w, mode) in MODES.iter().enumerate() {
                if *mode == "k" {
                    for (k, v) in self.latest(w) {
                        if seen.contains(&k) && !seen.contains(&v) {
                            work.push(v);
                        }
                    }
                }
            }
            if work.is_empty() {
                return seen;
            }
        }
    }

    /// Returns the last entry of each key.
    fn latest(&self, w: usize) -> Vec<(usize, usize)> {
        let mut last = std::collections::HashMap::new();
        for &(k, v) in &self.stored[w] {
            last.insert(k, v);
        }
        last.into_iter().collect()
    }

    /// Collects everything, and compares the weak tables with the model.
    unsafe fn compare(&mut self) {
        // Objects that finalizers have kept alive are gone after the second one.
        for _ in 0..3 {
            assert!(self.st.gc_full());
        }
        self.st.verify_swept();
        let alive = self.reachable();
        for (w, mode) in MODES.iter().enumerate() {
            let mut expected: Vec<_> = self
                .latest(w)
                .into_iter()
                .filter(|(k, v)| match *mode {
                    "k" => alive.contains(k),
                    "v" => alive.contains(v),
                    _ => alive.contains(k) && alive.contains(v),
                })
                .collect();
            let weak = self.weak.add(w).get().as_table();
            assert_eq!((*weak).header.flags & GcHeader::WEAK, 0);
            let (mut found, mut key) = (Vec::new(), Value::NIL);
            while let Some((k, v)) =
                Table::next(self.st, weak, key).expect("keys come from the table")
            {
                key = k;
                if v.is_collectable() {
                    let k = if k.is_int() { k.as_int() as usize } else { number(k) };
                    found.push((k, number(v)));
                }
            }
            // An entry that was removed stays so.
            self.stored[w] = found.clone();
            expected.sort_unstable();
            found.sort_unstable();
            if *mode != "k" && (self.finalizes || self.stops) {
                // A value that was found dead, and removed, may live again by another table.
                expected.retain(|entry| found.contains(entry));
            }
            assert_eq!(found, expected, "table {w} with mode {mode}");
        }
    }
}

fn run(seed: u64, set_up: unsafe fn(&mut State), finalizes: bool, stops: bool) {
    let fresh = Fresh::new();
    // SAFETY: the state is used only here, and everything that stays alive is in slots of its
    // stack.
    unsafe {
        let st = &mut *fresh.0;
        st.heap.set_checked(true);
        set_up(st);
        let weak = st.top;
        for (i, mode) in MODES.iter().enumerate() {
            let t = weak_table(st, mode);
            if i >= MODES.len() / 2 {
                for i in 1..=2 * st.heap.slices.big as i64 {
                    let key = Value::float(i as f64 + 0.5);
                    Table::set(st, t, key, Value::TRUE).expect("a valid key");
                }
            }
        }
        let slots = st.top;
        for _ in 0..SLOTS {
            push(st, Value::NIL);
        }
        let stored = vec![Vec::new(); MODES.len()];
        let r = Rng::with_seed(seed);
        let roots = [None; SLOTS];
        let mut p =
            Program { st, r, slots, weak, models: Vec::new(), roots, stored, finalizes, stops };
        let steps = if cfg!(miri) { 50 } else { 4_000 };
        for step in 0..steps {
            p.step();
            if stops && p.r.usize(..10) == 0 {
                FUSE.set(p.r.usize(..200));
            }
            match p.r.usize(..3) {
                0 => p.st.heap.pace.soon(),
                1 if p.r.usize(..20) == 0 => drop(p.st.gc_step(0)),
                _ => {}
            }
            p.st.gc_poll().expect("there is no limit");
            FUSE.set(usize::MAX);
            if p.r.usize(..400) == 0 || step == 199.min(steps / 2) {
                p.compare();
            }
        }
        p.compare();
        let finalized: HashSet<i64> = finalized().into_iter().collect();
        let alive = p.reachable();
        for (n, model) in p.models.iter().enumerate() {
            let expected = model.has_finalizer && !alive.contains(&n);
            // An object that was fetched through a weak table may have been finalized before.
            assert!(!expected || finalized.contains(&(n as i64)), "{n} was not finalized");
        }
    }
}

#[test]
fn incremental() {
    let set_up: unsafe fn(&mut State) = |st| {
        st.gc_set_step_multiplier(1);
        st.gc_set_pause(100);
        st.heap.slices.resurrection = 0;
        st.heap.slices.keys = 3;
    };
    for seed in [0x1234_5678, 0x9876_5432, 0x1111_2222] {
        run(seed, set_up, false, false);
        run(seed, set_up, true, false);
        run(seed, set_up, true, true);
    }
}

#[test]
fn generational() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    let set_up: unsafe fn(&mut State) = |st| unsafe {
        st.gc_set_generational(0, 0);
        st.gc_set_step_multiplier(1);
        st.heap.slices.resurrection = 0;
        st.heap.slices.keys = 3;
    };
    for seed in [0x1357_9BDF, 0x0246_8ACE] {
        run(seed, set_up, false, false);
        run(seed, set_up, true, false);
        run(seed, set_up, true, true);
    }
}

#[test]
fn phases() {
    for seed in [0x3333_5555, 0x7777_1111, 0x2468_ACE1] {
        run(seed, |st| st.set_gc_phases(7), false, false);
        run(seed, |st| st.set_gc_phases(8), true, false);
    }
}

/// Marks everything in slices as small as possible, and returns how many there were.
unsafe fn mark_in_slices(st: &mut State) -> usize {
    let mut slices = 1;
    let super::super::slices::Slices { logged, big, .. } = st.heap.slices;
    while !st.heap.marker.mark_some(1, logged, big) {
        slices += 1;
    }
    slices
}

/// The atomic step visits nothing of a weak table that was visited before.
#[test]
fn tables_are_visited_in_slices() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        for mode in ["k", "v", "kv"] {
            let (weak, kept) = (weak_table(st, mode), table(st));
            for i in 1..=2_000 {
                let (key, value) = (loose_table(st), loose_table(st));
                let key = if mode == "v" { Value::float(i as f64 + 0.5) } else { key };
                Table::set(st, weak, key, value).expect("a valid key");
                Table::set_int(st, kept, 2 * i, key);
                Table::set_int(st, kept, 2 * i + 1, value);
            }
            st.start_cycle();
            assert!(mark_in_slices(st) > 30);
            let before = st.heap.marker.work;
            let (key, value) = (loose_table(st), loose_table(st));
            Table::set(st, weak, key, value).expect("a valid key");
            push(st, key);
            push(st, value);
            assert!(st.atomic());
            assert!(st.heap.marker.work - before < 30_000, "{mode}");
            st.verify_heap();
            assert!(st.finish_sweep());
            assert_eq!(entries(st, weak), 2_001);
        }
    });
}

/// A chain that leads from one entry to another, in the order that is worst for visits, is followed
/// in linear time, also when its start is reached only by the atomic step.
#[test]
fn chains_of_ephemerons_are_followed() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let n = if cfg!(miri) { 120 } else { 3_000 };
        for count in [1, 3, 20] {
            let tables: Vec<_> = (0..count).map(|_| weak_table(st, "k")).collect();
            let mut value = loose_table(st);
            push(st, value);
            for i in 0..n {
                let key = loose_table(st);
                Table::set(st, tables[i % count], key, value).expect("a valid key");
                st.top.sub(1).put(key);
                value = key;
            }
            let holder = table(st);
            st.top = st.top.sub(2);
            st.start_cycle();
            mark_in_slices(st);
            push(st, value);
            push(st, Value::table(holder));
            let before = st.heap.marker.work;
            assert!(st.atomic());
            // In the order of insertion each key is a value of the next entry.
            assert!(st.heap.marker.work - before < 10_000_000);
            st.verify_heap();
            assert!(st.finish_sweep());
            let total: usize = tables.iter().map(|&t| entries(st, t)).sum();
            assert_eq!(total, n);
            st.top = st.top.sub(2);
            st.gc_full();
            let total: usize = tables.iter().map(|&t| entries(st, t)).sum();
            assert_eq!(total, 0);
        }
    });
}

/// A table whose weakness changes after its visit is treated according to the new weakness.
#[test]
fn the_mode_counts_when_marking_ends() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        for mode in ["k", "v", "kv"] {
            for now in ["", "k", "v", "kv"] {
                let weak = weak_table(st, mode);
                for _ in 0..300 {
                    let (key, value) = (loose_table(st), loose_table(st));
                    Table::set(st, weak, key, value).expect("a valid key");
                }
                st.start_cycle();
                mark_in_slices(st);
                let meta = Table::metatable(st, weak);
                let now_value = Value::string(st.intern(now.as_bytes()));
                set_name(st, meta, "__mode", now_value);
                assert!(st.atomic());
                st.verify_heap();
                assert!(st.finish_sweep());
                // Keys that were strong when the table was visited are marked, and values whose
                // keys were weak then and are strong now: all stay for one cycle.
                let stay = matches!((mode, now), (_, "") | ("v", "k") | ("k", "v"));
                assert_eq!(entries(st, weak), if stay { 300 } else { 0 }, "{mode} {now}");
                st.verify_swept();
                st.gc_full();
                assert_eq!(entries(st, weak), if now.is_empty() { 300 } else { 0 }, "{mode} {now}");
                st.top = st.top.sub(1);
            }
        }
    });
}

/// Between the end of marking and the removal of dead keys, a traversal sees the entries of live
/// and of new objects alone.
#[test]
fn dead_keys_are_hidden() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        st.heap.slices.resurrection = 0;
        for mode in ["k", "kv"] {
            let (weak, kept) = (weak_table(st, mode), table(st));
            for i in 0..100 {
                let key = loose_table(st);
                if i % 2 == 0 {
                    Table::set_int(st, kept, i + 1, key);
                }
                let value = Value::int(i);
                Table::set(st, weak, key, value).expect("a valid key");
            }
            st.start_cycle();
            mark_in_slices(st);
            assert!(st.atomic() && st.heap.phase == Phase::Resurrect);
            assert!((*weak).header.flags & GcHeader::WEAK != 0);
            let mut expected = 50;
            while st.heap.phase == Phase::Resurrect {
                assert_eq!(entries(st, weak), expected);
                let key = loose_table(st);
                Table::set(st, weak, key, Value::TRUE).expect("a valid key");
                let u = Value::userdata(st.make_boxed(Userdata::new(Box::new(()), 0), 100));
                Table::set(st, weak, u, Value::TRUE).expect("a valid key");
                Table::set_int(st, kept, 1_000 + expected as i64, key);
                Table::set_int(st, kept, 1_001 + expected as i64, u);
                expected += 2;
                st.sweep_slice();
            }
            assert!(expected > 60 && (*weak).header.flags & GcHeader::WEAK == 0);
            assert_eq!(entries(st, weak), expected);
            assert!(st.finish_sweep());
            st.gc_full();
            assert_eq!(entries(st, weak), expected);
        }
    });
}

/// A cycle that is given up while keys are hidden shows nothing that the next one frees.
#[test]
fn a_cycle_that_is_given_up_hides_nothing() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        st.heap.slices.resurrection = 0;
        let weak = weak_table(st, "k");
        for _ in 0..100 {
            let key = loose_table(st);
            Table::set(st, weak, key, Value::TRUE).expect("a valid key");
        }
        st.start_cycle();
        mark_in_slices(st);
        assert!(st.atomic());
        let key = loose_table(st);
        Table::set(st, weak, key, Value::TRUE).expect("a valid key");
        push(st, key);
        st.heap.marker.lose();
        st.sweep_slice();
        assert!(st.heap.phase == Phase::Mark && (*weak).header.flags & GcHeader::WEAK == 0);
        assert_eq!(entries(st, weak), 101);
        st.heap.marker.stop = crate::heap::stop::Stop::new();
        st.gc_full();
        assert_eq!(entries(st, weak), 1);
        st.verify_swept();
    });
}

/// The elements of a table with weak keys are strong, and a string that is the key of a dead value
/// dies with it.
#[test]
fn elements_and_strings_are_values() {
    // SAFETY: the state is this test's alone, and what it keeps is in slots of the stack.
    with_state(|st| unsafe {
        let (weak, both) = (weak_table(st, "k"), weak_table(st, "kv"));
        for i in 1..=4 {
            let v = loose_table(st);
            Table::set_int(st, weak, i, v);
        }
        st.gc_full();
        let before = st.gc_count_bytes();
        for (byte, value) in [(b'a', Value::int(1)), (b'b', loose_table(st))] {
            let key = Value::string(st.intern(&[byte; 300_000]));
            Table::set(st, both, key, value).expect("a valid key");
        }
        st.start_cycle();
        mark_in_slices(st);
        assert!(st.atomic());
        st.verify_heap();
        assert!(st.finish_sweep());
        assert_eq!((entries(st, weak), entries(st, both)), (4, 1));
        assert!((300_000..305_000).contains(&(st.gc_count_bytes() - before)));
        st.verify_swept();
    });
}
