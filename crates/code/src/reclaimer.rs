//! The thread that advances quiescence and frees, in batches.

use std::sync::{Arc, Condvar, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::CodeSpace;
use crate::sync::{Mutex, MutexGuard, lock};

/// The longest time between two advances while something waits that a frame is in.
const LONGEST: Duration = Duration::from_secs(1);
/// It walks stacks and frees metadata, and recurses in neither.
const STACK: usize = 256 << 10;

/// Wakes the thread; starts it when there is something to do first.
#[derive(Default)]
pub(crate) struct Reclaimer {
    signal: Arc<Signal>,
}

#[derive(Default)]
struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    started: bool,
    closing: bool,
    /// Something was retired since the last advance.
    retired: bool,
    /// So much that the next advance should not wait.
    urgent: bool,
}

impl Signal {
    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reclaimer {
    /// Something was retired. Says whether a thread will see to it.
    pub(crate) fn notify(&self, space: &Arc<CodeSpace>, urgent: bool) -> bool {
        let mut state = lock(&self.signal.state);
        if !state.started {
            let (signal, space) = (self.signal.clone(), Arc::downgrade(space));
            let interval = signal_interval(&space);
            let thread = thread::Builder::new()
                .name("perilune-reclaim".into())
                .stack_size(STACK)
                .spawn(move || run(&signal, &space, interval));
            if thread.is_err() {
                return false;
            }
            state.started = true;
        }
        state.retired = true;
        state.urgent |= urgent;
        drop(state);
        self.signal.changed.notify_one();
        true
    }
}

impl Drop for Reclaimer {
    /// The thread holds nothing but the signal while it waits, so nobody waits for it.
    fn drop(&mut self) {
        lock(&self.signal.state).closing = true;
        self.signal.changed.notify_one();
    }
}

fn signal_interval(space: &Weak<CodeSpace>) -> Duration {
    space.upgrade().map_or(LONGEST, |s| s.options().advance_every)
}

/// Advances every `interval` while something waits to be freed, less often while nothing can be.
fn run(signal: &Signal, space: &Weak<CodeSpace>, interval: Duration) {
    let mut pause = interval;
    let mut pending = false;
    loop {
        let Some(new) = next(signal, pending, pause) else { return };
        let Some(space) = space.upgrade() else { return };
        let freed = space.advance_now();
        pending = space.pending() > 0;
        pause = if new || freed > 0 { interval } else { (pause * 2).min(LONGEST) };
    }
}

/// Waits until it is time to advance. Returns whether something was retired since the last advance; `None`: the space is gone.
fn next(signal: &Signal, pending: bool, pause: Duration) -> Option<bool> {
    let mut state = lock(&signal.state);
    while !state.closing && !state.retired && !pending {
        state = signal.wait(state);
    }
    let until = Instant::now() + pause;
    while !state.closing && !state.urgent {
        let Some(left) = until.checked_duration_since(Instant::now()) else { break };
        let (guard, _) =
            signal.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        state = guard;
    }
    let new = std::mem::take(&mut state.retired);
    state.urgent = false;
    (!state.closing).then_some(new)
}
