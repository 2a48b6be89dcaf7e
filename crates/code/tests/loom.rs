//! The model of the protocol, for
//! `RUSTFLAGS="--cfg loom" cargo test -p perilune-code --test loom --target-dir target/loom`.
//!
//! It runs the real `Quiescence`, `Mutator`, `EntrySlot` and `Gate`, with a word in place of the
//! code. Running the code reads the word, publishing and freeing write it; a state's frames are
//! words that the state writes and that walks read. The model checker reports a read and a write
//! that are not ordered, and the model reports running a word that was freed. Each mutant of the
//! protocol must make some scenario fail.
#![cfg(loom)]

use std::process::Command;
use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::thread;
use perilune_code::fork::Gate;
use perilune_code::quiescence::{Quiescence, Retired};
use perilune_code::sync::{AtomicU32, Mutant, Ordering, choose, mutated};
use perilune_code::{CodeId, EntrySlot, Hooks, Mutator, PinnedFrame, Pins};

/// The code of a version: `Some` from publishing to freeing.
struct Code {
    id: CodeId,
    word: UnsafeCell<Option<u32>>,
}

// SAFETY: the checker looks at every access.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    fn new(id: u32) -> Arc<Code> {
        Arc::new(Code { id: CodeId::from_raw(id), word: UnsafeCell::new(None) })
    }
    fn write(&self, word: Option<u32>) {
        // SAFETY: checked by the model.
        self.word.with_mut(|p| unsafe { *p = word });
    }
    /// Runs it.
    fn run(&self) {
        // SAFETY: checked by the model.
        let word = self.word.with(|p| unsafe { *p });
        assert_eq!(word, Some(self.id.raw()), "freed code runs");
    }
}

/// A version that waits to be freed.
struct Garbage(Arc<Code>);

impl Retired for Garbage {
    fn contains(&self, id: CodeId) -> bool {
        self.0.id == id
    }
}

/// What a frame is in, or `None` if there is no frame, and whether it is announced.
type Word = UnsafeCell<(Option<CodeId>, bool)>;

/// The frames of a state, the outermost first.
struct Frames([Word; 2]);

// SAFETY: the checker looks at every access.
unsafe impl Send for Frames {}
// SAFETY: as above.
unsafe impl Sync for Frames {}

/// What a frame is in that no code runs.
const INTERPRETED: CodeId = CodeId::from_raw(0);

impl Frames {
    fn new() -> Frames {
        Frames(std::array::from_fn(|_| UnsafeCell::new((None, false))))
    }
    /// Stores what the frame at `place` is in, which clears its bit.
    fn set(&self, place: usize, id: Option<CodeId>) {
        let keeps = mutated(Mutant::AnnouncedForGood);
        // SAFETY: checked by the model.
        self.0[place].with_mut(|p| unsafe { *p = (id, (*p).1 && keeps) });
    }
    fn list(&self, pins: &mut Pins) {
        let frames = self.0.iter().enumerate().rev().map(|(place, word)| Seen { place, word });
        pins.add_stack(0, frames.filter(|seen| seen.read().0.is_some()));
    }
}

/// A frame in a walk.
struct Seen<'a> {
    place: usize,
    word: &'a Word,
}

impl Seen<'_> {
    fn read(&self) -> (Option<CodeId>, bool) {
        // SAFETY: checked by the model.
        self.word.with(|p| unsafe { *p })
    }
}

impl PinnedFrame for Seen<'_> {
    fn place(&self) -> u32 {
        self.place as u32
    }
    fn code(&self) -> CodeId {
        self.read().0.expect("there is a frame")
    }
    fn is_announced(&self) -> bool {
        self.read().1
    }
    fn set_announced(&self) {
        // SAFETY: checked by the model.
        self.word.with_mut(|p| unsafe { (*p).1 = true });
    }
}

struct Walk(Arc<Frames>, Arc<Kept>);

