//! A thread of the process that calls functions at given times.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

type Ring = Box<dyn Fn() + Send>;

/// The pending alarms by time. The number tells alarms of the same time apart.
struct Alarms {
    due: BTreeMap<(Instant, u64), Ring>,
    next: u64,
    /// The process in which a thread watches: a forked child has none.
    thread_in: Option<u32>,
}

static ALARMS: Mutex<Alarms> =
    Mutex::new(Alarms { due: BTreeMap::new(), next: 0, thread_in: None });
static CHANGED: Condvar = Condvar::new();

fn alarms() -> MutexGuard<'static, Alarms> {
    ALARMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An alarm that rings once, unless it is dropped first. It does not ring after it has been
/// dropped.
pub(crate) struct Alarm((Instant, u64));

impl Alarm {
    /// # Errors
    /// Returns the system's error when the thread cannot be started.
    pub(crate) fn set(at: Instant, ring: Ring) -> io::Result<Alarm> {
        let mut alarms = alarms();
        let process = Some(std::process::id());
        if alarms.thread_in != process {
            let thread = std::thread::Builder::new().name("perilune-limits".to_owned());
            thread.spawn(watch)?;
            alarms.thread_in = process;
        }
        let key = (at, alarms.next);
        alarms.next += 1;
        alarms.due.insert(key, ring);
        if alarms.due.first_key_value().is_some_and(|(first, _)| *first == key) {
            CHANGED.notify_one();
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
    let mut alarms = alarms();
    loop {
        let now = Instant::now();
        while let Some(first) = alarms.due.first_entry().filter(|e| e.key().0 <= now) {
            // rings under the lock, so that an alarm that was dropped is not heard
            first.remove()();
        }
        alarms = match alarms.due.first_key_value() {
            Some((&(at, _), _)) => {
                let wait = at.saturating_duration_since(Instant::now());
                CHANGED.wait_timeout(alarms, wait).unwrap_or_else(PoisonError::into_inner).0
            }
            None => CHANGED.wait(alarms).unwrap_or_else(PoisonError::into_inner),
        };
    }
}
