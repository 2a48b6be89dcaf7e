//! Order, companions, panics and the end of workers.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

/// A job, which reports its name when it is done, after it has waited if it is to wait.
struct Job {
    name: &'static str,
    wait: Option<Receiver<()>>,
    drop: Option<Workers<Test>>,
    _ticket: Option<Ticket>,
}

/// A ticket that reports when its job is dropped, or panics if it cannot report.
struct Ticket(Option<Sender<()>>);

impl Drop for Ticket {
    fn drop(&mut self) {
        match &self.0 {
            Some(gone) => gone.send(()).expect("the test listens"),
            None => quietly("dropped"),
        }
    }
}

struct Test {
    said: Mutex<Sender<String>>,
    more: Mutex<Vec<(u64, Job)>>,
    /// Where to panic.
    fault: Mutex<&'static str>,
    /// How long threads pause before they take a job.
    pause: Mutex<Option<Duration>>,
    /// The job that has become hot.
    hot: Mutex<&'static str>,
    /// How often threads have rested.
    rests: AtomicUsize,
}

impl Test {
    fn say(&self, text: impl Into<String>) {
        lock(&self.said).send(text.into()).expect("the test listens");
    }
    fn reach(&self, place: &'static str) {
        if *lock(&self.fault) == place {
            quietly(place);
        }
    }
}

/// Panics without a message on the standard error.
fn quietly(message: &'static str) -> ! {
    resume_unwind(Box::new(message))
}

impl Compiler for Test {
    type Job = Job;
    type Context = usize;

    fn context(&self) -> usize {
        self.reach("context");
        0
    }
    fn compile(&self, context: &mut usize, job: &mut Job) {
        if let Some(wait) = &job.wait {
            let _ = wait.recv();
        }
        drop(job.drop.take());
        if job.name.starts_with('!') {
            quietly(job.name);
        }
        *context += 1;
        self.say(format!("{}{context}", job.name));
    }
    fn priority(&self, job: &Job, given: u64) -> u64 {
        self.reach("priority");
        if job.name == *lock(&self.hot) { u64::MAX } else { given }
    }
    fn pause(&self) -> Option<Duration> {
        self.reach("pause");
        *lock(&self.pause)
    }
    fn is_wanted(&self, job: &Job) -> bool {
        !job.name.starts_with('-')
    }
    fn companions<'a>(&self, next: &'a Job, waiting: impl Iterator<Item = &'a Job>) -> Vec<usize> {
        self.reach("companions");
        let together =
            |(_, job): &(usize, &Job)| next.name.starts_with('+') && job.name.starts_with('+');
        waiting.enumerate().filter(together).map(|(place, _)| place).collect()
    }
    fn join(&self, job: &mut Job, others: Vec<Job>) {
        self.reach("join");
        for other in others {
            self.say(format!("{} with {}", job.name, other.name));
        }
    }
    fn follow_ups(&self) -> Vec<(u64, Job)> {
        self.reach("follow_ups");
        std::mem::take(&mut *lock(&self.more))
    }
    fn rest(&self, _: &mut Self::Context) {
        self.rests.fetch_add(1, Ordering::Relaxed);
        self.reach("rest");
    }
    fn panicked(&self, job: Job, message: &str) {
        self.say(format!("{} refused: {message}", job.name));
        self.reach("panicked");
    }
    fn follow_ups_panicked(&self, message: &str) {
        self.say(format!("no job refused: {message}"));
    }
}

fn job(name: &'static str) -> Job {
    Job { name, wait: None, drop: None, _ticket: None }
}

fn blocked(name: &'static str) -> (Job, Sender<()>) {
    let (send, wait) = channel();
    (Job { wait: Some(wait), ..job(name) }, send)
}

fn workers(patience: Duration) -> (Workers<Test>, Receiver<String>) {
    let (send, said) = channel();
    let test = Test {
        said: Mutex::new(send),
        more: Mutex::default(),
        fault: Mutex::new(""),
        pause: Mutex::default(),
        hot: Mutex::new(""),
        rests: AtomicUsize::new(0),
    };
    let options = WorkerOptions { threads: 1, patience, ..WorkerOptions::default() };
    (Workers::new(test, options), said)
}