impl Hooks for Walk {
    // The states of the model poll when the scenario says so.
    fn arm(&self) {}
    fn walk(&self, pins: &mut Pins) {
        self.0.list(pins);
    }
    fn forget(&self) {
        self.1.set(false);
    }
}

/// Whether a state keeps the address of the old code, as if that were a placement.
struct Kept(UnsafeCell<bool>);

// SAFETY: the checker looks at every access.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl Kept {
    fn get(&self) -> bool {
        // SAFETY: checked by the model.
        self.0.with(|p| unsafe { *p })
    }
    fn set(&self, kept: bool) {
        // SAFETY: checked by the model.
        self.0.with_mut(|p| unsafe { *p = kept });
    }
}

/// One slot that holds the old version, a new version, and the protocol.
struct World {
    quiescence: Quiescence<Garbage>,
    slot: EntrySlot,
    /// Not 0 if no state may begin to keep the address of the old code.
    retired: AtomicU32,
    old: Arc<Code>,
    new: Arc<Code>,
}

impl World {
    fn new() -> Arc<World> {
        let (old, new) = (Code::new(100), Code::new(101));
        old.write(Some(100));
        let slot = EntrySlot::new(Arc::as_ptr(&old).cast());
        let retired = AtomicU32::new(0);
        Arc::new(World { quiescence: Quiescence::new(), slot, retired, old, new })
    }

    fn state(self: &Arc<World>) -> State {
        let frames = Arc::new(Frames::new());
        let kept = Arc::new(Kept(UnsafeCell::new(false)));
        let mutator = self.quiescence.register(Box::new(Walk(frames.clone(), kept.clone())));
        State { world: self.clone(), mutator, frames, kept }
    }

    /// Publishes the new version and retires the old.
    fn replace(&self) {
        self.new.write(Some(101));
        let exchange = || {
            let (old, new) = (Arc::as_ptr(&self.old).cast(), Arc::as_ptr(&self.new).cast());
            assert!(self.slot.exchange(old, new), "no other thread changes the slot");
        };
        let retire = || self.quiescence.retire(Garbage(self.old.clone()));
        if mutated(Mutant::RetiredBeforeUnlinked) {
            retire();
            exchange();
        } else {
            exchange();
            retire();
        }
    }

    /// Retires the old code, which is a placement.
    fn withdraw(&self) {
        self.retired.store(1, Ordering::Relaxed);
        self.quiescence.retire_placement(Garbage(self.old.clone()));
    }

    /// Advances and frees what is free at once, or after what states have announced meanwhile.
    fn reclaim(&self) {
        self.quiescence.advance();
        self.free();
    }

    fn free(&self) {
        for Garbage(code) in self.quiescence.collect(|_| ()) {
            code.write(None);
        }
    }
}

/// A state, on its thread.
struct State {
    world: Arc<World>,
    mutator: Mutator,
    frames: Arc<Frames>,
    kept: Arc<Kept>,
}

impl State {
    /// Loads the slot, as a call does.
    fn load(&self) -> &Code {
        // SAFETY: the slot holds one of the world's versions.
        unsafe { &*self.world.slot.target().cast::<Code>() }
    }
    /// Calls through the slot, without anything in between.
    fn call(&self) {
        let code = self.load();
        self.frames.set(0, Some(code.id));
        code.run();
        self.frames.set(0, None);
    }
    /// Calls, does something in the middle of the frame, and returns into it.
    fn call_with(&mut self, middle: impl FnOnce(&mut State)) {
        let code = std::ptr::from_ref(self.load());
        // SAFETY: the world outlives the state.
        let code = unsafe { &*code };
        self.frames.set(0, Some(code.id));
        middle(self);
        code.run();
        self.frames.set(0, None);
    }
    /// Runs the placement by the address that the state keeps, or begins to keep it.
    fn run(&self) {
        if !self.kept.get() {
            if self.world.retired.load(Ordering::Relaxed) != 0 {
                return;
            }
            self.kept.set(true);
        }
        self.world.old.run();
    }
    fn poll(&mut self) {
        let State { mutator, frames, .. } = self;
        mutator.announce(|pins| frames.list(pins));
    }
    fn enter(&self) {
        self.mutator.enter();
    }
    fn leave(&self) {
        self.mutator.leave();
    }
}

