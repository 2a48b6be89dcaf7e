//! Threads call through slots while others replace, retire and free what is in them.
#![cfg(not(loom))]

mod common;

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use common::*;
use perilune_code::{
    Cause, CodeSpace, Compiler, Counter, MappingKind, Method, NotNow, Options, Ticket,
    WorkerOptions, Workers,
};

/// In the middle of frames: polls, blocks, and calls again.
fn anything(state: &mut State) {
    match state.next_random(16) {
        0 | 1 if state.depth() < 8 => {
            let result = state.call_slot();
            assert!(result == INTERPRETED || result < 1 << 30, "no function returns {result}");
        }
        2 => {
            state.mutator.leave();
            thread::yield_now();
            state.mutator.enter();
        }
        3 => state.announce(),
        _ => state.poll(),
    }
}

/// Calls the methods at random until it is told to stop; returns how many calls ran machine code. A
/// method's results never go down.
fn caller(space: &Arc<CodeSpace>, methods: &[Arc<Method>], seed: u64, stop: &AtomicBool) -> u64 {
    let mut state = State::new(space, anything);
    state.random = seed;
    let mut newest = vec![0; methods.len()];
    let mut compiled = 0;
    state.mutator.enter();
    while !stop.load(Relaxed) {
        let i = state.next_random(methods.len() as u64) as usize;
        let result = state.call(&methods[i]);
        if result != INTERPRETED {
            assert!(result >= newest[i], "old code came back");
            newest[i] = result;
            compiled += 1;
        }
        state.poll();
        if state.next_random(64) == 0 {
            state.mutator.leave();
            if state.next_random(64) == 0 {
                // The state ends, and another begins.
                let random = state.random;
                state = State::new(space, anything);
                state.random = random;
            }
            state.mutator.enter();
        }
    }
    state.mutator.leave();
    compiled
}

fn baseline(space: &CodeSpace) {
    drain(space);
    assert_eq!((space.versions(), space.usage().live, space.retired_bytes()), (0, 0, 0));
    assert_eq!(space.usage().spans, 1, "all free memory is one span again");
    let stats = space.stats();
    let gone = stats.get(Counter::Retired) + stats.get(Counter::Discarded);
    assert_eq!(gone, stats.get(Counter::Freed));
}

#[test]
fn one_method_replaced_ten_thousand_times() {
    replaced(10_000, MappingKind::DoubleMapped);
}

#[test]
fn one_method_replaced_in_pages_of_its_own() {
    replaced(1_000, MappingKind::PageExclusive);
}

fn replaced(versions: u32, mapping: MappingKind) {
    let advance_every = Duration::from_micros(200);
    let space = CodeSpace::new(Options { advance_every, mapping, ..Options::default() });
    let method = [method(&space)];
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let callers: Vec<_> = (1..=4)
            .map(|seed| {
                let (space, method, stop) = (&space, &method, &stop);
                scope.spawn(move || caller(space, method, seed, stop))
            })
            .collect();
        for value in 0..versions {
            let ticket = loop {
                match method[0].begin() {
                    Ok(ticket) => break ticket,
                    Err(reason) => assert_eq!(reason, NotNow::TooManyLive),
                }
                space.advance_now();
                thread::sleep(Duration::from_micros(20));
            };
            assert_eq!(compile(ticket, value).installed, 1);
            if value % 7 == 0 {
                space.invalidate(&method[0], Cause::Invalid);
            }
        }
        stop.store(true, Relaxed);
        let compiled: Vec<u64> =
            callers.into_iter().map(|c| c.join().expect("no failure")).collect();
        println!("calls of machine code: {compiled:?}");
        assert!(compiled.iter().all(|c| *c > 0));
    });
    println!("{:?}", space.metrics());
    assert_eq!(space.stats().get(Counter::Installed), u64::from(versions));
    drop(method);
    baseline(&space);
}

/// Compiles groups of methods, now and then failing.
struct Groups {
    value: AtomicU32,
}

impl Compiler for Groups {
    type Job = Vec<Ticket>;
    type Context = u32;

