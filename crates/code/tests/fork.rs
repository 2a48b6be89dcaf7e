//! Processes that fork while code is compiled, replaced and freed. Parent and children must not see
//! each other's changes, and a child must neither wait for a thread of its parent nor leak memory
//! or tickets that such a thread held.
#![cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), not(loom), not(miri)))]

mod common;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::*;
use perilune_code::lock::lock;
use perilune_code::{
    Cause, CodeSpace, Compiler, MappingKind, Method, NotNow, Options, Phase, Ticket, WorkerOptions,
    Workers, fork,
};

/// A child process that runs `f`. One that panics, hangs or crashes fails [`join`].
#[must_use]
fn spawn_child(f: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child continues with this thread; what it may do is what is tested.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "it can fork");
    if pid == 0 {
        // SAFETY: system calls on this process.
        unsafe { libc::alarm(60) };
        let failed = catch_unwind(AssertUnwindSafe(f)).is_err();
        // SAFETY: as above; nothing of the test harness runs in the child.
        unsafe { libc::_exit(failed.into()) };
    }
    pid
}

fn join(pid: libc::pid_t) {
    let mut status = 0;
    // SAFETY: it is a child of ours, and is waited for once.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!((waited, status), (pid, 0), "a child failed");
}

fn nothing(_: &mut State) {}

/// Stops the threads that watch it, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Compiles a method as soon as it can be.
fn replace(space: &CodeSpace, method: &Arc<Method>, value: u32, state: &mut State) {
    let end = Instant::now() + Duration::from_secs(30);
    let ticket = loop {
        assert!(Instant::now() < end, "old versions are not freed");
        match method.begin() {
            Ok(ticket) => break ticket,
            Err(reason) => assert_eq!(reason, NotNow::TooManyLive),
        }
        space.advance_now();
        state.poll();
        state.mutator.blocking(thread::yield_now);
    };
    compile(ticket, value);
}

/// Checks every byte of code against what was compiled.
fn check_bytes(methods: &[Arc<Method>], values: &[u32]) {
    for (method, value) in methods.iter().zip(values) {
        let version = method.installed().expect("it has code");
        let module = space_of(method).module(version.id()).expect("it is installed");
        let same = module.with_code(|code| code.bytes() == calling(version.id(), *value));
        assert_eq!(same, Some(true), "the code of {version:?} changed");
    }
}

thread_local! {
    /// What the frame that forks needs.
    static WORLD: RefCell<Option<(Vec<Arc<Method>>, u32)>> = const { RefCell::new(None) };
    static CHILDREN: RefCell<Vec<libc::pid_t>> = const { RefCell::new(Vec::new()) };
}

/// In the middle of a frame: forks. The child replaces all code, the version of this frame
/// included, reuses the memory, and forks again.
fn fork_here(state: &mut State) {
    let (methods, first) = WORLD.take().expect("it is set");
    let pid = spawn_child(|| {
        state.middle = nothing;
        let space = space_of(&methods[0]);
        let mut values = vec![0; methods.len()];
        for round in 0..20 {
            for (i, method) in methods.iter().enumerate() {
                values[i] = first + round * 100 + i as u32;
                replace(&space, method, values[i], state);
                assert_eq!(state.call(method), values[i]);
            }
            if round == 10 {
                let pid = spawn_child(|| {
                    for method in &methods {
                        replace(&space, method, 7, state);
                        assert_eq!(state.call(method), 7);
                        space.invalidate(method, Cause::Invalid);
                        assert_eq!(state.call(method), INTERPRETED);
                    }
                });
                join(pid);
            }
            check_bytes(&methods, &values);
        }
        // This frame's own version is retired and pinned; all other code can go.
        methods.iter().for_each(|method| method.close());
        for _ in 0..10_000 {
            space.advance_now();
            state.poll();
            if space.pending() <= 1 {
                break;
            }
            thread::yield_now();
        }
        assert_eq!(space.pending(), 1, "the version of the frame that forked is pinned");
    });
    CHILDREN.with_borrow_mut(|children| children.push(pid));
}

#[test]
fn parent_and_children_keep_their_code_apart() {
    for mapping in [MappingKind::DoubleMapped, MappingKind::PageExclusive] {
        let advance_every = Duration::from_micros(500);
        let space = CodeSpace::new(Options { mapping, advance_every, ..Options::default() });
        let methods: Vec<_> = (0..40).map(|_| method(&space)).collect();
        let mut state = State::new(&space, nothing);
        let mut values: Vec<u32> = (0..40).collect();
        state.mutator.enter();
        for (method, value) in methods.iter().zip(&values) {
            replace(&space, method, *value, &mut state);
        }
        // Another thread publishes and frees all the time.
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let others: Vec<_> = (0..10).map(|_| method(&space)).collect();
                let mut state = State::new(&space, nothing);
                state.mutator.enter();
                let mut value = 0;
                while !stop.load(Relaxed) {
                    for other in &others {
                        value += 1;
                        replace(&space, other, value, &mut state);
                        assert_eq!(state.call(other), value);
                    }
                }
                state.mutator.leave();
            });
            let _stop = Stop(&stop);
            for round in 0..6 {
                WORLD.set(Some((methods.clone(), 10_000 * (round + 1))));
                state.middle = fork_here;
                // The frame that forks is in the code of the first method.
                assert_eq!(state.call(&methods[0]), values[0]);
                state.middle = nothing;
                check_bytes(&methods, &values);
                for (i, method) in methods.iter().enumerate() {
                    values[i] = 1_000 * (round + 1) + i as u32;
                    replace(&space, method, values[i], &mut state);
                    assert_eq!(state.call(method), values[i]);
                }
                check_bytes(&methods, &values);
            }
            state.mutator.leave();
            for pid in CHILDREN.take() {
                join(pid);
            }
            check_bytes(&methods, &values);
        });
        drop((methods, state));
        drain(&space);
        assert_eq!((space.versions(), space.usage().live), (0, 0));
    }
}