fn spawn(f: impl FnOnce() + 'static) -> thread::JoinHandle<()> {
    thread::spawn(f)
}

/// A state enters and runs `f`, while another thread replaces and reclaims. Returns the world and
/// the state's thread.
fn beside(f: impl FnOnce(&mut State) + 'static) -> (Arc<World>, thread::JoinHandle<()>) {
    let world = World::new();
    let mut state = world.state();
    let state = spawn(move || {
        state.enter();
        f(&mut state);
        std::mem::forget(state);
    });
    world.replace();
    world.reclaim();
    (world, state)
}

fn reclaimed_beside(f: impl FnOnce(&mut State) + 'static) {
    beside(f).1.join().expect("it ends");
}

/// As [`reclaimed_beside`], and what can be freed after that is freed as well.
fn freed_beside(f: impl FnOnce(&mut State) + 'static) {
    let (world, state) = beside(f);
    world.free();
    state.join().expect("it ends");
}

/// A state enters and calls, while the other thread replaces and reclaims.
fn entering() {
    reclaimed_beside(|state| {
        state.call();
        state.leave();
    });
}

/// A state calls, polls and calls.
fn polling() {
    freed_beside(|state| {
        state.call();
        state.poll();
        state.call();
    });
}

/// A state polls in the middle of a frame and returns into it.
fn pinning() {
    freed_beside(|state| {
        state.call_with(State::poll);
    });
}

/// A state polls twice in the middle of a frame, the second time with another frame on top of it
/// that has come since, and returns into it.
fn nesting() {
    freed_beside(|state| {
        state.call_with(|state| {
            state.poll();
            state.frames.set(1, Some(INTERPRETED));
            state.poll();
            state.frames.set(1, None);
        });
    });
}

/// A frame of the interpreter polls, continues in code, as at the head of a loop, and polls again.
fn continuing() {
    freed_beside(|state| {
        state.frames.set(0, Some(INTERPRETED));
        state.poll();
        state.call_with(State::poll);
    });
}

/// A state blocks in a host call in the middle of a frame, and returns into it.
fn blocking() {
    reclaimed_beside(|state| {
        state.call_with(|state| {
            state.leave();
            state.enter();
        });
    });
}

/// The thread that replaces is not the reclaimer.
fn publishing() {
    let world = World::new();
    let mut state = world.state();
    let publisher = world.clone();
    let publisher = spawn(move || publisher.replace());
    let state = spawn(move || {
        state.enter();
        state.poll();
        state.call();
        std::mem::forget(state);
    });
    world.reclaim();
    world.free();
    publisher.join().expect("it ends");
    state.join().expect("it ends");
}

/// Two states: one polls, the other blocks in a frame.
fn two_states() {
    let world = World::new();
    let (mut one, mut two) = (world.state(), world.state());
    let one = spawn(move || {
        one.enter();
        one.poll();
        one.call();
        std::mem::forget(one);
    });
    let two = spawn(move || {
        two.enter();
        two.call_with(|state| {
            state.leave();
            state.enter();
        });
        std::mem::forget(two);
    });
    world.replace();
    world.reclaim();
    world.free();
    one.join().expect("it ends");
    two.join().expect("it ends");
}

/// A state is registered and enters, while another thread replaces and a third reclaims.
fn registering() {
    let world = World::new();
    let (publisher, other) = (world.clone(), world.clone());
    let publisher = spawn(move || publisher.replace());
    let state = spawn(move || {
        let state = other.state();
        state.enter();
        state.call();
        std::mem::forget(state);
    });
    world.free();
    world.reclaim();
    publisher.join().expect("it ends");
    state.join().expect("it ends");
}

