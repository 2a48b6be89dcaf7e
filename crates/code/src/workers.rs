//! The compile threads.
//!
//! Requests and wake-ups travel over channels. From there jobs go into one queue that all threads
//! share. The queue orders jobs by priority, lets a thread take companions of its job, and supports
//! cancelling jobs.

mod link;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};

use crate::fork;
use crate::lock::{Mutex, MutexGuard, lock};
use crate::queue::Queue;
use link::{Inbox, Link};

/// The work of the threads. They share nothing but the queue: each has its own context.
///
/// A panic in any of these refuses the job concerned ([`Compiler::panicked`]), and the thread
/// continues. Threads call all of these methods inside the gate of [`fork`], so work that takes
/// long and uses no lock of the engine should run in [`fork::outside`].
pub trait Compiler: Send + Sync + 'static {
    /// A unit of work. Dropping it gives it up.
    type Job: Send + 'static;
    /// The data that a thread keeps from job to job.
    type Context: Send + 'static;

    /// Creates a context.
    fn context(&self) -> Self::Context;

    /// Does a job. It clears the context itself.
    fn compile(&self, context: &mut Self::Context, job: &mut Self::Job);

    /// Returns the priority of a waiting job that was submitted with the priority `given`. It is
    /// called when a thread takes a job, so that jobs that have become hot in the meantime come
    /// first. The queue is locked meanwhile.
    fn priority(&self, job: &Self::Job, given: u64) -> u64 {
        let _ = job;
        given
    }

    /// Returns how long a thread has to pause before it takes the next job, or `None` if it may
    /// take one now. The thread asks again after that time. Threads do not pause during
    /// [`Workers::wait_idle`].
    fn pause(&self) -> Option<Duration> {
        None
    }

    /// Returns whether a waiting job should still be done. Others are dropped when many jobs wait.
    /// The queue is locked meanwhile.
    fn is_wanted(&self, job: &Self::Job) -> bool {
        let _ = job;
        true
    }

    /// Chooses, among the waiting jobs in the order of their arrival, those to be done together
    /// with the next job, and returns their places. The queue is locked meanwhile.
    fn companions<'a>(
        &self,
        next: &'a Self::Job,
        waiting: impl Iterator<Item = &'a Self::Job>,
    ) -> Vec<usize> {
        let _ = (next, waiting);
        Vec::new()
    }

    /// Joins several jobs into one. Jobs that a panic drops here are given up.
    fn join(&self, job: &mut Self::Job, others: Vec<Self::Job>) {
        let _ = (job, others);
    }

    /// Returns the jobs that follow from the previous job, with their priorities.
    fn follow_ups(&self) -> Vec<(u64, Self::Job)> {
        Vec::new()
    }

    /// Called when a thread has had no job for [`REST`] after the last one.
    fn rest(&self, context: &mut Self::Context) {
        let _ = context;
    }

    /// Takes a job that one of the methods above panicked at, with the message of the panic.
    fn panicked(&self, job: Self::Job, message: &str);

    /// Takes the message of a panic of [`Compiler::follow_ups`], which concerns no job.
    fn follow_ups_panicked(&self, message: &str) {
        let _ = message;
    }
}

/// The time without a job after which a thread [rests](Compiler::rest).
const REST: Duration = Duration::from_millis(50);

/// Options for the number and the resources of threads.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The most threads; zero means one on up to three cores, otherwise a third of the cores.
    pub threads: usize,
    /// Bytes of stack of each thread.
    pub stack: usize,
    /// How long dropping the workers waits for a job in progress before it abandons the job.
    pub patience: Duration,
}

impl Default for WorkerOptions {
    fn default() -> WorkerOptions {
        WorkerOptions { threads: 0, stack: 2 << 20, patience: Duration::from_secs(2) }
    }
}

/// The most threads if no number is requested.
const MOST_THREADS: usize = 16;

/// A queue of jobs and the threads that execute them, which are started when there is something to
/// do.
///
/// Dropping it drops the waiting jobs, and waits a limited time for those in progress.
///
/// In a forked child it has no jobs and no threads, and starts threads of its own.
pub struct Workers<C: Compiler> {
    shared: Arc<Shared<C>>,
}

