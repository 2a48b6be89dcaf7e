//! The threads that compile.
//!
//! Requests and wake-ups travel over channels; after them one queue, which all threads share, keeps
//! the order of priority, lets a thread take companions of its job, and lets jobs be cancelled.

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

/// What workers do. They share nothing but the queue: each has a context of its own.
///
/// A panic in any of these refuses the job concerned ([`Compiler::panicked`]), and the thread goes
/// on. Threads run all of them inside the gate of [`fork`], so what takes long and uses no lock of
/// the engine should run in [`fork::outside`].
pub trait Compiler: Send + Sync + 'static {
    /// What is to be compiled. Dropping it gives up.
    type Job: Send + 'static;
    /// What a thread keeps from job to job.
    type Context: Send + 'static;

    /// Creates a context.
    fn context(&self) -> Self::Context;

    /// Does a job. It clears the context itself.
    fn compile(&self, context: &mut Self::Context, job: &mut Self::Job);

    /// Returns the priority of a waiting job that was submitted with the priority `given`. It is
    /// read when a thread takes a job, so that what has become hot in the meantime comes first. The
    /// queue is locked meanwhile.
    fn priority(&self, job: &Self::Job, given: u64) -> u64 {
        let _ = job;
        given
    }

    /// Returns how long a thread has to pause before it takes the next job, or `None` if it may
    /// take one now. It asks again after that time. Threads do not pause during
    /// [`Workers::wait_idle`].
    fn pause(&self) -> Option<Duration> {
        None
    }

    /// Chooses, among the waiting jobs in the order of their arrival, those to be done together
    /// with the next job, and returns their places. The queue is locked meanwhile.
    fn companions(&self, next: &Self::Job, waiting: &[&Self::Job]) -> Vec<usize> {
        let _ = (next, waiting);
        Vec::new()
    }

    /// Makes one job of several. Jobs that a panic drops here have given up.
    fn join(&self, job: &mut Self::Job, others: Vec<Self::Job>) {
        let _ = (job, others);
    }

    /// Returns jobs that the job done before has left, with their priorities.
    fn follow_ups(&self) -> Vec<(u64, Self::Job)> {
        Vec::new()
    }

    /// Is called when a thread has had no job for [`REST`] after the last one.
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

/// After how much time without a job a thread [rests](Compiler::rest).
const REST: Duration = Duration::from_millis(50);

/// How many threads there are, and what they get.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The most threads; zero for one on up to three cores, else a third of the cores.
    pub threads: usize,
    /// Bytes of stack of each.
    pub stack: usize,
    /// How long dropping the workers waits for a job under way before it leaves it alone.
    pub patience: Duration,
}

impl Default for WorkerOptions {
    fn default() -> WorkerOptions {
        WorkerOptions { threads: 0, stack: 2 << 20, patience: Duration::from_secs(2) }
    }
}

/// The most threads that there are if none is asked for.
const MOST_THREADS: usize = 16;

/// A queue of jobs and the threads that do them, which are started when there is something to do.
///
/// Dropping it drops the waiting jobs, and waits a limited time for those under way.
///
/// In a forked child it has no jobs and no threads, and starts threads of its own.
pub struct Workers<C: Compiler> {
    shared: Arc<Shared<C>>,
}

struct Shared<C: Compiler> {
    compiler: C,
    options: WorkerOptions,
    /// The most threads, once the first one is wanted. Counting the cores takes several system
    /// calls, which would be much of the time that a short script takes.
    most: OnceLock<usize>,
    state: Mutex<State<C>>,
}

struct State<C: Compiler> {
    /// Jobs that arrived from the channel and are not under way.
    queue: Queue<C::Job>,
    /// Contexts of [`Workers::run_here`].
    contexts: Vec<C::Context>,
    link: Link<C::Job>,
    closing: bool,
    /// All that were started.
    handles: Vec<JoinHandle<()>>,
    /// How many of them have not ended.
    threads: usize,
    /// How many of them wait for messages.
    idle: usize,
    /// Jobs under way on them.
    running: usize,
    /// Jobs submitted and not done: in the channel, in the queue, in the hands of a thread.
    outstanding: usize,
    /// Told when nothing is outstanding.
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

    /// Notes that so many jobs are done or gone.
    fn settle(&mut self, jobs: usize) {
        self.outstanding -= jobs;
        if self.outstanding == 0 {
            for waiter in self.waiters.drain(..) {
                // One that does not wait any more needs no message.
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

    /// Returns what does the jobs.
    pub fn compiler(&self) -> &C {
        &self.shared.compiler
    }

    /// Queues a job; the higher its priority ([`Compiler::priority`]), the sooner it is done. If
    /// there is no thread and none can be started, the job is dropped, which gives up.
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

    /// Does a job on this thread, now.
    pub fn run_here(&self, job: C::Job) {
        let mut context = self.shared.state().contexts.pop();
        let mut jobs = vec![(0, job)];
        while let Some((_, job)) = jobs.pop() {
            self.shared.run(&mut context, Taken { job, companions: Ok(Vec::new()) });
            jobs.extend(self.shared.follow_ups().into_iter().rev());
        }
        self.shared.state().contexts.extend(context);
    }

    /// Returns the number of jobs that wait or are under way.
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
        // Those that were only moved to the queue are still to be done.
        if !state.queue.is_empty() {
            state.link.wake();
        }
        jobs
    }

    /// Waits until no job waits or is under way. Not to be called by a job.
    pub fn wait_idle(&self) {
        let (done, is_done) = bounded(1);
        let mut state = self.shared.state();
        if state.outstanding > 0 {
            state.waiters.push(done);
            // Threads that pause continue.
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
    /// Jobs to be joined with it, or the message of a panic.
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

    /// Locks the state. In a forked child it is emptied first: the jobs that its parent had waiting
    /// give up, and what names threads or channels of the parent is forgotten without being
    /// touched.
    fn state(&self) -> MutexGuard<'_, State<C>> {
        let mut state = lock(&self.state);
        if state.child != fork::child() {
            let parents = std::mem::replace(&mut *state, State::new(self.options.threads));
            state.contexts = parents.contexts;
            state.closing = parents.closing;
            std::mem::forget((parents.link, parents.handles, parents.waiters));
            // Jobs may come back here as they are dropped.
            drop(state);
            drop(parents.queue);
            state = lock(&self.state);
        }
        state
    }

    /// Does a job. The context is gone afterwards if the job panicked.
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
        // What panics as it is dropped or reported is not reported, and the thread continues.
        let _ = match result {
            Ok(()) => caught(|| drop(job)),
            Err(message) => {
                let _ = caught(|| drop(context.take()));
                caught(|| self.compiler.panicked(job, &message))
            }
        };
    }

    /// Returns what the job done before has left to do.
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
        let places = caught(|| self.compiler.companions(job, &state.queue.jobs()))?;
        let others = if places.is_empty() { Vec::new() } else { state.queue.take(&places) };
        state.settle(others.len());
        Ok(others)
    }

    /// Waits until all threads have ended, or patience has. A thread does not wait for itself,
    /// should its job drop the engine.
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
                // They have nothing left to do.
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
        // Its destructor could panic again.
        std::mem::forget(payload);
        message
    })
}

/// Returns what a panic said.
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
