//! Locks, of `std` or of the model checker. All locks that the threads of an engine share,
//! including those of other crates, are taken with [`lock`], so that they are free in a forked
//! child.

#[cfg(loom)]
pub use loom::sync::{Mutex, MutexGuard};
#[cfg(not(loom))]
pub use std::sync::Mutex;

use std::sync::PoisonError;

/// Locks a mutex, even if an earlier holder panicked: every critical section of the engine leaves
/// its data consistent.
#[cfg(loom)]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A locked mutex. Its holder is inside the gate of [`crate::fork`], so that no other thread forks
/// while the lock is held.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    // The fields are dropped in this order.
    guard: std::sync::MutexGuard<'a, T>,
    _inside: crate::fork::Inside,
}

#[cfg(not(loom))]
impl<T> std::ops::Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

#[cfg(not(loom))]
impl<T> std::ops::DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Locks a mutex, even if an earlier holder panicked: every critical section of the engine leaves
/// its data consistent. The mutex is never locked in a forked child.
#[cfg(not(loom))]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let inside = crate::fork::enter();
    let guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    MutexGuard { guard, _inside: inside }
}