/// A lock of the engine that compiling takes.
static LOCK: Mutex<u32> = Mutex::new(0);

/// Compiles, holding a lock for a while, and generating code for a while.
struct Slow {
    value: AtomicU32,
}

impl Compiler for Slow {
    type Job = Option<Ticket>;
    type Context = ();

    fn context(&self) {}

    fn compile(&self, (): &mut (), job: &mut Option<Ticket>) {
        {
            let mut count = lock(&LOCK);
            thread::sleep(Duration::from_micros(200));
            *count += 1;
        }
        fork::outside(|| thread::sleep(Duration::from_millis(1)));
        let _count = lock(&LOCK);
        let ticket = job.take().expect("it is compiled once");
        if ticket.is_current() {
            compile(ticket, self.value.fetch_add(1, Relaxed));
        }
    }

    fn panicked(&self, _job: Option<Ticket>, message: &str) {
        panic!("{message}");
    }
}

#[test]
fn a_child_takes_over_from_compile_threads() {
    let space = CodeSpace::new(Options::default());
    let workers = Workers::new(
        Slow { value: AtomicU32::new(1) },
        WorkerOptions { threads: 2, ..WorkerOptions::default() },
    );
    let methods: Vec<_> = (0..8).map(|_| method(&space)).collect();
    let request = |method: &Arc<Method>| match method.begin() {
        Ok(ticket) => workers.submit(1, Some(ticket)),
        Err(reason) => assert!(matches!(reason, NotNow::Compiling | NotNow::TooManyLive)),
    };
    let mut state = State::new(&space, nothing);
    for round in 0..60 {
        methods.iter().for_each(request);
        thread::sleep(Duration::from_micros(100 * round));
        let pid = spawn_child(|| {
            // Whatever the compile threads were at, every method can be compiled here.
            workers.wait_idle();
            *lock(&LOCK) += 1;
            space.reset_after_fork();
            for method in &methods {
                assert!(matches!(method.phase(), Phase::Interpreted | Phase::Compiled));
                space.invalidate(method, Cause::Invalid);
                while method.phase() != Phase::Compiled {
                    request(method);
                    workers.wait_idle();
                    space.advance_now();
                }
                state.mutator.enter();
                assert!(state.call(method) > 0);
                state.mutator.leave();
            }
            if round % 2 == 0 {
                // It ends with jobs under way.
                methods.iter().for_each(request);
            }
            // SAFETY: the child ends without dropping them again.
            drop(unsafe { std::ptr::read(&raw const workers) });
            methods.iter().for_each(|method| method.close());
            drain(&space);
            assert_eq!(space.versions(), 0);
        });
        join(pid);
    }
    workers.wait_idle();
    assert!(methods.iter().all(|m| m.phase() == Phase::Compiled));
}

#[test]
fn states_on_threads_that_a_child_lacks_hold_nothing_up() {
    let space = CodeSpace::new(Options { background: false, ..Options::default() });
    let method = method(&space);
    compile(method.begin().expect("it can be compiled"), 1);
    let (mut idle, stop) = (State::new(&space, nothing), AtomicBool::new(false));
    let online = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // It runs Lua, and does not poll.
            let state = State::new(&space, nothing);
            state.mutator.enter();
            online.store(true, Relaxed);
            while !stop.load(Relaxed) {
                thread::yield_now();
            }
            state.mutator.leave();
        });
        let _stop = Stop(&stop);
        while !online.load(Relaxed) {
            thread::yield_now();
        }
        let pid = spawn_child(|| {
            space.invalidate(&method, Cause::Invalid);
            drain(&space);
            // A state that was idle may continue, here or on a new thread.
            compile(method.begin().expect("it can be compiled"), 2);
            idle.mutator.enter();
            assert_eq!(idle.call(&method), 2);
            space.invalidate(&method, Cause::Invalid);
            assert_eq!(space.advance_now(), 0, "the idle state is online and has not announced");
            idle.poll();
            assert_eq!(space.advance_now(), 1);
        });
        join(pid);
        space.invalidate(&method, Cause::Invalid);
        space.advance_now();
        assert_eq!(space.advance_now(), 0, "here the thread exists");
    });
    drain(&space);
}
