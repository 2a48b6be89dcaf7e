//! The life cycle of methods, versions and their memory, one step at a time.
#![cfg(not(loom))]

mod common;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};

use common::*;
use perilune_code::{
    Cause, CodeSpace, Counter, Life, MappingKind, Method, NotNow, Options, Phase, Placement,
    Refusal, Region,
};

fn space() -> Arc<CodeSpace> {
    CodeSpace::new(Options { background: false, budget: 1 << 20, ..Options::default() })
}

fn nothing(_: &mut State) {}

fn baseline(space: &CodeSpace) {
    assert_eq!((space.versions(), space.usage().live, space.retired_bytes()), (0, 0, 0));
    assert_eq!(space.usage().spans, 1, "all free memory is one span again");
}

fn installed(method: &Method) -> perilune_code::CodeId {
    method.installed().expect("it has code").id()
}

#[test]
fn from_interpreter_to_code_and_back() {
    for mapping in [MappingKind::DoubleMapped, MappingKind::PageExclusive] {
        let space = CodeSpace::new(Options { background: false, mapping, ..Options::default() });
        let mut state = State::new(&space, nothing);
        let method = method(&space);
        state.mutator.enter();
        assert_eq!(state.call(&method), INTERPRETED);

        let ticket = method.begin().expect("it can be compiled");
        assert_eq!(method.phase(), Phase::Queued);
        assert_eq!(method.begin().err(), Some(NotNow::Compiling));
        let published = compile(ticket, 7);
        assert_eq!((published.installed, published.late), (1, 0));
        assert_eq!(state.call(&method), 7);
        let version = method.installed().expect("it has code");
        let found = space.version_at(version.entry().wrapping_add(3)).expect("it is in the map");
        assert_eq!(found.id(), version.id());

        let ticket = method.begin().expect("it can be compiled again");
        assert_eq!(method.phase(), Phase::Recompiling);
        compile(ticket, 8);
        assert_eq!(state.call(&method), 8);
        assert!(version.is_retired());
        assert_eq!(space.advance_now(), 0, "the state has not announced");
        state.poll();
        assert_eq!(space.advance_now(), 1);
        assert!(space.version(version.id()).is_none());

        space.invalidate(&method, Cause::Invalid);
        assert_eq!((state.call(&method), method.phase()), (INTERPRETED, Phase::Interpreted));
        state.mutator.leave();
        drain(&space);
        baseline(&space);
        assert_eq!(method.live(), 0);
    }
}

#[test]
fn an_offline_state_does_not_delay() {
    let space = space();
    let _idle = State::new(&space, nothing);
    let method = method(&space);
    compile(method.begin().expect("it can be compiled"), 1);
    space.invalidate(&method, Cause::Chaos);
    assert_eq!(space.advance_now(), 1);
    assert_eq!(space.stats().get(Counter::Walked), 1);
    baseline(&space);
}

#[test]
fn a_frame_pins_its_version_only() {
    fn replaced(state: &mut State) {
        // In the middle of the frame: the version is replaced twice.
        let space = SPACE.with(|s| s.borrow().clone()).expect("it is set");
        let method = METHOD.with(|m| m.borrow().clone()).expect("it is set");
        let own = installed(&method);
        compile(method.begin().expect("it can be compiled"), 2);
        let second = installed(&method);
        compile(method.begin().expect("it can be compiled"), 3);
        state.mutator.blocking(|| {
            assert_eq!(space.advance_now(), 1, "the second is freed, walking this state");
        });
        assert!(space.version(second).is_none());
        state.announce();
        space.advance_now();
        state.announce();
        assert_eq!(space.advance_now(), 0, "the frame is in the first");
        assert!(space.version(own).is_some_and(|v| v.is_retired()));
    }
    thread_local! {
        static SPACE: std::cell::RefCell<Option<Arc<CodeSpace>>> = Default::default();
        static METHOD: std::cell::RefCell<Option<Arc<Method>>> = Default::default();
    }
    let space = space();
    let method = method(&space);
    SPACE.set(Some(space.clone()));
    METHOD.set(Some(method.clone()));
    let mut state = State::new(&space, replaced);
    compile(method.begin().expect("it can be compiled"), 1);
    state.mutator.enter();
    assert_eq!(state.call(&method), 1, "it returns into the code that was replaced");
    state.middle = nothing;
    assert_eq!(state.call(&method), 3);
    state.announce();
    assert_eq!(space.advance_now(), 1);
    assert_eq!(space.versions(), 1);
    METHOD.set(None);
    SPACE.set(None);
}

