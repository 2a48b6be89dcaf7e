//! The protocol without machine code, so that Miri can check it: a version is a box to which a slot
//! points.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;

use super::{Hooks, Mutator, Pins, Quiescence, Retired};
use crate::{CodeId, EntrySlot};

/// A stand-in for the code with this id.
struct Version(CodeId);

impl Version {
    fn publish(id: u32) -> *const u8 {
        Box::into_raw(Box::new(Version(CodeId::from_raw(id)))).cast_const().cast()
    }
}

/// Owns a version that is in no slot.
struct Garbage(*const Version);

// SAFETY: a version is only a number.
unsafe impl Send for Garbage {}

impl Retired for Garbage {
    fn contains(&self, id: CodeId) -> bool {
        // SAFETY: it is dropped below.
        unsafe { (*self.0).0 == id }
    }
}

impl Drop for Garbage {
    fn drop(&mut self) {
        // SAFETY: it was published once, and no frame is in it, which is the subject of the test.
        drop(unsafe { Box::from_raw(self.0.cast_mut()) });
    }
}

#[derive(Default)]
struct State {
    armed: AtomicBool,
    /// One frame.
    frame: AtomicU32,
}

impl State {
    fn list(&self, pins: &mut Pins) {
        pins.add(CodeId::from_raw(self.frame.load(Relaxed)));
    }
}

struct Seen(Arc<State>);

impl Hooks for Seen {
    fn arm(&self) {
        self.0.armed.store(true, Relaxed);
    }
    fn walk(&self, pins: &mut Pins) {
        self.0.list(pins);
    }
    fn forget(&self) {}
}

fn register(quiescence: &Quiescence<Garbage>) -> (Arc<State>, Mutator) {
    let state = Arc::new(State::default());
    let mutator = quiescence.register(Box::new(Seen(state.clone())));
    (state, mutator)
}

/// Calls through the slot: pushes a frame, runs `middle`, and returns into the code.
fn call(slot: &EntrySlot, state: &State, middle: impl FnOnce()) {
    let version = slot.target().cast::<Version>();
    // SAFETY: the protocol keeps it alive.
    state.frame.store(unsafe { (*version).0.raw() }, Relaxed);
    middle();
    // SAFETY: as above.
    assert_eq!(unsafe { (*version).0.raw() }, state.frame.load(Relaxed));
    state.frame.store(0, Relaxed);
}

#[test]
fn threads_call_what_another_replaces() {
    let versions = if cfg!(miri) { 40 } else { 4_000 };
    let quiescence = Quiescence::new();
    let first = CodeId::FIRST.raw();
    let slot = EntrySlot::new(Version::publish(first));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for turn in 0..2 {
            let (quiescence, slot, stop) = (&quiescence, &slot, &stop);
            scope.spawn(move || {
                let (state, mut mutator) = register(quiescence);
                mutator.enter();
                while !stop.load(Relaxed) {
                    call(slot, &state, || {
                        if turn == 0 {
                            mutator.blocking(thread::yield_now);
                        } else if state.armed.swap(false, Relaxed) {
                            mutator.announce(|pins| state.list(pins));
                        }
                    });
                    mutator.announce(|pins| state.list(pins));
                }
            });
        }
        for id in first + 1..first + versions {
            let old = slot.target();
            assert!(slot.exchange(old, Version::publish(id)));
            quiescence.retire(Garbage(old.cast()));
            quiescence.advance();
            drop(quiescence.collect(|_| ()));
        }
        stop.store(true, Relaxed);
    });
    assert_eq!(quiescence.mutators(), 0);
    drop(quiescence.collect(|_| ()));
    assert_eq!(quiescence.pending(), 0);
    drop(Garbage(slot.target().cast()));
}
