//! The threads that compile.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::queue::Queue;
use crate::sync::{Mutex, MutexGuard, lock};

/// What workers do. They share nothing but the queue: each has a context of its own.
pub trait Compiler: Send + Sync + 'static {
    /// What is to be compiled. Dropping it gives up.
    type Job: Send + 'static;
    /// What a thread keeps from job to job.
    type Context: Send + 'static;

    /// A fresh context.
    fn context(&self) -> Self::Context;

    /// Does a job. It clears the context itself.
    fn compile(&self, context: &mut Self::Context, job: &mut Self::Job);

    /// Which of the jobs that wait, in the order of their arrival, are to be done together with the job that is next, by their places. The queue is
    /// locked meanwhile.
    fn companions(&self, next: &Self::Job, waiting: &[&Self::Job]) -> Vec<usize> {
        let _ = (next, waiting);
        Vec::new()
    }

    /// Makes one job of several.
    fn join(&self, job: &mut Self::Job, others: Vec<Self::Job>) {
        let _ = (job, others);
    }

    /// What a job that is done has left to do, with priorities.
    fn follow_ups(&self) -> Vec<(u64, Self::Job)> {
        Vec::new()
    }

    /// [`Compiler::compile`] panicked with this message; its context is gone.
    fn panicked(&self, job: Self::Job, message: &str);
}

/// How many threads, and how they are.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The most threads.
    pub threads: usize,
    /// Bytes of stack of each.
    pub stack: usize,
    /// How long dropping the workers waits for a job under way before it leaves it alone.
    pub patience: Duration,
}

impl Default for WorkerOptions {
    /// One thread on up to three cores, else a third of the cores.
    fn default() -> WorkerOptions {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        WorkerOptions {
            threads: (cores / 3).max(1),
            stack: 2 << 20,
            patience: Duration::from_secs(2),
        }
    }
}

/// A queue of jobs and the threads that do them, which are started when there is something to do.
///
/// Dropping it drops the jobs that wait, and waits for those under way, though not for ever.
pub struct Workers<C: Compiler> {
    shared: Arc<Shared<C>>,
}

struct Shared<C: Compiler> {
    compiler: C,
    options: WorkerOptions,
    state: Mutex<State<C>>,
    /// Something to do, or to stop for.
    work: Condvar,
    /// A job is done.
    done: Condvar,
}

struct State<C: Compiler> {
    queue: Queue<C::Job>,
    /// Contexts of [`Workers::run_here`].
    contexts: Vec<C::Context>,
    closing: bool,
    /// All that were started.
    handles: Vec<JoinHandle<()>>,
    /// How many have not ended.
    threads: usize,
    idle: usize,
    running: usize,
}

impl<C: Compiler> Workers<C> {
    /// No threads yet.
    pub fn new(compiler: C, options: WorkerOptions) -> Workers<C> {
        let state = State {
            queue: Queue::new(),
            contexts: Vec::new(),
            closing: false,
            handles: Vec::new(),
            threads: 0,
            idle: 0,
            running: 0,
        };
        let state = Mutex::new(state);
        let (work, done) = (Condvar::new(), Condvar::new());
        Workers { shared: Arc::new(Shared { compiler, options, state, work, done }) }
    }

    /// What does the jobs.
    pub fn compiler(&self) -> &C {
        &self.shared.compiler
    }

    /// Queues a job; the higher its priority (hotness over size), the sooner it is done. If no thread can be started for it and none is there,
    /// it is dropped, which gives up.
    pub fn submit(&self, priority: u64, job: C::Job) {
        let mut state = lock(&self.shared.state);
        if state.idle <= state.queue.len() && state.threads < self.shared.options.threads {
            self.start(&mut state);
        }
        if state.threads == 0 {
            drop(state);
            return drop(job);
        }
        state.queue.push(priority, job);
        drop(state);
        self.shared.work.notify_one();
    }

    fn start(&self, state: &mut MutexGuard<'_, State<C>>) {
        let shared = self.shared.clone();
        let thread = thread::Builder::new()
            .name("perilune-jit".into())
            .stack_size(self.shared.options.stack)
            .spawn(move || work(&shared));
        if let Ok(handle) = thread {
            state.handles.push(handle);
            state.threads += 1;
        }
    }

    /// Does a job on this thread, now.
    pub fn run_here(&self, job: C::Job) {
        let context = lock(&self.shared.state).contexts.pop();
        let context = context.unwrap_or_else(|| self.shared.compiler.context());
        if let Some(context) = self.shared.run(context, job) {
            lock(&self.shared.state).contexts.push(context);
        }
        for (_, job) in self.shared.compiler.follow_ups() {
            self.run_here(job);
        }
    }