#[test]
fn at_most_three_versions_live() {
    let space = space();
    let mut state = State::new(&space, nothing);
    state.mutator.enter();
    let method = method(&space);
    for value in 0..3 {
        compile(method.begin().expect("it can be compiled"), value);
    }
    assert_eq!(method.begin().err(), Some(NotNow::TooManyLive));
    assert_eq!(method.phase(), Phase::Compiled);
    space.advance_now();
    state.poll();
    space.advance_now();
    assert_eq!(method.live(), 1);
    assert!(method.begin().is_ok());
}

#[test]
fn results_that_come_late() {
    let space = space();
    // The program is dropped.
    let dropped = method(&space);
    let ticket = dropped.begin().expect("it can be compiled");
    dropped.close();
    assert!(!ticket.is_current());
    let published = compile(ticket, 1);
    assert_eq!((published.installed, published.late), (0, 1));
    assert!(published.module.is_none() && dropped.installed().is_none());
    assert_eq!(dropped.begin().err(), Some(NotNow::Dropped));
    // What it was compiled for no longer holds.
    let invalid = method(&space);
    compile(invalid.begin().expect("it can be compiled"), 1);
    let ticket = invalid.begin().expect("it can be compiled");
    space.invalidate(&invalid, Cause::Invalid);
    assert_eq!(invalid.begin().err(), Some(NotNow::Compiling), "one at a time");
    assert_eq!(compile(ticket, 2).late, 1);
    assert_eq!(invalid.phase(), Phase::Interpreted);
    let ticket = invalid.begin().expect("it can be compiled");
    space.invalidate(&invalid, Cause::Invalid);
    assert_eq!((invalid.phase(), ticket.is_current()), (Phase::Interpreted, false));
    assert_eq!(compile(ticket, 2).late, 1);
    // An eviction leaves a recompile good.
    compile(invalid.begin().expect("it can be compiled"), 3);
    let ticket = invalid.begin().expect("it can be compiled");
    space.invalidate(&invalid, Cause::Evicted);
    assert_eq!((invalid.phase(), invalid.evictions()), (Phase::Queued, 1));
    assert_eq!(compile(ticket, 4).installed, 1);
    assert_eq!(space.stats().get(Counter::Late), 3);
    drop((dropped, invalid));
    drain(&space);
    baseline(&space);
}

#[test]
fn refusals() {
    let space = space();
    let method = method(&space);
    method.begin().expect("it can be compiled").refuse(Refusal::TooLarge);
    assert!(matches!(method.life(), Life::Refused(Refusal::TooLarge)));
    assert_eq!(method.begin().err(), Some(NotNow::Refused));
    method.reconsider();
    drop(method.begin().expect("it can be compiled"));
    assert_eq!(method.phase(), Phase::Interpreted);
    compile(method.begin().expect("it can be compiled"), 1);
    method.begin().expect("it can be compiled again").refuse(Refusal::Panic("oops".into()));
    assert_eq!(method.phase(), Phase::Compiled, "it keeps the code it has");
    let counts = [Counter::RefusedTooLarge, Counter::RefusedPanic, Counter::GivenBack];
    assert_eq!(counts.map(|c| space.stats().get(c)), [1, 1, 1]);
}

#[test]
fn members_come_and_go_together() {
    let space = space();
    let mut state = State::new(&space, nothing);
    let methods: Vec<_> = (0..4).map(|_| method(&space)).collect();
    let tickets: Vec<_> = methods.iter().map(|m| m.begin().expect("it can be compiled")).collect();
    methods[3].close();
    let published = compile_together(tickets, 10);
    assert_eq!((published.installed, published.late), (3, 1));
    state.mutator.enter();
    let values = |state: &mut State| [0, 1, 2, 3].map(|i| state.call(&methods[i]));
    assert_eq!(values(&mut state), [10, 11, 12, INTERPRETED]);
    let published = compile(methods[1].begin().expect("it can be compiled"), 20);
    assert_eq!(values(&mut state), [INTERPRETED, 20, INTERPRETED, INTERPRETED]);
    let requeue = published.requeue;
    assert_eq!(requeue.len(), 2);
    assert!(Arc::ptr_eq(&requeue[0], &methods[0]) && Arc::ptr_eq(&requeue[1], &methods[2]));
    state.mutator.leave();
    drop((methods, requeue, published.module));
    drain(&space);
    baseline(&space);
}

