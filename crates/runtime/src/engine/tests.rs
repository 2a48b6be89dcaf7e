//! Sharing and release of symbols and shapes.

use std::sync::{Arc, Barrier};
use std::thread;

use super::{EngineShared, MAX_CHILDREN, MAX_FIELDS, RESERVED_IDS, Shape};

#[test]
fn same_path_same_shape() {
    let e = EngineShared::new();
    let a = e.with_field(e.empty_shape(), b"a").unwrap();
    let ab = e.with_field(&a, b"b").unwrap();
    let again = e.with_field(&e.with_field(e.empty_shape(), b"a").unwrap(), b"b").unwrap();
    assert!(Arc::ptr_eq(&ab, &again));
    let meta = e.with_metatable(&ab).unwrap();
    assert!(meta.has_meta() && meta.count() == 2 && meta.id() != ab.id());
    assert!(e.with_field(&meta, b"c").unwrap().has_meta());
    assert_eq!(ab.last_field().unwrap().name(), b"b");
    drop((a, ab, again, meta));
    assert_eq!((e.shape_count(), e.symbol_count()), (2, 0));
}

#[test]
fn limits() {
    let e = EngineShared::new();
    let mut shape = e.empty_shape().clone();
    for i in 0..MAX_FIELDS {
        shape = e.with_field(&shape, format!("f{i}").as_bytes()).unwrap();
    }
    assert!(e.with_field(&shape, b"one more").is_none());
    drop(shape);
    if cfg!(miri) {
        return;
    }
    let hold: Vec<_> = (0..MAX_CHILDREN)
        .map(|i| e.with_field(e.empty_shape(), format!("{i}").as_bytes()).unwrap())
        .collect();
    assert!(e.with_field(e.empty_shape(), b"x").is_none());
    assert_eq!(e.shape_count(), 2 + MAX_CHILDREN);
    drop(hold);
    assert!(e.with_field(e.empty_shape(), b"x").is_some());
    assert_eq!((e.shape_count(), e.symbol_count()), (2, 0));
}

#[test]
fn ids_are_not_reused() {
    let e = EngineShared::new();
    let first = e.with_field(e.empty_shape(), b"a").unwrap().id();
    assert_ne!(first, e.with_field(e.empty_shape(), b"a").unwrap().id());
}

#[test]
fn ids_end_before_the_reserved_ones() {
    let e = EngineShared::new();
    e.leave_shape_ids(2);
    let a = e.with_field(e.empty_shape(), b"a").unwrap();
    let b = e.with_field(e.empty_shape(), b"b").unwrap();
    assert_eq!([a.id(), b.id()], [RESERVED_IDS.start - 2, RESERVED_IDS.start - 1]);
    assert!(e.with_field(e.empty_shape(), b"c").is_none());
    assert!(e.with_metatable(e.empty_shape()).is_none());
    // Existing shapes are still found.
    assert!(Arc::ptr_eq(&a, &e.with_field(e.empty_shape(), b"a").unwrap()));
    drop((a, b));
    // The id of a dropped shape is not used again.
    assert!(e.with_field(e.empty_shape(), b"a").is_none());
}

#[test]
fn two_threads_make_the_same_shapes() {
    let e = EngineShared::new();
    let rounds = if cfg!(miri) { 5 } else { 500 };
    let start = Arc::new(Barrier::new(2));
    let work = |seed: usize| {
        let (e, start) = (e.clone(), start.clone());
        move || {
            start.wait();
            for round in 0..rounds {
                let build = || {
                    let mut shapes: Vec<Arc<Shape>> = vec![e.empty_shape().clone()];
                    for i in 0..6 {
                        let name = format!("field{}", (round + i) % 7);
                        shapes.push(e.with_field(&shapes[i], name.as_bytes()).unwrap());
                    }
                    shapes.push(e.with_metatable(&shapes[(round + seed) % 7]).unwrap());
                    shapes
                };
                let (one, two) = (build(), build());
                for (a, b) in one.iter().zip(&two) {
                    assert!(Arc::ptr_eq(a, b));
                }
            }
        }
    };
    let (a, b) = (thread::spawn(work(0)), thread::spawn(work(3)));
    a.join().unwrap();
    b.join().unwrap();
    assert_eq!((e.shape_count(), e.symbol_count()), (2, 0));
}
