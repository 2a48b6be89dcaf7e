//! The history of a method: the feedback that it was compiled for, and how often that changed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use perilune_bytecode::Proto;
use perilune_code::Method;
use perilune_code::lock::{Mutex, MutexGuard, lock};

use crate::feedback::callees::Callee;
use crate::feedback::snapshot::{Shapes, Snapshot};

/// The number of requests for compiles, and of results, so far: it orders them.
static EVENTS: AtomicU64 = AtomicU64::new(1);

/// How often a method is recompiled for new feedback; the last recompile produces code for any
/// operands. Together with the first compile, and one on account of other methods in its module,
/// this gives a method at most six versions.
const MAX_CHANGES: u32 = 4;
/// How many of these recompiles may have happened before one whose only purpose is to inline more
/// functions. The others remain for new feedback.
const MAX_BEFORE_INLINING: u32 = 2;

/// The minimum number of exits for judging code.
const FEW_EXITS: u32 = 32;
/// The time between two exits below which they cost more than the code saves: an exit takes about
/// a microsecond, and much longer where the runtime is not optimized.
const BETWEEN_EXITS: Duration = Duration::from_micros(if cfg!(debug_assertions) { 200 } else { 2 });
/// The time between two exits above which they cost next to nothing, even if the function continues
/// in a lower tier for a while.
const SELDOM: Duration = Duration::from_millis(1);

/// How often code exits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// The exits take so much time that the lower tiers are faster.
    Dense,
    /// The exits cost time, but the code is faster all the same; or their pace is not known.
    Moderate,
    /// The exits cost next to nothing.
    Sparse,
}

/// The input of the compile that made the newest version of a method.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) proto: Weak<Proto>,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) shapes: Shapes,
    /// The pc of the loop of an OSR entry, or `None` for the function itself.
    pub(crate) entry: Option<u32>,
    /// The pcs at which it calls itself.
    pub(crate) own_calls: Arc<[u32]>,
}

/// The input of a waiting compile: the feedback at the time of the request, or later.
pub(crate) struct Waiting {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) shapes: Shapes,
    pub(crate) calls: Vec<Callee>,
    /// How hot the method was when the feedback was taken.
    pub(crate) hotness: u64,
}

impl Waiting {
    /// Returns whether a method of this hotness has run considerably since the feedback was taken.
    /// Taking feedback costs some microseconds and is repeated a few times while a compile waits.
    fn is_stale(&self, hotness: u64) -> bool {
        hotness > self.hotness.saturating_add(self.hotness / 2)
    }
}

/// The data of a [`Method`].
#[derive(Default)]
pub(crate) struct History {
    past: Mutex<Past>,
    /// How hot the method was when a state last checked, according to its execution in the
    /// interpreter. States write this, and compile threads read it to choose their next job.
    hotness: AtomicU64,
    /// The hotness that exits from its newest code add to `hotness`.
    exits: AtomicU64,
    /// When a state last found it hot, and when code was last generated for it, as numbers of
    /// events; 0 means never.
    requested: AtomicU64,
    compiled: AtomicU64,
}

#[derive(Default)]
struct Past {
    known: Option<Arc<Known>>,
    /// The input of the compile that was requested last, until a thread begins it.
    waiting: Option<Arc<Waiting>>,
    /// How often it was recompiled for new feedback, or to inline more functions.
    changes: u32,
    /// Whether it was in a module with others.
    grouped: bool,
    /// The instructions at which code has exited without new feedback: the method's own code, or
    /// code of functions that it was inlined in.
    failed: BTreeSet<u32>,
    /// When exits from its code last made a state check it, or when the code was compiled.
    exited: Option<Instant>,
}

impl History {
    /// Returns the history of a method.
    pub(crate) fn of(method: &Method) -> &History {
        method.data().downcast_ref().expect("every method has one")
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        lock(&self.past)
    }