/// The registration of a state ends while another thread reclaims; its frames are gone then.
fn unregistering() {
    let world = World::new();
    let state = world.state();
    let state = spawn(move || {
        state.enter();
        state.call();
        let State { mutator, frames, .. } = state;
        drop(mutator);
        frames.set(0, Some(CodeId::FIRST));
    });
    world.replace();
    world.reclaim();
    state.join().expect("it ends");
}

/// A state enters and runs `f`, while another thread retires a placement and reclaims.
fn withdrawn_beside(f: impl FnOnce(&mut State) + 'static) {
    let world = World::new();
    let mut state = world.state();
    let state = spawn(move || {
        state.enter();
        f(&mut state);
        std::mem::forget(state);
    });
    world.withdraw();
    world.reclaim();
    world.free();
    state.join().expect("it ends");
}

/// A state runs a placement, polls and runs it again.
fn keeping() {
    withdrawn_beside(|state| {
        state.run();
        state.poll();
        state.run();
    });
}

/// A state runs a placement, blocks and runs it again.
fn keeping_offline() {
    withdrawn_beside(|state| {
        state.run();
        state.leave();
        state.enter();
        state.run();
    });
}

/// The thread that retires a placement is not the reclaimer.
fn withdrawing() {
    let world = World::new();
    let mut state = world.state();
    let other = world.clone();
    let other = spawn(move || other.withdraw());
    let state = spawn(move || {
        state.enter();
        state.run();
        state.poll();
        state.run();
        std::mem::forget(state);
    });
    world.reclaim();
    world.free();
    other.join().expect("it ends");
    state.join().expect("it ends");
}

/// A thread forks while another holds a lock inside the gate; what the lock guards is whole at the
/// fork.
fn forking() {
    let gate = Arc::new(Gate::new());
    let word = Arc::new(UnsafeCell::new(0));
    let inside = {
        let (gate, word) = (gate.clone(), word.clone());
        spawn(move || {
            gate.enter();
            // SAFETY: checked by the model.
            word.with_mut(|p| unsafe { *p += 1 });
            // SAFETY: as above.
            word.with_mut(|p| unsafe { *p += 1 });
            gate.leave();
        })
    };
    gate.close();
    // SAFETY: as above.
    let seen = word.with(|p| unsafe { *p });
    assert!(seen != 1, "a thread is inside at the fork");
    gate.open();
    inside.join().expect("it ends");
}

/// All scenarios, each with how many times a thread is preempted at most; `None`: no limit.
///
/// Those that take seconds come last, so that most mutants fail before them.
const SCENARIOS: [(&str, fn(), Option<usize>); 14] = [
    ("entering", entering, None),
    ("polling", polling, None),
    ("pinning", pinning, None),
    ("blocking", blocking, None),
    ("unregistering", unregistering, None),
    ("keeping", keeping, None),
    ("keeping offline", keeping_offline, None),
    ("registering", registering, Some(4)),
    ("forking", forking, Some(3)),
    ("nesting", nesting, None),
    ("continuing", continuing, None),
    ("publishing", publishing, Some(4)),
    ("withdrawing", withdrawing, Some(4)),
    ("two states", two_states, Some(4)),
];

fn check(scenario: fn(), preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(scenario);
}

/// Runs the scenarios with the mutant that the environment names, and ends when one fails; not of
/// use by itself.
#[test]
#[ignore = "a part of other tests"]
fn chosen_mutant() {
    let name = std::env::var("MUTANT").expect("a mutant is named");
    let named = |m: &&Mutant| format!("{m:?}") == name;
    choose(Mutant::ALL.iter().find(named).copied());
    for (name, scenario, preemptions) in SCENARIOS {
        println!("scenario {name}");
        check(scenario, preemptions);
    }
}