#[test]
fn programs_dropped_out_of_order() {
    let space = space();
    let mut methods: Vec<_> = (0..200).map(|_| method(&space)).collect();
    for (i, method) in methods.iter().enumerate() {
        compile(method.begin().expect("it can be compiled"), i as u32);
    }
    assert_eq!(space.versions(), 200);
    let mut random = fastrand::Rng::with_seed(1);
    while !methods.is_empty() {
        let method = methods.swap_remove(random.usize(..methods.len()));
        drop(method);
        if random.bool() {
            space.advance_now();
        }
    }
    drain(&space);
    baseline(&space);
}

#[test]
fn a_method_that_its_own_code_holds() {
    let space = space();
    let method = method(&space);
    let ticket = method.begin().expect("it can be compiled");
    let id = space.ids(1).expect("there are ids").get(0);
    let code = calling(id, 1);
    let range = space.reserve(code.len()).expect("room").publish(&code).expect("written");
    let mut member = member(ticket, id, 0..code.len());
    member.data = Arc::new(method.clone());
    space.publish(range, vec![member]);
    method.close();
    let weak = Arc::downgrade(&method);
    drop(method);
    drain(&space);
    assert!(weak.upgrade().is_none());
    baseline(&space);
}

#[test]
fn a_program_dropped_from_inside_its_own_frame() {
    thread_local!(static METHOD: std::cell::RefCell<Option<Arc<Method>>> = Default::default());
    fn drop_it(state: &mut State) {
        let method = METHOD.take().expect("it is set");
        let space = space_of(&method);
        drop(method);
        state.mutator.blocking(|| assert_eq!(space.advance_now(), 0, "a frame is in it"));
        assert_eq!((space.pending(), space.versions()), (1, 1));
    }
    let space = space();
    let mut state = State::new(&space, drop_it);
    let method = method(&space);
    compile(method.begin().expect("it can be compiled"), 5);
    state.mutator.enter();
    state.slot = method.slot();
    METHOD.set(Some(method));
    assert_eq!(state.call_slot(), 5);
    state.mutator.leave();
    drain(&space);
    baseline(&space);
}

#[test]
fn the_coldest_make_room() {
    let budget = 16 << 10;
    let space = CodeSpace::new(Options { background: false, budget, ..Options::default() });
    let mut state = State::new(&space, nothing);
    let methods: Vec<_> = (0..1000).map(|_| method(&space)).collect();
    state.mutator.enter();
    for (i, method) in methods.iter().enumerate() {
        state.mutator.leave();
        compile(method.begin().expect("it can be compiled"), i as u32);
        state.mutator.enter();
        assert_eq!(state.call(method), i as u32);
    }
    assert!(space.stats().get(Counter::RetiredEvicted) > 0);
    assert_eq!(methods.iter().filter(|m| m.phase() == Phase::Compiled).count(), space.versions());
    assert!(space.usage().peak <= budget);
    assert_eq!(methods[999].phase(), Phase::Compiled);
    assert_eq!(space.reserve(budget + 1).err(), Some(Refusal::Exhausted));
}

#[test]
fn exhausted_when_nothing_can_go() {
    let budget = 4 << 10;
    // its ranges are small
    let mapping = MappingKind::DoubleMapped;
    let options = Options { background: false, budget, mapping, ..Options::default() };
    let space = CodeSpace::new(options);
    let mut state = State::new(&space, nothing);
    // It never polls.
    state.mutator.enter();
    let methods: Vec<_> = (0..64).map(|_| method(&space)).collect();
    methods.iter().for_each(|m| drop(compile(m.begin().expect("it can be compiled"), 1)));
    assert_eq!(space.usage().free, 0);
    assert_eq!(space.reserve(64).err(), Some(Refusal::Exhausted));
    state.poll();
    assert!(space.reserve(64).is_ok());
}

#[test]
fn freed_memory_traps() {
    let space = space();
    let method = method(&space);
    compile(method.begin().expect("it can be compiled"), 1);
    let version = method.installed().expect("it has code");
    let (start, size) = (version.entry(), version.size());
    // SAFETY: the region is readable as long as the space.
    let bytes = || unsafe { std::slice::from_raw_parts(start, size).to_vec() };
    assert_eq!(bytes(), calling(version.id(), 1));
    method.close();
    drain(&space);
    assert!(bytes().iter().all(|b| *b == perilune_code::region::TRAP));
}

#[test]
fn the_thread_that_reclaims() {
    let space = CodeSpace::new(Options::default());
    let mut state = State::new(&space, nothing);
    state.mutator.enter();
    let method = method(&space);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    for value in 0..5 {
        let ticket = loop {
            match method.begin() {
                Ok(ticket) => break ticket,
                Err(reason) => assert_eq!(reason, NotNow::TooManyLive),
            }
            assert!(std::time::Instant::now() < end, "it does not reclaim");
            state.poll();
        };
        compile(ticket, value);
    }
    method.close();
    while space.pending() > 0 {
        assert!(std::time::Instant::now() < end, "it does not reclaim");
        state.poll();
        std::thread::yield_now();
    }
    baseline(&space);
}