struct Shared<C: Compiler> {
    compiler: C,
    options: WorkerOptions,
    /// The most threads, computed when the first one is needed. Counting the cores takes several
    /// system calls, which would take much of the time of a short script.
    most: OnceLock<usize>,
    state: Mutex<State<C>>,
}

struct State<C: Compiler> {
    /// Jobs that arrived from the channel and are not in progress.
    queue: Queue<C::Job>,
    /// Contexts of [`Workers::run_here`].
    contexts: Vec<C::Context>,
    link: Link<C::Job>,
    closing: bool,
    /// The handles of all threads that were started.
    handles: Vec<JoinHandle<()>>,
    /// The number of threads that have not ended.
    threads: usize,
    /// The number of threads that wait for messages.
    idle: usize,
    /// The number of jobs in progress on these threads.
    running: usize,
    /// The number of jobs submitted and not done: in the channel, in the queue, or taken by a
    /// thread.
    outstanding: usize,
    /// The waiting callers, which are notified when no job is outstanding.
    waiters: Vec<Sender<()>>,
    /// The process that the threads are in.
    child: u64,
}

impl<C: Compiler> State<C> {
    fn new(threads: usize) -> State<C> {
        State {
            queue: Queue::new(),
            contexts: Vec::new(),
            link: Link::new(if threads == 0 { MOST_THREADS } else { threads }),
            closing: false,
            handles: Vec::new(),
            threads: 0,
            idle: 0,
            running: 0,
            outstanding: 0,
            waiters: Vec::new(),
            child: fork::child(),
        }
    }

    /// Records that so many jobs are done or dropped.
    fn settle(&mut self, jobs: usize) {
        self.outstanding -= jobs;
        if self.outstanding == 0 {
            for waiter in self.waiters.drain(..) {
                // A caller that does not wait any more needs no message.
                let _ = waiter.try_send(());
            }
        }
    }
}

impl<C: Compiler> Workers<C> {
    /// Creates workers without threads.
    pub fn new(compiler: C, options: WorkerOptions) -> Workers<C> {
        fork::watch();
        let state = Mutex::new(State::new(options.threads));
        let most = OnceLock::new();
        Workers { shared: Arc::new(Shared { compiler, options, most, state }) }
    }

    /// Returns the compiler.
    pub fn compiler(&self) -> &C {
        &self.shared.compiler
    }

    /// Queues a job; the higher its priority ([`Compiler::priority`]), the sooner it is done. If
    /// there is no thread and none can be started, the job is dropped, which gives it up.
    pub fn submit(&self, priority: u64, job: C::Job) {
        let mut state = self.shared.state();
        let waiting = state.outstanding - state.running;
        if state.idle <= waiting && state.threads < self.shared.most_threads() {
            self.start(&mut state);
        }
        if state.threads == 0 {
            drop(state);
            return drop(job);
        }
        state.outstanding += 1;
        state.link.request(priority, job);
    }

    fn start(&self, state: &mut State<C>) {
        if !crate::room::for_thread(self.shared.options.stack) {
            return;
        }
        let shared = self.shared.clone();
        let inbox = state.link.inbox();
        let thread = thread::Builder::new()
            .name("perilune-jit".into())
            .stack_size(self.shared.options.stack)
            .spawn(move || work(&shared, &inbox));
        if let Ok(handle) = thread {
            state.handles.push(handle);
            state.threads += 1;
        }
    }

    /// Executes a job on this thread, now.
    pub fn run_here(&self, job: C::Job) {
        let mut context = self.shared.state().contexts.pop();
        let mut jobs = vec![(0, job)];
        while let Some((_, job)) = jobs.pop() {
            self.shared.run(&mut context, Taken { job, companions: Ok(Vec::new()) });
            jobs.extend(self.shared.follow_ups().into_iter().rev());
        }
        self.shared.state().contexts.extend(context);
    }

    /// Returns the number of jobs that are waiting or in progress.
    pub fn pending(&self) -> usize {
        self.shared.state().outstanding
    }

