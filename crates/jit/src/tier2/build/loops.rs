//! Builds innermost loops, which may keep facts about memory and have their first iteration peeled.
//!
//! Facts that the first iteration establishes by loads or guards hold in all others if nothing in
//! the loop changes them: types of registers that the loop does not write, shapes, fields in slots
//! to which it does not store, methods, and the headers of arrays (which [`crate::codegen`]
//! tracks). A variable that the first iteration changes to a number of one kind, as `local sum = 0`
//! in a sum of floats, has this kind in all others.
//!
//! A loop that preserves such facts is *quiet*: it runs only its own operations, and its polls
//! deoptimize the frame if other code may have changed memory. Whether a loop is quiet is known
//! only after it has been built. The builder assumes that loops that look quiet are quiet, and
//! builds the function again if a loop was not, or if it stores to more memory than expected. It
//! also builds the function again if a later iteration assigns a number of a different kind to a
//! variable than the first one did.

use std::collections::{HashMap, HashSet};

use perilune_bytecode::effects::effects;
use perilune_bytecode::feedback::access;
use perilune_bytecode::{Op as Bytecode, Proto};
use perilune_runtime::value::Tag;

use super::extra::is_built;
use super::order::Loop;
use super::{Builder, Calls, Candidate, Incoming, Source, Start};
use crate::analysis::constructor::{MAX_FIELDS, items};
use crate::entity::{Pc, Reg};
use crate::feedback::snapshot::{CalleeSeen, FieldPath, Snapshot};
use crate::testing::fault::Fault;
use crate::tier2::ir::{Block, BlockData, End, Place, Target, Type, Value};
use crate::tier2::known::Known;

/// The operations built so far that change facts about memory.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Noise {
    /// Number of operations that may run other code.
    pub(super) calls: u32,
    /// Number of calls after which the code has reestablished what other paths know.
    pub(super) healed: u32,
    /// Number of stores to fields, metatables, and variables that closures share.
    pub(super) stores: u32,
    /// The memory to which the quiet loop that is being built stores.
    stored: Stores,
}

impl Noise {
    /// Returns the number of operations after which nothing is known.
    pub(super) fn unhealed(self) -> u32 {
        self.calls - self.healed
    }

    /// Counts a store to a field. `is_gained` specifies whether tables gain the field.
    pub(super) fn add_field(&mut self, slot: u32, is_gained: bool) {
        self.stores += 1;
        self.stored.add_field(slot, is_gained);
    }

    /// Counts a store to a metatable, or to a field that is not known.
    pub(super) fn add_any(&mut self) {
        self.stores += 1;
        self.stored.any = true;
    }

    /// Counts a store to an element that may be a known table.
    pub(super) fn add_row(&mut self) {
        self.stores += 1;
        self.stored.rows = true;
    }

    /// Counts a store to a variable that closures share.
    pub(super) fn add_upvalue(&mut self) {
        self.stores += 1;
        self.stored.upvalues = true;
    }
}

/// What is known about loops that were built before.
#[derive(Default)]
pub(crate) struct Loops {
    loudness: HashMap<Place, Loudness>,
    /// Variables that hold integers after some iterations and floats after others.
    mixed: HashSet<(Place, Variable)>,
    /// Loops that gain nothing from preserving what is known at their entry.
    kept_in_vain: HashSet<Place>,
}

impl Loops {
    /// Records that a loop is not quiet.
    pub(crate) fn note_noisy(&mut self, place: Place) {
        self.loudness.insert(place, Loudness::Noisy);
    }

    /// Records that a loop gains nothing from preserving what is known at its entry.
    pub(super) fn note_kept_in_vain(&mut self, place: Place) {
        self.kept_in_vain.insert(place);
    }

    /// Returns whether [`Loops::note_kept_in_vain`] has recorded a loop.
    pub(super) fn is_kept_in_vain(&self, place: Place) -> bool {
        self.kept_in_vain.contains(&place)
    }

    fn is_empty(&self) -> bool {
        self.loudness.is_empty() && self.mixed.is_empty() && self.kept_in_vain.is_empty()
    }

