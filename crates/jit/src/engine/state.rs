//! The compiler's data in a state: requests, announcements, transitions between tiers.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::Duration;

use perilune_bytecode::{Instr, Op, Proto};
use perilune_code::{Cause, CodeId, CodeSpace, Method, Mutator, Phase, Refusal};
use perilune_runtime::chaos::Chaos;
use perilune_runtime::engine::Shape;
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::Instance;
use perilune_runtime::state::{State, Threshold, Tier, poll};
use perilune_runtime::tier::MISSES_PER_EXIT;

use super::attached::{Attached, label};
use super::jit::Jit;
use super::native_stack::with_room;
use super::reentry::Reentry;
use super::walk::{StateHooks, walk};
use crate::analysis::complete::{Invocation, fixed_results, is_complete};
use crate::analysis::early::EarlyPart;
use crate::feedback::arguments::{Passed, calls_of, passed_at};
use crate::feedback::callees::{Called, callees, callees_of, handlers_of};
use crate::feedback::inlinee::{InlineeSeen, Position, refusal};
use crate::feedback::snapshot::{Shapes, Snapshot};
use crate::pipeline::job::{Job, Unit};
use crate::policy::history::{History, Pace, Waiting};
use crate::policy::hotness::{
    cost_of_exit, estimated_size, hotness, hotness_of_exits, is_quick, is_too_large,
};
use crate::policy::recompile::Avoid;
use crate::testing::fault::{Stage, guarded};
use crate::testing::mix::Fixed;

/// The compiler's data in a state.
pub struct JitState {
    pub(super) jit: Arc<Jit>,
    pub(super) mutator: Mutator,
    /// The number of entries by the host that have not returned yet.
    entered: u32,
    reentry: Reentry,
}

/// The remaining budget for inlining.
#[derive(Clone, Copy)]
struct Allowance {
    /// The number of instructions.
    any: usize,
    /// The number of instructions of small functions.
    small: usize,
    /// The number of functions that may still be considered. Functions that turn out not to be
    /// inlined return their instructions to the budget, so the numbers of instructions do not limit
    /// the duration of the search.
    looks: usize,
}

impl Allowance {
    /// Returns to the budget what was taken since `before`.
    fn give_back(&mut self, before: Allowance) {
        *self = Allowance { looks: self.looks, ..before };
    }

    fn of(self, is_small: bool) -> usize {
        if is_small { self.small } else { self.any }
    }

    fn of_mut(&mut self, is_small: bool) -> &mut usize {
        if is_small { &mut self.small } else { &mut self.any }
    }
}

impl Jit {
    /// Attaches the compiler to a state.
    ///
    /// # Safety
    /// `st` is alive, and drops its tier before anything that the collector or a walk of its stacks
    /// reads.
    pub unsafe fn attach(self: &Arc<Jit>, st: *mut State) {
        let mutator = self.space.register(Box::new(StateHooks { state: st }));
        (*st).counts = self.options.counts;
        (*st).entry_threshold = Threshold::at(self.options.threshold);
        (*st).stitch_threshold = self.options.stitch_threshold;
        // Only handlers run stitched code.
        (*st).portable &= self.options.stitch_threshold == u32::MAX;
        (*st).loop_threshold = Threshold::at(self.options.loop_threshold);
        (*st).miss_step = self.options.miss_threshold.max(1);
        (*st).tier = Some(Box::new(JitState {
            jit: self.clone(),
            mutator,
            entered: 0,
            reentry: Reentry::default(),
        }));
    }
}

impl JitState {
    pub(crate) fn attached(&self, proto: &Proto) -> Arc<Attached> {
        self.jit.attached(proto)
    }

    pub(crate) fn space(&self) -> &Arc<CodeSpace> {
        &self.jit.space
    }

    /// Returns whether hot methods are compiled by the optimizing compiler.
    pub(crate) fn optimizes(&self) -> bool {
        self.jit.options.optimize
    }