/// Gives the thread the job "a", which runs until something is sent.
fn occupy(workers: &Workers<Test>) -> Sender<()> {
    let (first, go) = blocked("a");
    workers.submit(0, first);
    wait_for_running(workers);
    go
}

fn wait_for_running(workers: &Workers<Test>) {
    while lock(&workers.shared.state).running == 0 {
        thread::yield_now();
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn jobs_are_joined_and_followed_up() {
    let (workers, said) = workers(LONG);
    let go = occupy(&workers);
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
fn what_has_become_hot_comes_first() {
    let (workers, said) = workers(LONG);
    let go = occupy(&workers);
    for (priority, name) in [(1, "b"), (2, "c"), (0, "d")] {
        workers.submit(priority, job(name));
    }
    *lock(&workers.compiler().hot) = "d";
    go.send(()).expect("it waits");
    workers.wait_idle();
    let order: Vec<String> = said.try_iter().collect();
    assert_eq!(order, ["a1", "d2", "c3", "b4"]);
    // After a panic while the priority is computed, the given one is used.
    let go = occupy(&workers);
    *lock(&workers.compiler().fault) = "priority";
    workers.submit(1, job("e"));
    workers.submit(2, job("f"));
    go.send(()).expect("it waits");
    workers.wait_idle();
    assert_eq!(said.try_iter().collect::<Vec<_>>(), ["a5", "f6", "e7"]);
}

#[test]
fn jobs_that_are_not_wanted_are_dropped_when_there_are_many() {
    let (workers, said) = workers(LONG);
    let go = occupy(&workers);
    for n in 0..200 {
        workers.submit(0, job(if n % 50 == 0 { "b" } else { "-" }));
    }
    go.send(()).expect("it waits");
    workers.wait_idle();
    assert_eq!(said.try_iter().collect::<Vec<_>>(), ["a1", "b2", "b3", "b4", "b5"]);
    assert_eq!(workers.pending(), 0);
}

#[test]
fn threads_pause_unless_they_are_waited_for() {
    let (workers, said) = workers(LONG);
    *lock(&workers.compiler().pause) = Some(Duration::from_millis(1));
    workers.submit(0, job("a"));
    assert!(said.recv_timeout(Duration::from_millis(50)).is_err(), "it pauses");
    *lock(&workers.compiler().pause) = None;
    assert_eq!(said.recv().as_deref(), Ok("a1"), "it asks again");
    *lock(&workers.compiler().pause) = Some(LONG);
    workers.submit(0, job("b"));
    workers.wait_idle();
    assert_eq!(said.try_recv().as_deref(), Ok("b2"));
    workers.submit(0, job("c"));
    drop(workers);
    assert!(said.recv().is_err(), "the thread ends although it pauses");
}

#[test]
fn threads_rest_once_after_their_last_job() {
    let (workers, said) = workers(LONG);
    let rests = || workers.compiler().rests.load(Ordering::Relaxed);
    for (round, fault) in ["", "rest", ""].into_iter().enumerate() {
        *lock(&workers.compiler().fault) = fault;
        workers.submit(0, job("a"));
        workers.wait_idle();
        while rests() == round {
            thread::yield_now();
        }
        thread::sleep(2 * REST);
        assert_eq!(rests(), round + 1, "it rests until there is a job");
    }
    assert_eq!(said.try_iter().collect::<Vec<_>>(), ["a1", "a2", "a3"]);
}

#[test]
fn by_priority_and_after_panics() {
    let (workers, said) = workers(LONG);
    let go = occupy(&workers);
    for (priority, name) in [(1, "b"), (3, "!c"), (2, "d"), (2, "e"), (9, "f")] {
        workers.submit(priority, job(name));
    }
    assert_eq!(workers.pending(), 6);
    assert_eq!(workers.cancel(|job| job.name == "e").len(), 1);
    assert_eq!(workers.pending(), 5);
    workers.run_here(job("here"));
    workers.run_here(job("!here"));
    go.send(()).expect("it waits");
    workers.wait_idle();
    let order: Vec<String> = said.try_iter().collect();
    assert_eq!(order, ["here1", "!here refused: !here", "a1", "f2", "!c refused: !c", "d1", "b2"]);
}

/// One queue serves all threads: a thread that takes several jobs from the channel does not keep
/// them for itself while another thread waits.
#[test]
fn every_thread_finds_what_another_received() {
    let (send, _said) = channel();
    let test = Test {
        said: Mutex::new(send),
        more: Mutex::default(),
        fault: Mutex::new(""),
        pause: Mutex::default(),
        hot: Mutex::new(""),
        rests: AtomicUsize::new(0),
    };
    let workers = Workers::new(test, WorkerOptions { threads: 3, ..WorkerOptions::default() });
    for _ in 0..200 {
        // None of the three ends before all have begun.
        let jobs: Vec<_> = (0..3).map(|_| blocked("a")).collect();
        let (jobs, go): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
        jobs.into_iter().for_each(|job| workers.submit(0, job));
        while lock(&workers.shared.state).running < 3 {
            thread::yield_now();
        }
        drop(go);
        workers.wait_idle();
    }
}

#[test]
fn a_panic_refuses_its_job_and_the_thread_survives() {
    let cases: [(&str, &[&str]); 4] = [
        ("context", &["+a with +b", "+a refused: context", "c refused: context"]),
        ("companions", &["+a refused: companions", "+b refused: companions", "c1"]),
        ("join", &["+a refused: join", "c1"]),
        (
            "follow_ups",
            &[
                "no job refused: follow_ups",
                "+a with +b",
                "+a1",
                "no job refused: follow_ups",
                "c2",
                "no job refused: follow_ups",
            ],
        ),
    ];
    for (fault, expected) in cases {
        let (workers, said) = workers(LONG);
        let (first, go) = blocked("!first");
        workers.submit(0, first);
        wait_for_running(&workers);
        let (ticket, tickets) = channel();
        for (priority, name) in [(3, "+a"), (2, "+b"), (1, "c")] {
            workers
                .submit(priority, Job { _ticket: Some(Ticket(Some(ticket.clone()))), ..job(name) });
        }
        drop(ticket);
        // The first job, which panics and so takes its context with it, has not called
        // `follow_ups`.
        *lock(&workers.compiler().fault) = fault;
        go.send(()).expect("it waits");
        workers.wait_idle();
        let order: Vec<String> = said.try_iter().skip(1).collect();
        let order: Vec<&str> = order.iter().map(String::as_str).collect();
        assert_eq!(order, expected, "{fault}");
        assert_eq!(tickets.iter().count(), 3, "{fault}: every job is dropped");
        // The thread still exists.
        *lock(&workers.compiler().fault) = "";
        workers.submit(0, job("d"));
        workers.wait_idle();
        assert!(said.try_iter().any(|text| text.starts_with('d')), "{fault}");
        drop(workers);
    }
}

#[test]
fn a_panic_of_the_report_or_of_a_destructor() {
    let (workers, said) = workers(LONG);
    *lock(&workers.compiler().fault) = "panicked";
    workers.submit(1, job("!a"));
    workers.submit(0, job("b"));
    workers.wait_idle();
    workers.submit(0, Job { _ticket: Some(Ticket(None)), ..job("dropped") });
    workers.submit(0, job("c"));
    workers.wait_idle();
    *lock(&workers.compiler().fault) = "";
    workers.run_here(job("!here"));
    drop(workers);
    let order: Vec<String> = said.iter().collect();
    let order: Vec<&str> = order.iter().map(String::as_str).collect();
    assert_eq!(order, ["!a refused: !a", "b1", "dropped2", "c3", "!here refused: !here"]);
}

#[test]
fn dropping_waits_for_the_job_under_way_only() {
    let (workers, said) = workers(LONG);
    let (first, go) = blocked("a");
    workers.submit(0, first);
    workers.submit(0, job("b"));
    wait_for_running(&workers);
    let ender = thread::spawn(move || drop(workers));
    go.send(()).expect("it waits");
    ender.join().expect("it ends");
    let order: Vec<String> = said.iter().collect();
    assert!(order == ["a1"] || order == ["a1", "b2"], "{order:?}");
}

#[test]
fn dropping_waits_a_limited_time() {
    let (workers, _said) = workers(Duration::from_millis(5));
    let go = occupy(&workers);
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
    last.drop.as_ref().expect("it is there").start(&mut state);
    state.outstanding += 1;
    state.link.request(0, last);
    drop(state);
    drop(go);
    drop(shared);
    assert_eq!(said.iter().collect::<Vec<_>>(), ["a1"], "and the compiler is dropped");
}