    /// Adds everything that `others` contains.
    fn extend(&mut self, others: Loops) {
        self.loudness.extend(others.loudness);
        self.mixed.extend(others.mixed);
        self.kept_in_vain.extend(others.kept_in_vain);
    }
}

/// A variable of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Variable {
    Register(Reg),
    /// Any variable that closures share.
    Shared,
}

/// How a loop that looks quiet is built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loudness {
    /// As a quiet loop that stores to this memory in addition to what the bytecode shows.
    Quiet(Stores),
    /// As an ordinary loop.
    Noisy,
}

/// The memory to which a quiet loop stores.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stores {
    /// The slots of fields, as bits. The last bit stands for all slots from that number on.
    slots: u64,
    /// Whether tables gain fields.
    shapes: bool,
    /// Whether there are stores to elements that may be known tables.
    rows: bool,
    /// Whether there are stores to anything else in tables, such as metatables.
    any: bool,
    /// Whether there are stores to variables that closures share.
    upvalues: bool,
}

impl Stores {
    /// Returns the union of two sets.
    fn and(self, other: Stores) -> Stores {
        Stores {
            slots: self.slots | other.slots,
            shapes: self.shapes || other.shapes,
            rows: self.rows || other.rows,
            any: self.any || other.any,
            upvalues: self.upvalues || other.upvalues,
        }
    }

    fn bit(slot: u32) -> u64 {
        1 << slot.min(u64::BITS - 1)
    }

    fn add_field(&mut self, slot: u32, is_gained: bool) {
        self.slots |= Stores::bit(slot);
        self.shapes |= is_gained;
    }

    /// Adds the fields to which, according to feedback, the instruction at `pc` stores.
    fn add_fields_at(&mut self, snapshot: &Snapshot, pc: Pc) {
        let field = snapshot.field(pc);
        self.any |= field.dictionaries || field.paths.is_empty();
        for path in &field.paths {
            match *path {
                FieldPath::Own { slot, .. } => self.add_field(slot.number, false),
                FieldPath::Gain { slot, .. } => self.add_field(slot.number, true),
                _ => self.any = true,
            }
        }
    }

    /// Returns whether all tables keep their shapes and metatables.
    fn keep_shapes(self) -> bool {
        !self.any && !self.shapes
    }

    /// Returns whether the loop stores to variables that closures share.
    pub(super) fn has_upvalues(self) -> bool {
        self.upvalues
    }

    /// Discards the facts that the loop may change.
    pub(super) fn forget(self, known: &mut Known) {
        if self.any {
            known.forget_tables();
        }
        if self.shapes {
            known.forget_all_shapes();
        }
        match self.rows {
            true => known.rows.forget(),
            // stores of the loop are checked against elements that are known to be tables before it
            false => known.rows.forget_others(),
        }
        known.forget_fields(|slot| self.slots & Stores::bit(slot) != 0);
        if self.upvalues {
            known.forget_upvalues();
        }
    }
}

/// An iteration that is being peeled.
pub(super) struct Peel {
    head: Pc,
    /// The head of the loop that follows the iteration.
    next: Block,
    incoming: Vec<Incoming>,
}

/// The most instructions of a loop whose first iteration is peeled, including inlined functions.
const MAX_PEELED: usize = 60;