    /// Takes out the waiting jobs for which `out` returns true.
    pub fn cancel(&self, out: impl FnMut(&C::Job) -> bool) -> Vec<C::Job> {
        let mut state = self.shared.state();
        let State { queue, link, .. } = &mut *state;
        link.requests().for_each(|(priority, job)| queue.push(priority, job));
        let jobs = queue.remove(out);
        state.settle(jobs.len());
        // Jobs that were only moved to the queue still have to be done.
        if !state.queue.is_empty() {
            state.link.wake();
        }
        jobs
    }

    /// Waits until no job is waiting or in progress. A job must not call this.
    pub fn wait_idle(&self) {
        let (done, is_done) = bounded(1);
        let mut state = self.shared.state();
        if state.outstanding > 0 {
            state.waiters.push(done);
            // Wakes threads that pause.
            for _ in 0..state.threads {
                state.link.wake();
            }
            drop(state);
            let _ = is_done.recv();
        }
    }
}

/// A job that a thread has taken.
struct Taken<J> {
    job: J,
    /// The jobs to be joined with it, or the message of a panic.
    companions: Result<Vec<J>, String>,
}

impl<C: Compiler> Shared<C> {
    fn most_threads(&self) -> usize {
        *self.most.get_or_init(|| match self.options.threads {
            0 => {
                let cores = thread::available_parallelism().map_or(1, usize::from);
                (cores / 3).clamp(1, MOST_THREADS)
            }
            threads => threads,
        })
    }