    /// Announces the versions that the state's frames are in.
    ///
    /// # Safety
    /// A safepoint of the state.
    pub(crate) unsafe fn announce_frames(&mut self, st: *mut State) {
        // SAFETY: a safepoint of the state.
        self.mutator.announce(|pins| unsafe { walk(st, pins) });
    }

    /// Counts the time that the interpreter has taken for a hot function.
    ///
    /// # Safety
    /// `inst` is a live instance of this state.
    unsafe fn count_time(&self, attached: &Attached, inst: *mut Instance) {
        let more = attached.raise_hotness(hotness(inst, &attached.code_loops, None));
        let size = (&(*inst).proto).code.len() as u64;
        self.jit.workers.compiler().budget.add_interpreted(more.saturating_mul(size));
    }

    /// Requests the first compile of a method.
    unsafe fn request(
        &mut self,
        st: *mut State,
        attached: &Attached,
        method: &Arc<Method>,
        inst: *mut Instance,
        entry: Option<u32>,
    ) {
        self.jit.space.reset_after_fork();
        if !self.jit.options.allows(&(*inst).proto, Fixed::Optimized) {
            return;
        }
        // The current hotness decides when a waiting job is taken. Code of a loop is for the call
        // that is in it, and code of the function for later ones.
        let hotness = hotness(inst, &attached.code_loops, entry);
        let of_call = hotness / u64::from((*inst).entries.max(1));
        if entry.is_some() && self.is_brief(attached, inst, of_call) {
            return;
        }
        let hotness = if entry.is_some() { of_call } else { hotness - of_call };
        History::of(method).request(hotness);
        if method.phase() != Phase::Interpreted {
            return self.refresh(st, method, inst, entry);
        }
        match self.feedback(st, inst, None) {
            Ok((mut snapshot, shapes)) => {
                if entry.is_some() {
                    snapshot.take_tags((*st).base, inst);
                }
                self.compile(st, method, inst, entry, snapshot, shapes);
            }
            Err(refusal) => {
                self.jit.observer().refused(|| label(&(*inst).proto, entry), &refusal);
                method.refuse(refusal);
            }
        }
    }

    /// Returns whether calls of a function run a loop so briefly that they end long before code for
    /// the loop would be ready, so that the function should be compiled first. `of_call` is how hot
    /// the loop gets in one call.
    unsafe fn is_brief(&self, attached: &Attached, inst: *mut Instance, of_call: u64) -> bool {
        /// The part of the threshold of loops that a call must reach.
        const PART: u32 = 64;
        (*inst).entries > 1
            && of_call < u64::from(self.jit.options.loop_threshold / PART)
            && matches!(attached.method.phase(), Phase::Interpreted | Phase::Queued)
    }

    /// Adds current feedback to that of the waiting compile of a method, if the method has run
    /// considerably since. With `at_entry`, the top frame is about to enter the code of the loop at
    /// this pc.
    ///
    /// # Safety
    /// `inst` is a live instance of the state `st`.
    unsafe fn refresh(
        &self,
        st: *mut State,
        method: &Method,
        inst: *mut Instance,
        at_entry: Option<u32>,
    ) {
        let history = History::of(method);
        let Some(waiting) = history.stale() else { return };
        let known = Some((&*waiting.snapshot, &*waiting.shapes));
        let Ok((mut snapshot, shapes)) = self.feedback(st, inst, known) else { return };
        if at_entry.is_some() {
            snapshot.take_tags((*st).base, inst);
            snapshot.keep_entry_tags(&waiting.snapshot);
        }
        let (calls, hotness) = (callees(inst, history.was_grouped()), history.hotness());
        history.refresh(&waiting, Waiting { snapshot: Arc::new(snapshot), shapes, calls, hotness });
    }