/// Places a function that returns `value` with data that shows whether it is dropped.
fn place(space: &CodeSpace, value: u32) -> (Arc<Placement>, Weak<()>) {
    let data = Arc::new(());
    let weak = Arc::downgrade(&data);
    let placement = space.place(&constant(value), |range| {
        assert_eq!(range.bytes(), constant(value));
        Box::new(data)
    });
    (placement.expect("there is room"), weak)
}

#[test]
fn a_placement_is_freed_when_all_states_have_forgotten_it() {
    let space = space();
    let (mut one, mut two) = (State::new(&space, nothing), State::new(&space, nothing));
    let (placement, data) = place(&space, 5);
    for state in [&mut one, &mut two] {
        state.mutator.enter();
        assert_eq!(state.run(&space, &placement), 5);
    }
    two.mutator.leave();
    space.retire_placement(&placement, Cause::Chaos);
    space.retire_placement(&placement, Cause::Chaos);
    assert_eq!((space.pending(), space.retired_placements()), (1, placement.footprint()));
    assert_eq!(space.keep(&placement), None);
    assert_eq!(one.run(&space, &placement), 5, "it has not announced");
    assert_eq!(space.advance_now(), 0);
    assert_eq!(one.run(&space, &placement), 5);
    one.poll();
    assert_eq!(one.run(&space, &placement), INTERPRETED);
    assert!(data.upgrade().is_some());
    assert_eq!(space.collect(), 1);
    assert!(data.upgrade().is_none());
    assert!(!two.shared.kept.load(Relaxed).is_null(), "only its own thread changes the word");
    two.mutator.enter();
    assert_eq!(two.run(&space, &placement), INTERPRETED);
    placement.close();
    assert_eq!(space.stats().get(Counter::PlacementsFreed), 1);
    baseline(&space);
}

#[test]
fn a_placement_whose_owner_is_dropped_is_freed_at_once() {
    let space = space();
    let (placement, data) = place(&space, 5);
    assert!(space.usage().live > 0);
    placement.close();
    assert!(data.upgrade().is_none() && space.keep(&placement).is_none());
    assert_eq!(space.pending(), 0);
    baseline(&space);
}

#[test]
fn placements_that_are_not_needed_are_evicted_first() {
    let space = CodeSpace::new(Options {
        background: false,
        budget: 4096,
        mapping: MappingKind::DoubleMapped,
        ..Options::default()
    });
    let mut state = State::new(&space, nothing);
    let placements: Vec<_> = (0..64).map(|n| place(&space, n).0).collect();
    assert!(space.place(&constant(64), |_| Box::new(())).is_err());
    // All are as old as the last advance; afterwards, one is needed.
    space.advance_now();
    state.mutator.enter();
    assert_eq!(state.run(&space, &placements[7]), 7);
    assert_eq!(space.evict(62 * 64), 62 * 64);
    state.poll();
    space.advance_now();
    state.poll();
    assert_eq!(space.collect(), 62);
    let left: Vec<usize> = (0..64).filter(|&n| !placements[n].is_retired()).collect();
    assert_eq!(left, [7, 63], "of equally cold ones, the youngest stays");
    assert!(space.has_room(55 * 64) && !space.has_room(55 * 64 + 1), "between the two");
}

#[test]
fn states_forget_placements_when_memory_becomes_scarce() {
    let space = CodeSpace::new(Options {
        background: false,
        budget: 4096,
        mapping: MappingKind::DoubleMapped,
        ..Options::default()
    });
    let mut state = State::new(&space, nothing);
    state.mutator.enter();
    for n in 0..64 {
        let (placement, _) = place(&space, n);
        if n == 0 {
            assert_eq!(state.run(&space, &placement), 0);
        }
        state.poll();
        assert_eq!(state.shared.kept.load(Relaxed).is_null(), n >= 56, "{n}");
    }
    assert_eq!(space.stats().get(Counter::Withdrawals), 1);
}

#[test]
#[cfg_attr(miri, ignore = "maps gigabytes")]
fn budgets_have_a_maximum() {
    let space =
        CodeSpace::new(Options { background: false, budget: usize::MAX, ..Options::default() });
    assert_eq!(space.usage().total, Region::MAX_BUDGET);
    let method = method(&space);
    compile(method.begin().expect("it can be compiled"), 7);
    assert_eq!(space.usage().total, Region::MAX_BUDGET);
    installed(&method);
}