impl Builder<'_> {
    /// Builds a loop.
    pub(super) fn build_loop(&mut self, head: Pc) {
        let l = self.order.loops[&head].clone();
        let place = self.place(head);
        let known = self.loops.loudness.get(&place).copied();
        let look = match known {
            Some(Loudness::Noisy) => None,
            _ if l.is_innermost => self.look_at(&l),
            _ => None,
        };
        let Some((mut stores, length)) = look else {
            self.hoist(head, &l, false);
            return self.build_block(head);
        };
        if let Some(Loudness::Quiet(more)) = known {
            stores = stores.and(more);
        }
        self.hoist(head, &l, stores.keep_shapes());
        // blocks after the loop come after all of its blocks
        self.done.extend(l.blocks.iter().copied());
        if length <= MAX_PEELED && !self.source.snapshot.failed.contains(&head.as_u32()) {
            self.peel(head, &l);
        }
        if let Some(block) = self.starts[head].block {
            self.f.blocks[block].quiet = Some(place);
        }
        self.quiet = Some((head, stores));
        (self.known_at_head, self.is_refuted) = (None, false);
        let before = self.noise;
        self.noise.stored = Stores::default();
        l.blocks.iter().for_each(|&pc| self.build_block(pc));
        self.quiet = None;
        let found = self.noise.stored;
        self.noise.stored = before.stored.and(found);
        if self.source.fault == Some(Fault::NoisyLoops) {
            return;
        }
        if self.noise.calls != before.calls {
            self.found.note_noisy(place);
        } else if stores.and(found) != stores {
            self.found.loudness.insert(place, Loudness::Quiet(stores.and(found)));
        } else {
            debug_assert!(!self.is_refuted, "a loop relies on facts that it forgets without count");
        }
    }

    /// Returns the place of the loop with this head.
    pub(super) fn place(&self, head: Pc) -> Place {
        (self.f.frames[self.frame].inlinee, head)
    }

    /// Returns whether the peeled first iteration determines the kind of number that a variable of
    /// the loop holds.
    pub(super) fn has_one_kind(&self, head: Pc, variable: Variable) -> bool {
        self.peeled.contains(&head) && !self.loops.mixed.contains(&(self.place(head), variable))
    }

    /// Records a variable if the loop, to which `v` is passed for it, assumes that it is a number
    /// of the other kind.
    pub(super) fn note_kind(&mut self, head: Pc, variable: Variable, v: Value, taken_for: Type) {
        let is_number = |ty| matches!(ty, Type::Is(Tag::INTEGER | Tag::FLOAT));
        let found = self.f.ty(v);
        let is_other = found != taken_for && is_number(found) && is_number(taken_for);
        if is_other && self.has_one_kind(head, variable) {
            self.found.mixed.insert((self.place(head), variable));
        }
    }

    /// Builds the first iteration of a loop; its back edges lead to the head of the loop that
    /// follows.
    fn peel(&mut self, head: Pc, l: &Loop) {
        let Some(first) = self.starts[head].block else { return };
        self.f.blocks[first].is_loop = false;
        let next = self.f.blocks.push(BlockData { is_loop: true, ..BlockData::default() });
        self.peel = Some(Peel { head, next, incoming: Vec::new() });
        let from = self.f.order.len();
        l.blocks.iter().for_each(|&pc| self.build_block(pc));
        for &block in &self.f.order[from..] {
            self.f.blocks[block].is_peeled = true;
        }
        let Peel { incoming, .. } = self.peel.take().expect("it was set");
        for &pc in &l.blocks {
            self.starts[pc] = Start::default();
            self.skipped.remove(&pc);
        }
        if !incoming.is_empty() {
            self.starts[head] = Start { block: Some(next), is_begun: false, incoming };
            self.peeled.insert(head);
        }
    }

    /// Returns whether `to` is the head of the loop whose first iteration is being peeled.
    pub(super) fn ends_peeled_round(&self, to: Pc) -> bool {
        self.starts[to].is_begun && self.peel.as_ref().is_some_and(|peel| peel.head == to)
    }

    /// Returns whether the block at `pc` is in the loop whose first iteration is being peeled. A
    /// generic loop jumps back to its body, and from there to its head.
    pub(super) fn is_in_peeled_round(&self, pc: Pc) -> bool {
        let head = self.peel.as_ref().map(|peel| peel.head);
        head.is_some_and(|head| self.order.loops[&head].blocks.contains(&pc))
    }

    /// Ends the block with a jump from the peeled iteration to the loop.
    pub(super) fn end_peeled_round(&mut self) {
        let incoming = Incoming {
            from: self.block,
            registers: self.registers.clone(),
            known: self.known.clone(),
        };
        let peel = self.peel.as_mut().expect("a round is being peeled");
        peel.incoming.push(incoming);
        let block = peel.next;
        self.end(End::Jump(Target { block, args: Vec::new() }));
    }

    /// Returns whether the block at `pc` is in the quiet loop being built. It is not if a jump to
    /// it leaves that loop and continues an enclosing one.
    pub(super) fn is_in_quiet_loop(&self, pc: Pc) -> bool {
        let head = self.quiet.map(|(head, _)| head);
        head.is_some_and(|head| self.order.loops[&head].blocks.contains(&pc))
    }

    /// Returns, if a loop looks quiet, the memory to which it seems to store, and its length
    /// including inlined functions.
    fn look_at(&self, l: &Loop) -> Option<(Stores, usize)> {
        let source = &self.source;
        // a register that is shared with closures is one of their upvalues
        let upvalues = source.flow.captured.values().any(|&captured| captured);
        let mut stores = Stores { upvalues, ..Stores::default() };
        let reached = l.instructions.iter().filter(|&&pc| !source.flow.cold[pc]);
        let Source { proto, snapshot, calls, .. } = *source;
        let (candidates, is_inlined) = (self.candidates, self.is_inlined());
        let of = Code { proto, snapshot, calls, candidates, is_inlined };
        let length = of.look(&mut reached.copied(), &mut stores)?;
        Some((stores, length))
    }
}