    /// Returns the feedback of an instance, merged with `before`, and the shapes in it.
    unsafe fn feedback(
        &self,
        st: *mut State,
        inst: *mut Instance,
        known: Option<(&Snapshot, &[Arc<Shape>])>,
    ) -> Result<(Snapshot, Shapes), Refusal> {
        let observer = self.jit.observer();
        guarded(|| {
            observer.stage(Stage::Snapshot);
            // SAFETY: the caller's promise.
            unsafe {
                let mut snapshot = self.take(st, inst);
                if let Some((known, _)) = known {
                    snapshot.merge(known, &(*inst).proto);
                }
                let shapes = snapshot.hold_shapes(st, known.map_or(&[], |(_, shapes)| shapes));
                (snapshot, shapes)
            }
        })
    }

    /// Returns the feedback of an instance, with that of functions that may be inlined.
    ///
    /// # Safety
    /// `inst` is a live instance of `st`, which is this state.
    unsafe fn take(&self, st: *mut State, inst: *mut Instance) -> Snapshot {
        /// The maximum number of instructions that are inlined in a function, including nested
        /// inlining. Small functions have a second allowance of the same size.
        const MAX_INLINED: usize = 300;
        /// The maximum number of functions that are considered.
        const MAX_LOOKS: usize = 150;
        let mut snapshot = self.seen_in(st, inst);
        // Instructions are counted at calls, so nothing is inlined in code that counts
        // instructions.
        if self.jit.options.inline && !self.jit.options.counts {
            let mut left = Allowance { any: MAX_INLINED, small: MAX_INLINED, looks: MAX_LOOKS };
            let passed = Passed::new();
            self.find_inlinees(st, &mut snapshot, (&mut vec![inst], &passed), &mut left);
        }
        snapshot
    }

    /// Returns the feedback of an instance, without that of functions that may be inlined.
    ///
    /// # Safety
    /// As for [`JitState::take`].
    unsafe fn seen_in(&self, st: *mut State, inst: *mut Instance) -> Snapshot {
        let mut snapshot = Snapshot::take(st, inst);
        snapshot.prunes = self.jit.options.prune;
        snapshot.failed = History::of(&self.jit.attached(&(*inst).proto).method).failed();
        snapshot
    }