    /// Jobs that wait or are under way.
    pub fn pending(&self) -> usize {
        let state = lock(&self.shared.state);
        state.queue.len() + state.running
    }

    /// Takes out the waiting jobs for which `out` holds.
    pub fn cancel(&self, out: impl FnMut(&C::Job) -> bool) -> Vec<C::Job> {
        let jobs = lock(&self.shared.state).queue.remove(out);
        self.shared.done.notify_all();
        jobs
    }

    /// Waits until no job waits or is under way. Not to be called by a job.
    pub fn wait_idle(&self) {
        let mut state = lock(&self.shared.state);
        while state.queue.len() + state.running > 0 {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<C: Compiler> Shared<C> {
    /// Does a job; gives the context back unless the job panicked.
    fn run(&self, mut context: C::Context, mut job: C::Job) -> Option<C::Context> {
        let compile = AssertUnwindSafe(|| self.compiler.compile(&mut context, &mut job));
        match catch_unwind(compile) {
            Ok(()) => {
                drop(job);
                Some(context)
            }
            Err(payload) => {
                // A report that panics as well is not made, and the thread goes on.
                let report = || self.compiler.panicked(job, message(&*payload));
                let _ = catch_unwind(AssertUnwindSafe(report));
                None
            }
        }
    }

    /// Waits for a job. None: stop.
    fn next(&self) -> Option<C::Job> {
        let mut state = lock(&self.state);
        loop {
            if state.closing {
                return None;
            }
            if let Some(mut job) = state.queue.pop() {
                state.running += 1;
                if state.queue.len() > 0 {
                    let places = self.compiler.companions(&job, &state.queue.jobs());
                    let others =
                        if places.is_empty() { Vec::new() } else { state.queue.take(&places) };
                    drop(state);
                    self.compiler.join(&mut job, others);
                }
                return Some(job);
            }
            state.idle += 1;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

/// A worker's life.
fn work<C: Compiler>(shared: &Shared<C>) {
    let mut context = None;
    while let Some(job) = shared.next() {
        let taken = context.take().unwrap_or_else(|| shared.compiler.context());
        context = shared.run(taken, job);
        let more = shared.compiler.follow_ups();
        let mut state = lock(&shared.state);
        for (priority, job) in more {
            state.queue.push(priority, job);
        }
        state.running -= 1;
        drop(state);
        shared.done.notify_all();
    }
    drop(context);
    lock(&shared.state).threads -= 1;
    shared.done.notify_all();
}

/// What a panic said.
fn message(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}

impl<C: Compiler> Drop for Workers<C> {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.closing = true;
        let jobs = state.queue.remove(|_| true);
        drop(state);
        drop(jobs);
        self.shared.work.notify_all();
        self.shared.wait_for_end();
    }
}

impl<C: Compiler> Shared<C> {
    /// Waits until all threads have ended, or patience has. A thread does not wait for itself, should its job drop the engine.
    fn wait_for_end(&self) {
        let end = Instant::now() + self.options.patience;
        let mut state = lock(&self.state);
        let handles = std::mem::take(&mut state.handles);
        if handles.iter().any(|h| h.thread().id() == thread::current().id()) {
            return;
        }
        while state.threads > 0 {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return };
            let (guard, _) =
                self.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            state = guard;
        }
        drop(state);
        for handle in handles {
            // They have nothing left to do; what a panicking destructor said was said.
            let _ = handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// A job says what it is when it is done, after it has waited for what it is to wait for.
    struct Job {
        name: &'static str,
        wait: Option<Receiver<()>>,
        drop: Option<Workers<Test>>,
    }

    struct Test {
        said: Mutex<Sender<String>>,
        more: Mutex<Vec<(u64, Job)>>,
    }

    impl Compiler for Test {
        type Job = Job;
        type Context = usize;

        fn context(&self) -> usize {
            0
        }
        fn compile(&self, context: &mut usize, job: &mut Job) {
            if let Some(wait) = &job.wait {
                let _ = wait.recv();
            }
            drop(job.drop.take());
            if job.name.starts_with('!') {
                // A panic that nobody prints.
                std::panic::resume_unwind(Box::new(job.name));
            }
            *context += 1;
            lock(&self.said).send(format!("{}{context}", job.name)).expect("the test listens");
        }
        fn companions(&self, next: &Job, waiting: &[&Job]) -> Vec<usize> {
            let together =
                |(_, job): &(usize, &&Job)| next.name.starts_with('+') && job.name.starts_with('+');
            waiting.iter().enumerate().filter(together).map(|(place, _)| place).collect()
        }
        fn join(&self, job: &mut Job, others: Vec<Job>) {
            for other in others {
                let text = format!("{} with {}", job.name, other.name);
                lock(&self.said).send(text).expect("the test listens");
            }
        }
        fn follow_ups(&self) -> Vec<(u64, Job)> {
            std::mem::take(&mut *lock(&self.more))
        }
        fn panicked(&self, job: Job, message: &str) {
            assert_eq!(job.name, message);
            lock(&self.said).send(message.to_owned()).expect("the test listens");
        }
    }

    fn job(name: &'static str) -> Job {
        Job { name, wait: None, drop: None }
    }

    fn blocked(name: &'static str) -> (Job, Sender<()>) {
        let (send, wait) = channel();
        (Job { name, wait: Some(wait), drop: None }, send)
    }

    fn workers(patience: Duration) -> (Workers<Test>, Receiver<String>) {
        let (send, said) = channel();
        let test = Test { said: Mutex::new(send), more: Mutex::default() };
        let options = WorkerOptions { threads: 1, patience, ..WorkerOptions::default() };
        (Workers::new(test, options), said)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn jobs_are_joined_and_followed_up() {
        let (workers, said) = workers(LONG);
        let (first, go) = blocked("a");
        workers.submit(0, first);
        while lock(&workers.shared.state).running == 0 {
            thread::yield_now();
        }
        for (priority, name) in [(1, "b"), (2, "+c"), (3, "+d"), (1, "+e")] {
            workers.submit(priority, job(name));
        }
        lock(&workers.compiler().more).push((9, job("f")));
        go.send(()).expect("it waits");
        workers.wait_idle();
        lock(&workers.compiler().more).push((0, job("h")));
        workers.run_here(job("g"));
        let order: Vec<String> = said.try_iter().collect();
        assert_eq!(order, ["a1", "f2", "+d with +c", "+d with +e", "+d3", "b4", "g1", "h2"]);
    }

    #[test]
    fn by_priority_and_after_panics() {
        let (workers, said) = workers(LONG);
        let (first, go) = blocked("a");
        workers.submit(0, first);
        while lock(&workers.shared.state).running == 0 {
            thread::yield_now();
        }
        for (priority, name) in [(1, "b"), (3, "!c"), (2, "d"), (2, "e"), (9, "f")] {
            workers.submit(priority, job(name));
        }
        assert_eq!(workers.pending(), 6);
        assert_eq!(workers.cancel(|job| job.name == "e").len(), 1);
        workers.run_here(job("here"));
        workers.run_here(job("!here"));
        go.send(()).expect("it waits");
        workers.wait_idle();
        let order: Vec<String> = said.try_iter().collect();
        assert_eq!(order, ["here1", "!here", "a1", "f2", "!c", "d1", "b2"]);
    }

    #[test]
    fn dropping_waits_for_the_job_under_way_only() {
        let (workers, said) = workers(LONG);
        let (first, go) = blocked("a");
        workers.submit(0, first);
        workers.submit(0, job("b"));
        while lock(&workers.shared.state).running == 0 {
            thread::yield_now();
        }
        let ender = thread::spawn(move || drop(workers));
        go.send(()).expect("it waits");
        ender.join().expect("it ends");
        let order: Vec<String> = said.iter().collect();
        assert!(order == ["a1"] || order == ["a1", "b2"], "{order:?}");
    }

    #[test]
    fn dropping_does_not_wait_for_ever() {
        let (workers, _said) = workers(Duration::from_millis(5));
        let (first, go) = blocked("a");
        workers.submit(0, first);
        while lock(&workers.shared.state).running == 0 {
            thread::yield_now();
        }
        drop(workers);
        drop(go);
    }

    #[test]
    fn a_job_drops_the_workers() {
        let (workers, said) = workers(LONG);
        let shared = workers.shared.clone();
        let (mut last, go) = blocked("a");
        let mut state = lock(&shared.state);
        last.drop = Some(workers);
        let workers = last.drop.as_ref().expect("it is there");
        workers.start(&mut state);
        state.queue.push(0, last);
        drop(state);
        shared.work.notify_one();
        drop(go);
        drop(shared);
        assert_eq!(said.iter().collect::<Vec<_>>(), ["a1"], "and the compiler is dropped");
    }
}