    /// Locks the state. In a forked child it is emptied first: waiting jobs of the parent are given
    /// up, and threads and channels of the parent are forgotten without being touched.
    fn state(&self) -> MutexGuard<'_, State<C>> {
        let mut state = lock(&self.state);
        if state.child != fork::child() {
            let parents = std::mem::replace(&mut *state, State::new(self.options.threads));
            state.contexts = parents.contexts;
            state.closing = parents.closing;
            std::mem::forget((parents.link, parents.handles, parents.waiters));
            // The destructors of jobs may use the workers.
            drop(state);
            drop(parents.queue);
            state = lock(&self.state);
        }
        state
    }

    /// Executes a job. If the job panics, the context is dropped.
    fn run(&self, context: &mut Option<C::Context>, taken: Taken<C::Job>) {
        let _inside = fork::enter();
        let Taken { mut job, companions } = taken;
        let result = companions.and_then(|others| {
            caught(|| {
                if !others.is_empty() {
                    self.compiler.join(&mut job, others);
                }
                let context = context.get_or_insert_with(|| self.compiler.context());
                self.compiler.compile(context, &mut job);
            })
        });
        // A panic while a job is dropped or reported is not reported, and the thread continues.
        let _ = match result {
            Ok(()) => caught(|| drop(job)),
            Err(message) => {
                let _ = caught(|| drop(context.take()));
                caught(|| self.compiler.panicked(job, &message))
            }
        };
    }

    /// Returns the jobs that follow from the previous job.
    fn follow_ups(&self) -> Vec<(u64, C::Job)> {
        let _inside = fork::enter();
        caught(|| self.compiler.follow_ups()).unwrap_or_else(|message| {
            let _ = caught(|| self.compiler.follow_ups_panicked(&message));
            Vec::new()
        })
    }

    /// Waits for a job. Returns `None` if the thread is to stop.
    fn next(
        &self,
        inbox: &Inbox<C::Job>,
        context: &mut Option<C::Context>,
    ) -> Option<Taken<C::Job>> {
        let mut received = None;
        let mut is_idle = false;
        let mut waits = 0;
        loop {
            let mut state = lock(&self.state);
            if state.child != inbox.child {
                // A job has forked, and this is the child.
                return None;
            }
            state.idle -= usize::from(std::mem::take(&mut is_idle));
            for (priority, job) in received.take().into_iter().chain(inbox.requests()) {
                state.queue.push(priority, job);
            }
            if state.closing {
                let jobs = state.queue.remove(|_| true);
                state.settle(jobs.len());
                drop(state);
                let _ = caught(|| drop(jobs));
                return None;
            }
            let is_wanted = |job: &C::Job| caught(|| self.compiler.is_wanted(job)).unwrap_or(true);
            let unwanted = state.queue.prune(is_wanted);
            if !unwanted.is_empty() {
                state.settle(unwanted.len());
                // The destructors of jobs may use the workers.
                drop(state);
                let _ = caught(|| drop(unwanted));
                continue;
            }
            let wanted_now = state.queue.is_empty() || !state.waiters.is_empty();
            let pause = if wanted_now { None } else { self.pause() };
            if let Some(pause) = pause {
                drop(state);
                received = inbox.wait_for(pause);
                continue;
            }
            let priority = |job: &C::Job, given| {
                caught(|| self.compiler.priority(job, given)).unwrap_or(given)
            };
            if let Some(job) = state.queue.pop(priority) {
                state.running += 1;
                let companions = self.companions(&job, &mut state);
                if !state.queue.is_empty() && state.idle > 0 {
                    state.link.wake();
                }
                return Some(Taken { job, companions });
            }
            state.idle += 1;
            is_idle = true;
            drop(state);
            if waits == 1 {
                self.rest(context);
            }
            received = if waits == 0 { inbox.wait_for(REST) } else { inbox.wait() };
            waits += 1;
        }
    }

    /// Tells the compiler that a thread has nothing to do.
    fn rest(&self, context: &mut Option<C::Context>) {
        let _inside = fork::enter();
        if let Some(context) = context {
            let _ = caught(|| self.compiler.rest(context));
        }
    }

    /// Returns how long a thread has to wait before it takes the next job.
    fn pause(&self) -> Option<Duration> {
        caught(|| self.compiler.pause()).unwrap_or_default()
    }

    /// Takes the jobs that are to be done together with the next one.
    fn companions(&self, job: &C::Job, state: &mut State<C>) -> Result<Vec<C::Job>, String> {
        if state.queue.is_empty() {
            return Ok(Vec::new());
        }
        let places = caught(|| self.compiler.companions(job, state.queue.jobs()))?;
        let is_taken = |place| places.contains(&place);
        let others = if places.is_empty() { Vec::new() } else { state.queue.take(is_taken) };
        state.settle(others.len());
        Ok(others)
    }

    /// Waits until all threads have ended, or for the time of [`WorkerOptions::patience`]. A thread
    /// whose job drops the engine does not wait for itself.
    fn wait_for_end(&self) {
        let end = Instant::now() + self.options.patience;
        let mut state = self.state();
        let handles = std::mem::take(&mut state.handles);
        let ended = state.link.close();
        drop(state);
        if handles.iter().any(|h| h.thread().id() == thread::current().id()) {
            return;
        }
        if fork::outside(|| ended.recv_deadline(end)) == Err(RecvTimeoutError::Disconnected) {
            for handle in handles {
                // The threads have nothing left to do.
                let _ = handle.join();
            }
        }
    }
}

/// Runs a worker.
fn work<C: Compiler>(shared: &Shared<C>, inbox: &Inbox<C::Job>) {
    let mut context = None;
    while let Some(taken) = shared.next(inbox, &mut context) {
        shared.run(&mut context, taken);
        let more = shared.follow_ups();
        let mut state = lock(&shared.state);
        if state.child != inbox.child {
            break;
        }
        state.outstanding += more.len();
        for (priority, job) in more {
            state.queue.push(priority, job);
        }
        state.running -= 1;
        state.settle(1);
    }
    let _ = caught(|| drop(context));
    let mut state = lock(&shared.state);
    if state.child == inbox.child {
        state.threads -= 1;
    }
}

/// Calls `f`; returns the message if it panics.
fn caught<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        let message = message(&*payload).to_owned();
        // The payload's destructor could panic again; that panic is leaked.
        if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(another);
        }
        message
    })
}

/// Returns the message of a panic.
fn message(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}

impl<C: Compiler> Drop for Workers<C> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.closing = true;
        let State { queue, link, .. } = &mut *state;
        link.requests().for_each(|(priority, job)| queue.push(priority, job));
        let jobs = state.queue.remove(|_| true);
        state.settle(jobs.len());
        drop(state);
        drop(jobs);
        self.shared.wait_for_end();
    }
}