    /// Adds the callees that may be inlined to the feedback of a function, which is the last of a
    /// `chain` of functions inlined in each other, and is passed these closures. Their instructions
    /// are subtracted from `left`.
    ///
    /// # Safety
    /// The last of the chain is a live instance of `st`, which is this state.
    unsafe fn find_inlinees(
        &self,
        st: *mut State,
        snapshot: &mut Snapshot,
        (chain, params): (&mut Vec<*mut Instance>, &Passed),
        left: &mut Allowance,
    ) {
        /// The maximal depth of inlining.
        const MAX_DEPTH: usize = 7;
        /// The maximum number of instructions of a small function. Its code is hardly larger than a
        /// call of it, so small functions have a separate allowance.
        const SMALL: usize = 10;
        let inst = chain[chain.len() - 1];
        let caller = self.jit.attached(&(*inst).proto);
        let calls = callees_of(inst).into_iter();
        let mut calls: Vec<(u32, *mut Instance, BTreeSet<u32>)> = calls
            .flat_map(|Called { pc, callees }| {
                callees.into_iter().map(move |(callee, shapes)| (pc, callee, shapes))
            })
            .collect();
        for (pc, closure) in calls_of(inst, params) {
            if !calls.iter().any(|&(known, ..)| known == pc) {
                calls.push((pc, closure, BTreeSet::new()));
            }
        }
        for (pc, handler, callee) in handlers_of(inst) {
            snapshot.handlers.insert(pc, handler);
            calls.push((pc, callee, BTreeSet::new()));
        }
        // the most frequent callees come first, as not all may be inlined
        calls.sort_by_key(|&(_, callee, _)| Reverse((*callee).entries));
        for (pc, callee, shapes) in calls {
            let is_tail = (&(*inst).proto).code[pc as usize].op() == Op::TailCall;
            if is_tail && chain.len() == 1 {
                // an inlined function cannot replace the frame of the code itself
                continue;
            }
            let proto = &(*callee).proto;
            // how often it was called in lower tiers, at this call among others
            let called = (*callee).entries;
            // Calls of optimized code are not counted, so its function may be called more often.
            let is_hot = called >= self.jit.options.threshold.min(16)
                && (called >= (*inst).entries / 4 || self.is_optimized(proto));
            let call = (&(*inst).proto).code[pc as usize];
            let too_many = |length: usize| left.looks == 0 || length > left.of(length <= SMALL);
            // A function that calls itself is inlined in itself once if it has early returns. The
            // calls in that copy have the early returns only.
            let times = chain.iter().filter(|&&other| other == callee).count();
            let mut early = None;
            let may_return_early = times > 0 && shapes.is_empty() && call.op() == Op::Call;
            if may_return_early && has_few_results(call, proto) {
                let inner = self.seen_in(st, callee);
                early = EarlyPart::of(proto, &inner).map(|part| (part.length, inner));
            }
            let refused = refusal(proto, caller.code_loops.contain(pc));
            let is_whole = match times {
                0 => true,
                1 => early.is_some() && refused.is_none() && !too_many(proto.code.len()),
                _ => false,
            };
            let early = early.filter(|_| !is_whole);
            let length = early.as_ref().map_or(proto.code.len(), |&(length, _)| length);
            let refusal = if chain.len() > MAX_DEPTH {
                Some("too many functions are inlined in each other")
            } else if !self.jit.options.allows(proto, Fixed::Optimized) {
                Some("the function stays in a lower tier")
            } else if !is_hot {
                Some("the function is called too rarely")
            } else if !is_whole && early.is_none() {
                Some("the function calls itself")
            } else if let Some(reason) = refused.filter(|_| is_whole) {
                Some(reason)
            } else {
                too_many(length).then_some("too many instructions are inlined before")
            };
            if let Some(reason) = refusal {
                snapshot.not_inlined.note(pc, reason);
                continue;
            }
            let before = *left;
            *left.of_mut(length <= SMALL) -= length;
            left.looks -= 1;
            // the code compares its slot
            let method = self.jit.attached(proto).method.clone();
            (*callee).slot = slot_of(&method);
            if let Some((_, inner)) = early {
                let (method, proto) = (Arc::downgrade(&method), Arc::downgrade(proto));
                let inner = Arc::new(inner);
                let seen = InlineeSeen { method, proto, snapshot: inner, shapes, is_early: true };
                snapshot.inlinees.entry(pc).or_default().push(seen);
                continue;
            }
            let mut inner = self.seen_in(st, callee);
            let passed = match (&(*inst).proto).code[pc as usize].op() {
                Op::Call | Op::TailCall => {
                    passed_at(inst, pc as usize, params, snapshot.calls_object(pc).into())
                }
                _ => Passed::new(),
            };
            chain.push(callee);
            self.find_inlinees(st, &mut inner, (chain, &passed), left);
            chain.pop();
            // numbers of arguments that are not known yet are found when the code is built
            let caller = Invocation { proto: &(*inst).proto, snapshot, passed: Some(0) };
            let passed = caller.arguments_at(pc).or(Some(0));
            let called = Invocation { proto, snapshot: &inner, passed };
            if call.op() == Op::Call && call.c() == 0 && called.results().is_none() {
                left.give_back(before);
                snapshot.not_inlined.note(pc, "the number of results varies");
                continue;
            }
            let (method, proto) = (Arc::downgrade(&method), Arc::downgrade(proto));
            let snapshot_of = Arc::new(inner);
            let seen =
                InlineeSeen { method, proto, snapshot: snapshot_of, shapes, is_early: false };
            if !is_complete(&seen, passed) {
                left.give_back(before);
                let reason = "the function ends with a tail call that is not inlined";
                snapshot.not_inlined.note(pc, reason);
                continue;
            }
            snapshot.inlinees.entry(pc).or_default().push(seen);
        }
        let all: Vec<u32> = snapshot.inlinees.keys().copied().collect();
        for pc in all {
            let caller = Invocation { proto: &(*inst).proto, snapshot, passed: Some(0) };
            if caller.arguments_at(pc).is_none() {
                snapshot.inlinees.remove(&pc);
                snapshot.not_inlined.note(pc, "the argument count varies");
            }
        }
    }

