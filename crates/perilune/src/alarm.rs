//! A thread of the process that calls functions at given times.

use std::collections::BTreeMap;
use std::io;
use std::thread::{self, Thread};
use std::time::Instant;

use perilune_code::lock::{Mutex, MutexGuard, lock};

type Ring = Box<dyn Fn() + Send>;

/// The pending alarms, ordered by time. The number distinguishes alarms that are due at the same
/// time.
struct Alarms {
    due: BTreeMap<(Instant, u64), Ring>,
    next: u64,
    /// The thread that watches the alarms, and the id of its process: a forked child has no such
    /// thread.
    watcher: Option<(Thread, u32)>,
}

static ALARMS: Mutex<Alarms> = Mutex::new(Alarms { due: BTreeMap::new(), next: 0, watcher: None });

fn alarms() -> MutexGuard<'static, Alarms> {
    lock(&ALARMS)
}

/// An alarm that calls its function once, unless it is dropped first. It never calls the function
/// after its destructor has returned.
pub(crate) struct Alarm((Instant, u64));

impl Alarm {
    /// Sets an alarm that calls `ring` at the time `at`, on the thread of the alarms.
    ///
    /// # Errors
    /// Returns the system's error when the thread cannot be started.
    pub(crate) fn set(at: Instant, ring: Ring) -> io::Result<Alarm> {
        let mut alarms = alarms();
        let process = std::process::id();
        let watcher = match &alarms.watcher {
            Some((watcher, of)) if *of == process => watcher.clone(),
            _ => {
                let builder = thread::Builder::new().name("perilune-limits".to_owned());
                let watcher = builder.spawn(watch)?.thread().clone();
                alarms.watcher = Some((watcher.clone(), process));
                watcher
            }
        };
        let key = (at, alarms.next);
        alarms.next += 1;
        alarms.due.insert(key, ring);
        if alarms.due.first_key_value().is_some_and(|(first, _)| *first == key) {
            watcher.unpark();
        }
        Ok(Alarm(key))
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        alarms().due.remove(&self.0);
    }
}

fn watch() {
    loop {
        let mut alarms = alarms();
        let now = Instant::now();
        while let Some(first) = alarms.due.first_entry().filter(|e| e.key().0 <= now) {
            // Rings with the lock held, so that an alarm never rings after its drop has returned.
            first.remove()();
        }
        let next = alarms.due.first_key_value().map(|((at, _), _)| *at);
        drop(alarms);
        // If an earlier alarm was set since the lock was released, `set` has unparked this thread
        // and the next call returns at once.
        match next {
            Some(at) => thread::park_timeout(at.saturating_duration_since(Instant::now())),
            None => thread::park(),
        }
    }
}