    /// Records that a state has found the method hot, and how hot it is.
    pub(crate) fn request(&self, hotness: u64) {
        self.requested.store(EVENTS.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        self.hotness.fetch_max(hotness, Ordering::Relaxed);
    }

    /// Returns whether no state has found this method, the OSR entry of a loop, hot since code was
    /// generated for `function`, which contains the loop: earlier calls have left the loop, and
    /// later ones run the function's code.
    pub(crate) fn is_outrun_by(&self, function: &History) -> bool {
        let compiled = function.compiled.load(Ordering::Relaxed);
        self.requested.load(Ordering::Relaxed) < compiled
    }

    /// Records that exits from its code have made the method hotter.
    pub(crate) fn add_exits(&self, hotness: u64) {
        self.exits.fetch_add(hotness, Ordering::Relaxed);
    }

    /// Records the number of exits from its code since the last call of this function, or since the
    /// code was compiled.
    pub(crate) fn note_exits(&self, exits: u32) -> Pace {
        let now = Instant::now();
        let Some(before) = self.past().exited.replace(now) else { return Pace::Moderate };
        match now - before {
            time if exits >= FEW_EXITS && time < BETWEEN_EXITS * exits => Pace::Dense,
            time if time > SELDOM * exits => Pace::Sparse,
            _ => Pace::Moderate,
        }
    }

    /// Returns how hot the method was when a state last checked, including its exits.
    pub(crate) fn hotness(&self) -> u64 {
        let exits = self.exits.load(Ordering::Relaxed);
        self.hotness.load(Ordering::Relaxed).saturating_add(exits)
    }

    /// Returns the input of its newest version.
    pub(crate) fn known(&self) -> Option<Arc<Known>> {
        self.past().known.clone()
    }

    /// Records a compile. `grouped` says whether others are in the same module.
    pub(crate) fn note(&self, known: Known, grouped: bool) {
        // The exits of the previous code no longer count.
        self.exits.store(0, Ordering::Relaxed);
        self.compiled.store(EVENTS.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut past = self.past();
        past.exited = Some(Instant::now());
        past.grouped |= grouped;
        let before = past.known.replace(Arc::new(known));
        drop(past);
        drop(before);
    }

    /// Records a request for a compile.
    pub(crate) fn wait(&self, waiting: Waiting) {
        let before = self.past().waiting.replace(Arc::new(waiting));
        drop(before);
    }

    /// Returns the input of the waiting compile if the method has run considerably since the
    /// feedback was taken, and the compile is not for general code.
    pub(crate) fn stale(&self) -> Option<Arc<Waiting>> {
        let hotness = self.hotness();
        let past = self.past();
        past.waiting.clone().filter(|w| w.is_stale(hotness) && !w.snapshot.general)
    }

    /// Replaces the input of the waiting compile, unless the compile has begun, or another state
    /// has replaced the input.
    pub(crate) fn refresh(&self, before: &Arc<Waiting>, now: Waiting) {
        let mut now = Some(Arc::new(now));
        let mut past = self.past();
        if past.waiting.as_ref().is_some_and(|w| Arc::ptr_eq(w, before)) {
            std::mem::swap(&mut past.waiting, &mut now);
        }
        drop(past);
        drop(now);
    }

    /// Returns the input of a compile that begins now.
    pub(crate) fn begin(&self) -> Option<Arc<Waiting>> {
        self.past().waiting.take()
    }

    /// Returns whether it was ever in a module with other methods. Recompiling such a method
    /// retires the code of the others.
    pub(crate) fn was_grouped(&self) -> bool {
        self.past().grouped
    }

    /// Returns whether it is never to be recompiled for new feedback again.
    pub(crate) fn is_settled(&self) -> bool {
        self.past().changes >= MAX_CHANGES
    }

    /// Records that code has exited at an instruction without new feedback.
    pub(crate) fn fail(&self, pc: u32) {
        self.past().failed.insert(pc);
    }

    /// Returns the instructions at which code must not speculate.
    pub(crate) fn failed(&self) -> BTreeSet<u32> {
        self.past().failed.clone()
    }

    /// Records that code of the method must not speculate any more.
    pub(crate) fn settle(&self) {
        self.past().changes = MAX_CHANGES;
    }

    /// Returns whether the method may be recompiled to inline more functions.
    pub(super) fn may_inline_more(&self) -> bool {
        self.past().changes < MAX_BEFORE_INLINING
    }

    /// Records that the method is about to be recompiled for new feedback, or to inline more
    /// functions.
    pub(crate) fn change(&self) {
        self.past().changes += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_outrun_until_it_is_found_hot_again() {
        let chunk = perilune_bytecode::compile_source(b"return 1", b"=test", 0);
        let proto = chunk.unwrap_or_else(|_| panic!("it compiles"));
        let [function, own_loop] = [History::default(), History::default()];
        own_loop.request(2);
        function.request(1);
        assert!(!own_loop.is_outrun_by(&function), "it has no code");
        let known = Known {
            proto: Arc::downgrade(&proto),
            snapshot: Arc::new(Snapshot::before_run(&proto)),
            shapes: Arc::default(),
            entry: None,
            own_calls: Arc::default(),
        };
        function.note(known, false);
        assert!(own_loop.is_outrun_by(&function));
        own_loop.request(2);
        assert!(!own_loop.is_outrun_by(&function));
    }

    #[test]
    fn the_pace_of_exits_is_their_number_over_time() {
        let history = History::default();
        assert_eq!(history.note_exits(1 << 20), Pace::Moderate, "it is not known since when");
        assert_eq!(history.note_exits(FEW_EXITS - 1), Pace::Moderate);
        assert_eq!(history.note_exits(1 << 20), Pace::Dense);
        std::thread::sleep(2 * BETWEEN_EXITS * FEW_EXITS);
        assert_ne!(history.note_exits(FEW_EXITS), Pace::Dense);
        std::thread::sleep(2 * SELDOM);
        assert_eq!(history.note_exits(1), Pace::Sparse);
    }

    #[test]
    fn feedback_of_a_waiting_compile_is_replaced_until_it_begins() {
        let chunk = perilune_bytecode::compile_source(b"return 1", b"=test", 0);
        let proto = chunk.unwrap_or_else(|_| panic!("it compiles"));
        let history = History::default();
        let waiting = |hotness| Waiting {
            snapshot: Arc::new(Snapshot::before_run(&proto)),
            shapes: Arc::default(),
            calls: Vec::new(),
            hotness,
        };
        assert!(history.stale().is_none() && history.begin().is_none(), "nothing waits");
        history.request(512);
        history.wait(waiting(512));
        history.add_exits(256);
        assert!(history.stale().is_none(), "it has run little since");
        history.add_exits(1);
        let first = history.stale().expect("it has run by more than a half");
        history.refresh(&first, waiting(769));
        history.refresh(&first, waiting(0));
        assert!(history.stale().is_none(), "the second state comes late");
        history.add_exits(512);
        let second = history.stale().expect("it waits on");
        assert_eq!(second.hotness, 769);
        let begun = history.begin().expect("it begins with what is known then");
        assert!(Arc::ptr_eq(&begun, &second));
        history.refresh(&second, waiting(0));
        assert!(history.begin().is_none() && history.stale().is_none(), "it has begun");

        let mut general = waiting(0);
        Arc::make_mut(&mut general.snapshot).generalize(&proto);
        history.wait(general);
        assert!(history.stale().is_none(), "it speculates on nothing");
    }
}