    /// Recompiles the optimized code that has called the function on top, which is hot, if more
    /// functions would be inlined in it now: they were called too rarely when it was compiled.
    ///
    /// # Safety
    /// The frame on top has just been entered.
    unsafe fn reconsider_caller(&mut self, st: *mut State) {
        let Some(caller) = Frame((*st).base).caller().filter(|f| f.word().is_machine()) else {
            return;
        };
        let code = caller.word().code();
        let Some(method) = self.method_of(code) else { return };
        let history = History::of(&method);
        let Some(known) = history.to_inline_more(&method) else { return };
        let Some(proto) = known.proto.upgrade() else { return };
        let Some((frame, _)) = outermost(caller, code, &proto) else { return };
        let inst = (*frame.callee().as_function()).instance;
        let before = Some((&*known.snapshot, &*known.shapes));
        let Ok((now, shapes)) = self.feedback(st, inst, before) else { return };
        if now.inlines_more_than(&known.snapshot) {
            history.change();
            self.compile(st, &method, inst, known.entry, now, shapes);
        }
    }

    /// Returns the method of a version, unless the version is retired: frames leave that soon.
    fn method_of(&self, code: u32) -> Option<Arc<Method>> {
        let version = self.jit.space.version(CodeId::from_raw(code))?;
        version.method().filter(|_| !version.is_retired())
    }

    /// Returns whether a function has optimized code.
    fn is_optimized(&self, proto: &Proto) -> bool {
        let phase = self.jit.attached(proto).method.phase();
        matches!(phase, Phase::Compiled | Phase::Recompiling)
    }

    /// Compiles a method, on this thread or another.
    ///
    /// # Safety
    /// `inst` is a live instance of the state `st`.
    pub(crate) unsafe fn compile(
        &mut self,
        st: *mut State,
        method: &Arc<Method>,
        inst: *mut Instance,
        entry: Option<u32>,
        mut snapshot: Snapshot,
        shapes: Shapes,
    ) {
        let Ok(ticket) = method.begin() else { return };
        let proto = (*inst).proto.clone();
        if is_too_large(&proto) {
            self.jit.observer().refused(|| label(&proto, entry), &Refusal::TooLarge);
            return ticket.refuse(Refusal::TooLarge);
        }
        self.jit.observer().metrics.note_caches(inst);
        let history = History::of(method);
        if history.is_settled() {
            snapshot.generalize(&proto);
        }
        let snapshot = Arc::new(snapshot);
        let calls = callees(inst, history.was_grouped());
        history.wait(Waiting {
            snapshot: snapshot.clone(),
            shapes: shapes.clone(),
            calls: calls.clone(),
            hotness: history.hotness(),
        });
        let is_first = method.phase() == Phase::Queued;
        let function = entry.filter(|_| is_first).map(|_| self.jit.attached(&proto));
        let job = Job::of(Unit {
            ticket: Some(ticket),
            method: method.clone(),
            proto: Arc::downgrade(&proto),
            size: estimated_size(&proto),
            snapshot,
            shapes,
            entry,
            function: function.map(|function| function.method.clone()),
            key: if entry.is_none() { inst.addr() } else { 0 },
            calls,
        });
        let jit = &self.jit;
        if jit.options.sync && is_quick(&proto) {
            self.mutator.blocking(|| with_room(|| jit.workers.run_here(job)));
        } else if jit.options.sync {
            jit.workers.submit(0, job);
            self.mutator.blocking(|| wait_for(method, &(*st).poll));
        } else {
            jit.workers.submit(0, job);
        }
    }
}

