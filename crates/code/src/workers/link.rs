//! The channels between workers and the code that submits jobs.

use std::convert::Infallible;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};

use crate::fork;

/// The end of the code that submits jobs.
pub(super) struct Link<J> {
    request: Sender<(u64, J)>,
    requests: Receiver<(u64, J)>,
    wake: Sender<()>,
    wakes: Receiver<()>,
    /// Never used for sending: threads stop when it is dropped.
    running: Option<Sender<Infallible>>,
    stop: Receiver<Infallible>,
    /// Never used for sending: threads hold copies while they exist.
    alive: Option<Sender<Infallible>>,
    ended: Receiver<Infallible>,
}

/// The end of a thread.
pub(super) struct Inbox<J> {
    requests: Receiver<(u64, J)>,
    wakes: Receiver<()>,
    stop: Receiver<Infallible>,
    _alive: Option<Sender<Infallible>>,
    /// The process that the thread is in.
    pub(super) child: u64,
}

impl<J> Link<J> {
    /// Creates the channels for so many threads at most.
    pub(super) fn new(threads: usize) -> Link<J> {
        let (request, requests) = unbounded();
        // If the channel is full, it already has a wake-up for each thread.
        let (wake, wakes) = bounded(threads.max(1));
        let (running, stop) = bounded(0);
        let (alive, ended) = bounded(0);
        let (running, alive) = (Some(running), Some(alive));
        Link { request, requests, wake, wakes, running, stop, alive, ended }
    }

    /// Returns a thread's end.
    pub(super) fn inbox(&self) -> Inbox<J> {
        Inbox {
            requests: self.requests.clone(),
            wakes: self.wakes.clone(),
            stop: self.stop.clone(),
            _alive: self.alive.clone(),
            child: fork::child(),
        }
    }

    /// Sends a job, which wakes a thread that waits.
    pub(super) fn request(&self, priority: u64, job: J) {
        // The channel has a receiver here, so it takes the job.
        let _ = self.request.send((priority, job));
    }

    /// Takes out the jobs that no thread has received yet.
    pub(super) fn requests(&self) -> impl Iterator<Item = (u64, J)> {
        self.requests.try_iter()
    }

    /// Wakes a thread that waits, to look at the queue.
    pub(super) fn wake(&self) {
        let _ = self.wake.try_send(());
    }

    /// Tells all threads to stop. The channel returned is disconnected when the last has ended.
    pub(super) fn close(&mut self) -> Receiver<Infallible> {
        self.running = None;
        self.alive = None;
        self.ended.clone()
    }
}

impl<J> Inbox<J> {
    /// Takes out the jobs that no thread has received yet.
    pub(super) fn requests(&self) -> impl Iterator<Item = (u64, J)> {
        self.requests.try_iter()
    }

    /// Waits for a message. Returns the job in it, if it is one.
    pub(super) fn wait(&self) -> Option<(u64, J)> {
        select! {
            recv(self.requests) -> request => request.ok(),
            recv(self.wakes) -> _ => None,
            recv(self.stop) -> _ => None,
        }
    }

    /// Does the same as [`Inbox::wait`], for `time` at most.
    pub(super) fn wait_for(&self, time: Duration) -> Option<(u64, J)> {
        select! {
            recv(self.requests) -> request => request.ok(),
            recv(self.wakes) -> _ => None,
            recv(self.stop) -> _ => None,
            default(time) => None,
        }
    }
}
