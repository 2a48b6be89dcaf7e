//! One thread that rings at the times that were set.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

type Ring = Box<dyn Fn() + Send>;

/// What rings when. The numbers tell alarms of one time apart.
struct Alarms {
    due: BTreeMap<(Instant, u64), Ring>,
    next: u64,
    has_thread: bool,
}

static ALARMS: Mutex<Alarms> =
    Mutex::new(Alarms { due: BTreeMap::new(), next: 0, has_thread: false });
static CHANGED: Condvar = Condvar::new();

fn alarms() -> MutexGuard<'static, Alarms> {
    ALARMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rings once, unless it is dropped before. When it is gone it does not ring any more.
pub(crate) struct Alarm((Instant, u64));

impl Alarm {
    /// # Errors
    /// When there is no thread to be had.
    pub(crate) fn set(at: Instant, ring: Ring) -> io::Result<Alarm> {
        let mut alarms = alarms();
        if !alarms.has_thread {
            let thread = std::thread::Builder::new().name("perilune-limits".to_owned());
            thread.spawn(watch)?;
            alarms.has_thread = true;
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
            // under the lock, so that nobody who has dropped an alarm hears it
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