/// Returns the frame of the function `proto` that runs the version `code`, and the positions of the
/// frames from there to `frame`. `frame` runs the same version, perhaps as the frame of an inlined
/// function.
///
/// # Safety
/// `frame` is on the stack of this thread's state.
unsafe fn outermost(
    mut frame: Frame,
    code: u32,
    proto: &Arc<Proto>,
) -> Option<(Frame, Vec<Position>)> {
    let mut path = Vec::new();
    let mut pc = frame.word().pc();
    loop {
        if frame.word().code() != code {
            return None;
        }
        // only frames of Lua functions run code
        let inst = (*frame.callee().as_function()).instance;
        path.push(Position { proto: Arc::as_ptr(&(*inst).proto), pc });
        if Arc::ptr_eq(&(*inst).proto, proto) {
            path.reverse();
            return Some((frame, path));
        }
        frame = frame.caller()?;
        // the call, after which it continues
        pc = frame.word().pc().checked_sub(1)?;
    }
}

/// Waits until a method is compiled or the script has to stop. In that case it continues in the
/// interpreter up to its next safepoint.
fn wait_for(method: &Method, poll_word: &AtomicU32) {
    const A_WHILE: Duration = Duration::from_micros(50);
    while matches!(method.phase(), Phase::Queued | Phase::Recompiling)
        && poll_word.load(Ordering::Relaxed) & poll::INTERRUPT == 0
    {
        std::thread::sleep(A_WHILE);
    }
}

/// Returns whether CALL always has the same number of results, one at most, if it calls this
/// function, whatever the function calls in turn.
fn has_few_results(call: Instr, proto: &Proto) -> bool {
    let results = match call.c() {
        0 => fixed_results(proto),
        c => Some(c - 1),
    };
    results.is_some_and(|results| results <= 1)
}

/// Returns the slot of a method in the form that instances keep. The pointer is the first field of
/// a slot, and the slot the first of a method; the proto keeps the method alive.
fn slot_of(method: &Method) -> *const AtomicPtr<u8> {
    std::ptr::from_ref(method.slot()).cast()
}

impl Tier for JitState {
    fn slot(&mut self, proto: &Arc<Proto>) -> Option<*const AtomicPtr<u8>> {
        self.jit.name_inner(proto);
        // most functions never become hot, and need no method
        proto.method.get()?;
        Some(slot_of(&self.jit.attached(proto).method))
    }

    unsafe fn hot_entry(&mut self, st: *mut State, inst: *mut Instance) {
        if (*st).chaos.is_some() {
            (*st).request(poll::CHAOS);
        }
        // Without memory for more code, only hot functions request stitched code.
        if (*inst).stitched.is_null() && (*inst).entries >= self.stitch_threshold() {
            self.link(st, inst);
        }
        if !self.jit.options.optimize {
            return;
        }
        let attached = self.jit.attached(&(*inst).proto);
        self.count_time(&attached, inst);
        (*inst).slot = slot_of(&attached.method);
        self.request(st, &attached, &attached.method, inst, None);
        self.reconsider_caller(st);
    }

    unsafe fn hot_loop(&mut self, st: *mut State, inst: *mut Instance, pc: u32) -> *const u8 {
        let attached = self.jit.attached(&(*inst).proto);
        if (*inst).stitched.is_null() {
            let threshold = self.stitch_threshold();
            // with little code, one hot loop is enough
            let is_hot = threshold == self.jit.options.stitch_threshold
                || hotness(inst, &attached.code_loops, None) >= u64::from(threshold);
            if is_hot {
                self.link(st, inst);
            }
        }
        if !self.jit.options.optimize {
            return null();
        }
        if self.reentry.is_early(&mut (*st).loop_threshold) {
            let entry = attached.code_of_loop(pc).filter(|&entry| entry != self.jit.stub());
            if entry.is_some() {
                self.reentry.entered(&mut (*st).loop_threshold);
            }
            return entry.unwrap_or(null());
        }
        self.count_time(&attached, inst);
        let method = attached.loop_at(pc, || self.jit.new_method());
        self.request(st, &attached, &method, inst, Some(pc));
        // The code of the loop runs only until this call ends. The next call needs the code of the
        // function, however rarely it is entered.
        if (*inst).entries > 1 {
            (*inst).slot = slot_of(&attached.method);
            self.request(st, &attached, &attached.method, inst, None);
        }
        let entry = method.slot().target();
        if entry == self.jit.stub() {
            return null();
        }
        self.reentry.entered(&mut (*st).loop_threshold);
        entry
    }