    fn context(&self) -> u32 {
        0
    }
    fn compile(&self, context: &mut u32, job: &mut Vec<Ticket>) {
        *context += 1;
        let value = self.value.fetch_add(16, Relaxed);
        if (value / 16).is_multiple_of(50) {
            // A panic without a message.
            resume_unwind(Box::new("now and then"));
        }
        let tickets = std::mem::take(job);
        drop(compile_together(tickets, value));
    }
    fn panicked(&self, job: Vec<Ticket>, message: &str) {
        assert_eq!(message, "now and then");
        drop(job);
    }
}

#[test]
fn modules_workers_and_a_small_budget() {
    const MODULES: u64 = 3_000;
    let options = Options {
        advance_every: Duration::from_micros(500),
        budget: 8 << 10,
        patience: Duration::from_secs(20),
        ..Options::default()
    };
    let space = CodeSpace::new(options);
    let methods: Vec<_> = (0..24).map(|_| method(&space)).collect();
    let workers = Workers::new(
        Groups { value: AtomicU32::new(0) },
        WorkerOptions { threads: 2, ..WorkerOptions::default() },
    );
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 1..=4 {
            let (space, methods, stop) = (&space, &methods, &stop);
            scope.spawn(move || caller(space, methods, seed, stop));
        }
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                space.evict(64);
                thread::sleep(Duration::from_micros(50));
            }
        });
        let mut random = fastrand::Rng::with_seed(99);
        let mut next = |below: u64| random.u64(..below);
        while space.stats().get(Counter::Published) < MODULES {
            let group: Vec<Ticket> =
                (0..1 + next(5)).filter_map(|_| methods[next(24) as usize].begin().ok()).collect();
            if group.is_empty() {
                thread::sleep(Duration::from_micros(200));
            } else {
                workers.submit(next(100), group);
            }
            match next(8) {
                0 => drop(space.invalidate(&methods[next(24) as usize], Cause::Chaos)),
                1 => drop(space.evict(256)),
                2 => drop(workers.cancel(|job| job.len() == 1)),
                3 => workers.wait_idle(),
                _ => {}
            }
        }
        workers.wait_idle();
        stop.store(true, Relaxed);
    });
    println!("{:?}", space.metrics());
    assert!(space.usage().peak <= 8 << 10);
    let counts = [Counter::Late, Counter::RetiredEvicted];
    assert!(counts.iter().all(|c| space.stats().get(*c) > 0));
    drop((workers, methods));
    baseline(&space);
}

/// Pauses with many frames on the stack, on more threads than cores: in thread CPU time. The
/// histogram has a class for each power of two.
#[test]
fn pauses_are_short() {
    const FRAMES: u32 = 10_000;
    const BOUND: u64 = if cfg!(debug_assertions) { 4 << 20 } else { 1 << 20 };
    let advance_every = Duration::from_millis(1);
    let space = CodeSpace::new(Options { advance_every, ..Options::default() });
    let method = method(&space);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut state = State::new(&space, State::poll);
                let ids = space.ids(8).expect("there are ids");
                state.preset((0..FRAMES as usize).map(|i| ids.get(i % 8)));
                while !stop.load(Relaxed) {
                    state.mutator.enter();
                    for _ in 0..1_000 {
                        state.call(&method);
                    }
                    state.mutator.leave();
                }
            });
        }
        for value in 0..200 {
            if let Ok(ticket) = method.begin() {
                compile(ticket, value);
            }
            thread::sleep(Duration::from_millis(5));
        }
        stop.store(true, Relaxed);
    });
    let pauses = space.pauses();
    let (count, max) = (pauses.count(), pauses.max());
    println!(
        "{count} pauses, {} ns at the 99th percentile, {max} ns at most",
        pauses.quantile(0.99)
    );
    assert!(count > 0 && pauses.quantile(0.99) <= BOUND);
    drop(method);
    baseline(&space);
}

/// Programs come and go: memory for code stays as it was after the first.
#[test]
fn twenty_thousand_programs() {
    let space = CodeSpace::new(Options { background: false, ..Options::default() });
    let mut state = State::new(&space, State::poll);
    for value in 0..20_000 {
        let method = method(&space);
        compile(method.begin().expect("it can be compiled"), value);
        state.mutator.enter();
        assert_eq!(state.call(&method), value);
        state.mutator.leave();
        drop(method);
        if value % 10 == 0 {
            space.advance_now();
        }
    }
    assert!(space.usage().peak <= 12 * 64);
    baseline(&space);
}
