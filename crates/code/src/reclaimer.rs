//! The thread that advances quiescence and frees retired code, in batches.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};

use crate::fork;
use crate::lock::{Mutex, lock};

/// The longest time between two advances while frames pin retired code.
const LONGEST: Duration = Duration::from_secs(1);
/// Bytes of stack. The thread walks stacks and frees metadata, both without recursion.
const STACK: usize = 256 << 10;

/// The work of the thread.
pub(crate) trait Reclaim: Send + Sync + 'static {
    /// Advances quiescence and frees; returns how many things were freed.
    fn reclaim(&self) -> usize;
    /// Returns how many things wait to be freed.
    fn pending(&self) -> usize;
}

/// Wakes the thread, and starts it when there is something to do for the first time.
#[derive(Default)]
pub(crate) struct Reclaimer {
    thread: Mutex<Option<Link>>,
}

/// The senders to the thread, which ends when they are dropped. Each channel holds one message at
/// most: further equal messages would say nothing new.
struct Link {
    /// Signals that something was retired since the last advance.
    retired: Sender<()>,
    /// Signals that so much was retired that the next advance should not wait.
    urgent: Sender<()>,
    /// The process that the thread is in.
    child: u64,
}

impl Reclaimer {
    /// Reports that something was retired. Returns whether a thread will handle it.
    pub(crate) fn notify<R: Reclaim>(
        &self,
        space: &Arc<R>,
        interval: Duration,
        urgent: bool,
    ) -> bool {
        let mut thread = lock(&self.thread);
        forget_of_parent(&mut thread);
        let link = match &mut *thread {
            Some(link) => link,
            none => match start(space, interval) {
                Some(link) => none.insert(link),
                None => return false,
            },
        };
        // A full channel has the message already.
        if urgent {
            let _ = link.urgent.try_send(());
        }
        let _ = link.retired.try_send(());
        true
    }
}

impl Drop for Reclaimer {
    fn drop(&mut self) {
        forget_of_parent(&mut lock(&self.thread));
    }
}

/// Forgets, in a forked child, the thread and channels of the parent. The thread does not exist
/// there, and may have been in the middle of using a channel, so they are not even dropped.
fn forget_of_parent(link: &mut Option<Link>) {
    if link.as_ref().is_some_and(|link| link.child != fork::child()) {
        std::mem::forget(link.take());
    }
}

fn start<R: Reclaim>(space: &Arc<R>, interval: Duration) -> Option<Link> {
    let (retired, was_retired) = bounded(1);
    let (urgent, is_urgent) = bounded(1);
    let weak = Arc::downgrade(space);
    if !crate::room::for_thread(STACK) {
        return None;
    }
    thread::Builder::new()
        .name("perilune-reclaim".into())
        .stack_size(STACK)
        .spawn(move || run(&was_retired, &is_urgent, &weak, interval))
        .ok()?;
    Some(Link { retired, urgent, child: fork::child() })
}

/// Advances every `interval` while something waits to be freed, and less often while nothing can be
/// freed.
fn run<R: Reclaim>(
    retired: &Receiver<()>,
    urgent: &Receiver<()>,
    space: &Weak<R>,
    interval: Duration,
) {
    let mut pause = interval;
    let mut pending = false;
    loop {
        let mut new = false;
        if !pending {
            if retired.recv().is_err() {
                return;
            }
            new = true;
        }
        if urgent.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        match retired.try_recv() {
            Ok(()) => new = true,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return,
        }
        // Metadata that is dropped may take any of the engine's locks.
        let _inside = fork::enter();
        let Some(space) = space.upgrade() else { return };
        let freed = space.reclaim();
        pending = space.pending() > 0;
        pause = if new || freed > 0 { interval } else { (pause * 2).min(LONGEST) };
    }
}