    unsafe fn stitch(&mut self, st: *mut State, inst: *mut Instance) {
        self.link(st, inst);
    }

    unsafe fn announce(&mut self, st: *mut State) {
        self.announce_frames(st);
    }

    unsafe fn chaos(&mut self, st: *mut State, chaos: &mut Chaos) {
        self.disturb(st, chaos);
    }

    fn is_retired(&mut self, code: u32) -> bool {
        self.jit.space.with_version(CodeId::from_raw(code), |v| v.is_retired()).unwrap_or(false)
    }

    unsafe fn exited(&mut self, st: *mut State) {
        self.reentry.exited(&mut (*st).loop_threshold);
        let frame = Frame((*st).base);
        let proto = &(*(*frame.callee().as_function()).instance).proto;
        self.jit.workers.compiler().budget.add_exit(cost_of_exit(proto));
        let Some(exits) = &self.jit.observer().exits else { return };
        exits.count(&label(proto, None), proto, frame.word().pc());
    }

    unsafe fn missed(&mut self, st: *mut State, code: u32, misses: u32, left: bool) {
        let Some(method) = self.method_of(code) else { return };
        let history = History::of(&method);
        let Some(known) = history.known() else { return };
        let Some(proto) = known.proto.upgrade() else { return };
        let mut pace = Pace::Moderate;
        if left {
            let exits = (misses / MISSES_PER_EXIT).max(1);
            // a waiting compile is taken sooner
            history.add_exits(hotness_of_exits(&proto, exits.into()));
            pace = history.note_exits(exits);
        }
        let Some((frame, path)) = outermost(Frame((*st).base), code, &proto) else { return };
        let inst = (*frame.callee().as_function()).instance;
        // a failed OSR entry: registers have other tags than before
        let is_refused = path.len() == 1 && known.entry == Some(path[0].pc);
        if matches!(method.phase(), Phase::Queued | Phase::Recompiling) {
            if pace == Pace::Dense {
                // the lower tiers are faster until then
                drop(self.jit.space.invalidate(&method, Cause::Exits));
            }
            return self.refresh(st, &method, inst, known.entry.filter(|_| is_refused));
        }
        // SAFETY: the caller's promise.
        let now = || unsafe {
            let mut now = self.take(st, inst);
            if is_refused {
                now.take_tags(frame.0, inst);
            }
            now
        };
        let (known, avoid) = match history.to_recompile(&method, &(*inst).proto, now) {
            Some(known) => (known, None),
            // Rare exits do not outweigh what the code gains by speculating.
            None if !left || pace == Pace::Sparse => return,
            None => match history.to_avoid(&method, &path) {
                Some((known, avoid)) => (known, Some(avoid)),
                None => return,
            },
        };
        let before = Some((&*known.snapshot, &*known.shapes));
        let Ok((mut now, shapes)) = self.feedback(st, inst, before) else { return };
        if is_refused {
            now.take_tags(frame.0, inst);
            now.keep_entry_tags(&known.snapshot);
        }
        match avoid {
            None => history.change(),
            Some(Avoid::At(place)) => {
                now.fail(&place);
                if place.len() == path.len() {
                    let top = Frame((*st).base);
                    let proto = &(*(*top.callee().as_function()).instance).proto;
                    History::of(&self.jit.attached(proto).method).fail(top.word().pc());
                }
            }
            Some(Avoid::All) => history.settle(),
        }
        self.compile(st, &method, inst, known.entry, now, shapes);
    }

    fn enter(&mut self) {
        if self.entered == 0 {
            self.mutator.enter();
        }
        self.entered += 1;
    }

    fn leave(&mut self) {
        self.entered -= 1;
        if self.entered == 0 {
            self.mutator.leave();
        }
    }

    fn block(&mut self) {
        if self.entered > 0 {
            self.mutator.leave();
        }
    }

    fn unblock(&mut self) {
        if self.entered > 0 {
            self.mutator.enter();
        }
    }
}