/// The code of a function, and the functions that may be inlined into it.
struct Code<'a> {
    proto: &'a Proto,
    snapshot: &'a Snapshot,
    calls: &'a Calls,
    candidates: &'a [Candidate<'a>],
    is_inlined: bool,
}

impl Code<'_> {
    /// As [`Builder::look_at`], for some instructions.
    fn look(&self, all: &mut dyn Iterator<Item = Pc>, stores: &mut Stores) -> Option<usize> {
        use Bytecode::*;
        let mut length = 0;
        // the register that holds the most recently allocated table
        let mut fresh = None;
        for pc in all {
            length += 1;
            let i = pc.instr(self.proto);
            match i.op() {
                NewTable => fresh = Some(i.a()),
                SetField | SetFieldK if fresh == Some(i.a()) => continue,
                _ => fresh = fresh.filter(|&r| !effects(i).changes(r)),
            }
            match i.op() {
                SetUpval => stores.upvalues = true,
                SetField | SetFieldK => stores.add_fields_at(self.snapshot, pc),
                SetTabUp | SetTabUpK => stores.any = true,
                NewTable if i.b() > MAX_FIELDS => return None,
                SetList if items(self.proto, pc).is_some() => {}
                VarArg if self.is_inlined => {}
                VarArg if is_built(self.proto, self.snapshot, pc) => {}
                Closure | Concat | VarArg | SetList | TForPrep | Close | Tbc => return None,
                TForCall if self.calls.contains_key(&pc.as_u32()) => {}
                TForCall if self.snapshot.callee(pc) != CalleeSeen::Nothing => return None,
                // stores to the hash part
                SetTable | SetTableK | SetI | SetIK
                    if self.snapshot.cell(pc) & access::SPARSE != 0 =>
                {
                    return None;
                }
                _ => {}
            }
            // candidates of calls and of metamethods; calls without candidates may call library
            // functions
            for &number in self.calls.get(&pc.as_u32()).into_iter().flatten() {
                length += self.look_in(number, stores)?;
            }
        }
        Some(length)
    }

    /// As [`Builder::look_at`], for a function that may be inlined.
    fn look_in(&self, number: usize, stores: &mut Stores) -> Option<usize> {
        let Candidate { inlinee, part, calls, .. } = &self.candidates[number];
        let proto = &*inlinee.proto;
        if Pc::all(proto).any(|pc| part.flow.is_loop[pc]) {
            return None;
        }
        let mut reached = Pc::all(proto).filter(|&pc| part.flow.reached[pc] && !part.flow.cold[pc]);
        let (snapshot, candidates) = (part.snapshot, self.candidates);
        let of = Code { proto, snapshot, calls, candidates, is_inlined: true };
        of.look(&mut reached, stores)
    }
}

/// Calls `build` until all assumptions about loops were right. Adds the loops for which they were
/// wrong to `known`.
pub(super) fn until_known<T>(known: &mut Loops, mut build: impl FnMut(&Loops) -> (T, Loops)) -> T {
    loop {
        let (built, found) = build(known);
        if found.is_empty() {
            return built;
        }
        known.extend(found);
    }
}