/// What the model says with this mutant; in a process of its own, since a failing model may abort.
fn failure(mutant: Mutant) -> String {
    let output = Command::new(std::env::current_exe().expect("this is a file"))
        .args(["--exact", "chosen_mutant", "--ignored", "--nocapture"])
        .env("MUTANT", format!("{mutant:?}"))
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("it can be run");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success(), "the model passes with {mutant:?}");
    let scenario = said.lines().filter(|l| l.starts_with("scenario")).next_back().unwrap_or("");
    // Later panics are consequences.
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = error.lines().skip_while(|l| !l.contains("panicked at")).skip(1).take(3);
    let message = lines.collect::<Vec<_>>().join(" ");
    println!("{mutant:?} fails in {scenario}: {message}");
    message
}

macro_rules! protocol {
    ($($name:ident = $scenario:expr;)*) => {
        $(#[test]
        fn $name() {
            let (_, scenario, preemptions) = SCENARIOS[$scenario];
            check(scenario, preemptions);
        })*
    };
}

protocol! {
    protocol_entering = 0;
    protocol_polling = 1;
    protocol_pinning = 2;
    protocol_blocking = 3;
    protocol_unregistering = 4;
    protocol_keeping = 5;
    protocol_keeping_offline = 6;
    protocol_registering = 7;
    protocol_forking = 8;
    protocol_nesting = 9;
    protocol_continuing = 10;
    protocol_publishing = 11;
    protocol_withdrawing = 12;
    protocol_two_states = 13;
}

macro_rules! mutants {
    ($($name:ident = $mutant:ident;)*) => {
        const TESTED: &[Mutant] = &[$(Mutant::$mutant,)*];

        $(#[test]
        fn $name() {
            let message = failure(Mutant::$mutant);
            let expected =
                ["freed code runs", "a thread is inside at the fork", "Causality violation"];
            assert!(expected.iter().any(|e| message.contains(e)), "{message}");
        })*
    };
}

mutants! {
    mutant_no_light_barrier = NoLightBarrier;
    mutant_no_heavy_barrier = NoHeavyBarrier;
    mutant_no_claim = NoClaim;
    mutant_claim_ignored = ClaimIgnored;
    mutant_claim_ends_early = ClaimEndsEarly;
    mutant_claim_end_relaxed = ClaimEndRelaxed;
    mutant_claim_read_relaxed = ClaimReadRelaxed;
    mutant_leave_relaxed = LeaveRelaxed;
    mutant_status_read_relaxed = StatusReadRelaxed;
    mutant_online_walked = OnlineWalked;
    mutant_offline_not_walked = OfflineNotWalked;
    mutant_number_raised_relaxed = NumberRaisedRelaxed;
    mutant_number_read_relaxed = NumberReadRelaxed;
    mutant_retired_before_unlinked = RetiredBeforeUnlinked;
    mutant_same_number_suffices = SameNumberSuffices;
    mutant_pins_ignored = PinsIgnored;
    mutant_pins_not_carried = PinsNotCarried;
    mutant_announced_for_good = AnnouncedForGood;
    mutant_one_state_suffices = OneStateSuffices;
    mutant_registry_unlocked = RegistryUnlocked;
    mutant_publish_relaxed = PublishRelaxed;
    mutant_call_relaxed = CallRelaxed;
    mutant_kept_at_announcement = KeptAtAnnouncement;
    mutant_kept_at_entry = KeptAtEntry;
    mutant_withdrawn_late = WithdrawnLate;
    mutant_withdrawal_relaxed = WithdrawalRelaxed;
    mutant_withdrawal_read_relaxed = WithdrawalReadRelaxed;
    mutant_gate_not_awaited = GateNotAwaited;
    mutant_gate_leave_relaxed = GateLeaveRelaxed;
}

#[test]
fn every_mutant_has_its_test() {
    assert_eq!(TESTED, Mutant::ALL);
}
