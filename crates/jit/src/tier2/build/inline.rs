//! Builds calls of functions that are inlined.

use std::collections::HashSet;
use std::sync::Arc;

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use perilune_runtime::frame::Frame as Layout;
use perilune_runtime::tier::INLINED_SLOTS;
use perilune_runtime::value::Tag;

use super::iterate::VARIABLES;
use super::order::Order;
use super::partial::Held;
use super::{Builder, Open, Source};
use crate::analysis::early::{Beforehand, EarlyPart};
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::HandlerSeen;
use crate::pipeline::input::Inlinee;
use crate::testing::fault::Fault;
use crate::tier2::ir::{
    Block, BlockData, Caller, End, Frame, FrameData, Metatable, Op, State, Target, Type, Value,
};
use crate::tier2::known::{Known, Wanted};
use crate::tier2::shapes::Shapes;

/// A return of an inlined function: the block that ends with it, the values, and the facts known
/// there.
pub(super) struct Return {
    from: Block,
    values: Vec<Value>,
    pub(super) known: Known,
}

/// A block at whose end an inlined function has not returned early. The rest of the function is not
/// inlined.
pub(super) struct Late {
    from: Block,
    known: Known,
    /// The state of the inlined function there.
    state: State,
}

/// A metamethod that is inlined.
#[derive(Clone, Copy)]
pub(super) struct Handler {
    /// Its number among the candidates.
    number: usize,
    seen: HandlerSeen,
    /// The number of the operand that has the metamethod.
    receiver: usize,
}

impl Handler {
    /// Returns whether the shape of the table shows that it does not have the field.
    pub(super) fn has_shape(self) -> bool {
        self.seen.shape.is_some()
    }
}

impl Builder<'_> {
    /// Builds CALL; returns whether control continues after it.
    pub(super) fn call(&mut self) -> bool {
        let i = self.instr(self.pc);
        if let Some(v) = self.selected.take() {
            self.registers[i.a()..].fill(None);
            self.write_results(vec![v]);
            return true;
        }
        let Some(all) = self.source.calls.get(&self.pc.as_u32()) else {
            if let Some(results) = self.select() {
                self.registers[i.a()..].fill(None);
                self.write_results(results);
            } else if !self.begin_traversal() && !self.several_bytes() && !self.library_call() {
                self.generic_call();
            }
            return true;
        };
        let counted = self.callee_of(all).and_then(|number| Some((number, self.wanted(number)?)));
        let Some((number, wanted)) = counted else {
            self.generic_call();
            return true;
        };
        let callee = self.offset + i.a();
        let Some((closure, arguments)) = self.called_closure(number, callee) else {
            self.generic_call();
            return true;
        };
        let caller = Caller { frame: self.frame, pc: self.pc + 1, is_tail: false };
        let outer = self.needed_after_call();
        let mut returns = self.inline(number, closure, (callee, caller), outer, arguments);
        let late = std::mem::take(&mut self.late);
        if !late.is_empty() {
            let held = self.held_after(&returns);
            returns.push(self.call_late(late, wanted, held));
        }
        self.registers[i.a()..].fill(None);
        let Some(results) = self.continue_after(returns, i.ra(), wanted) else { return false };
        self.write_results(results);
        true
    }

    /// Calls a function on the path on which it does not return early. The function executes the
    /// tests again, which have no side effects.
    fn call_late(&mut self, late: Vec<Late>, wanted: usize, held: Vec<Held>) -> Return {
        let edges: Vec<Block> = late.iter().map(|late| late.from).collect();
        let known = late.into_iter().map(|late| late.known).reduce(|mut all, known| {
            all.meet(&known);
            all
        });
        self.known = known.expect("there is one");
        match edges[..] {
            [from] => self.block = from,
            _ => {
                let block = self.f.blocks.push(BlockData::default());
                for from in edges {
                    self.f.blocks[from].end = End::Jump(Target { block, args: Vec::new() });
                }
                self.switch_to(block);
            }
        }
        self.state = None;
        let before = (self.registers.clone(), self.tags.clone());
        let known = (self.source.fault == Some(Fault::StaleJoins)).then(|| self.known.clone());
        self.generic_call();
        self.known = known.unwrap_or_else(|| std::mem::take(&mut self.known));
        // the results are where the callee and its arguments were, and may have other tags
        self.step_tags(false);
        let first = self.instr(self.pc).ra();
        let values = (0..wanted).map(|n| self.read(first + n)).collect();
        self.hold_again(&held);
        (self.registers, self.tags) = before;
        let known = std::mem::take(&mut self.known);
        Return { from: self.block, values, known }
    }

    /// Builds the block at `pc` of a function of which only the early returns are inlined.
    pub(super) fn build_early(&mut self, pc: Pc, early: &EarlyPart) {
        if early.contains(pc) {
            return self.build_block(pc);
        }
        if let Some(block) = self.starts[pc].block {
            // there is no back edge to it
            self.f.blocks[block].is_loop = false;
        }
        if self.begin_at(pc) {
            self.end_early_part(pc);
        }
    }

    /// Ends the block where the function has not returned early, and would continue at `pc`.
    pub(super) fn end_early_part(&mut self, pc: Pc) {
        let state = self.state_at(pc);
        let known = std::mem::take(&mut self.known);
        self.late.push(Late { from: self.block, known, state });
    }

    /// Builds the body of a function of which only the early return is inlined, on the path on
    /// which a preceding test predicts that it will return early. The body contains the test as
    /// well, which is decisive.
    fn body_if_early(&mut self, beforehand: Beforehand) {
        let entry = self.source.entry;
        // if a speculation of the test fails, the function continues at its beginning
        let state = self.state_at(entry);
        self.state = Some(state);
        self.pc = beforehand.test;
        let wanted = self.jumps_if() == beforehand.returns_by_jump;
        let (early, late) = match self.condition() {
            Some(Ok(condition)) => {
                let (yes, no) = self.branch(condition);
                let (early, late) = if wanted { (yes, no) } else { (no, yes) };
                self.switch_to(late);
                self.switch_to(early);
                (true, Some(late))
            }
            Some(Err(truth)) if truth == wanted => (true, None),
            _ => (false, Some(self.block)),
        };
        self.state = None;
        let known = self.known.clone();
        if early {
            self.fall(entry);
            self.body();
            // if the body does not return early after all, the function has already had side
            // effects
            self.is_repeatable = false;
            self.end_late();
        }
        self.late.extend(late.map(|from| Late { from, known, state }));
    }

    /// Deoptimizes the frame on the path on which the function does not return early, if its tests
    /// must not be executed again.
    fn end_late(&mut self) {
        if !self.is_repeatable {
            for late in std::mem::take(&mut self.late) {
                self.f.blocks[late.from].end = End::Exit(late.state);
            }
        }
    }

    /// Writes the results of a call to the registers for which it has them.
    pub(super) fn write_results(&mut self, results: Vec<Value>) {
        let i = self.instr(self.pc);
        self.write_wanted(i.ra(), results, i.c());
    }

    /// Writes results to the registers from `first` on: `c - 1` of them, or all if `c` is 0.
    pub(super) fn write_wanted(&mut self, first: Reg, mut results: Vec<Value>, c: usize) {
        let Some(wanted) = c.checked_sub(1) else { return self.write_open(first, results) };
        results.truncate(wanted);
        while results.len() < wanted {
            results.push(self.nil());
        }
        self.write_all(first, results);
    }

    /// Returns the number of results of the call at the current position if it calls this
    /// candidate. Returns `None` unless this number and the number of arguments are known and there
    /// is room for the results.
    fn wanted(&self, number: usize) -> Option<usize> {
        let i = self.instr(self.pc);
        let wanted = match i.c() {
            0 => self.candidates[number].results?,
            c => c - 1,
        };
        self.argument_count()?;
        self.fits(self.offset + i.a() + wanted).then_some(wanted)
    }

    /// Returns the number of arguments of the call at the current position, if it is known.
    pub(super) fn argument_count(&self) -> Option<usize> {
        let i = self.instr(self.pc);
        match i.b() {
            0 => self.open()?.end.index().checked_sub(i.a() + Layout::RESERVED),
            b => Some(b - 1),
        }
    }

    /// Writes results to the registers from `first` on.
    fn write_all(&mut self, first: Reg, values: Vec<Value>) {
        for (n, v) in values.into_iter().enumerate() {
            self.write(first + n, v);
        }
    }

    /// Writes results, all of which the next instruction uses, to the registers from `first` on.
    /// There must be room for them.
    pub(super) fn write_open(&mut self, first: Reg, mut values: Vec<Value>) {
        let end = first + values.len();
        let above = values.split_off(values.len().min(self.registers.len() - first.index()));
        self.write_all(first, values);
        self.push(Op::SetTop(end + self.offset));
        self.open = Some(Open { user: self.pc + 1, end, above });
        let size = &mut self.f.frames[self.frame].size;
        *size = end.index().max(*size);
    }

    /// Builds VARARG in an inlined function.
    pub(super) fn extra_arguments(&mut self) {
        let i = self.instr(self.pc);
        self.write_wanted(i.ra(), self.extra.clone(), i.c());
    }

    /// Builds TAILCALL in an inlined function: the callee replaces the function, and returns to its
    /// caller. If the callee cannot be inlined, the frame continues in the interpreter.
    pub(super) fn tail_call(&mut self) {
        let Some(all) = self.source.calls.get(&self.pc.as_u32()) else {
            let selected = self.select();
            match selected {
                Some(results) => self.return_values(results),
                None if self.library_call() => self.return_inlined(self.instr(self.pc).ra(), 1),
                None => {
                    let state = self.state();
                    self.end(End::Exit(state));
                }
            }
            return;
        };
        let is_counted = self.argument_count().is_some();
        let number = self.callee_of(all).filter(|_| is_counted);
        let callee = self.f.frames[self.frame].callee();
        let called = number.and_then(|number| self.called_closure(number, callee));
        let (Some(number), Some((closure, arguments))) = (number, called) else {
            let state = self.state();
            return self.end(End::Exit(state));
        };
        let caller = self.f.frames[self.frame].caller.expect("the function is inlined");
        let caller = Caller { is_tail: true, ..caller };
        let mut outer = self.outer.clone();
        outer.retain(|(r, _)| r.index() < callee);
        let returns = self.inline(number, closure, (callee, caller), outer, arguments);
        self.returns.extend(returns);
    }

    /// Returns the callee, guarded to be a closure of the candidate, which is called from register
    /// `at` of the outermost frame, and its arguments. If the call has called an object, the callee
    /// is the object's `__call` metamethod, and the object is the first argument. Returns `None` if
    /// the frame is too large, or the callee is known to be something else.
    fn called_closure(&mut self, number: usize, at: usize) -> Option<(Value, Vec<Value>)> {
        let i = self.instr(self.pc);
        let mut callee = self.read(i.ra());
        let mut arguments = self.arguments();
        let is_object = self.source.snapshot.calls_object(self.pc.as_u32());
        let tag = if is_object { Tag::TABLE } else { Tag::FUNCTION };
        let passed = arguments.len() + usize::from(is_object);
        if !self.has_room(number, at, passed) || self.is_never(callee, tag) {
            return None;
        }
        if is_object {
            let object = self.guard(callee, Tag::TABLE);
            arguments.insert(0, object);
            callee = self.handler_of(object);
        }
        let closure = self.guard_method(callee, number);
        Some((closure, arguments))
    }

    /// Returns whether there is room for the frame of a candidate that is called from register `at`
    /// of the outermost frame with `passed` arguments.
    fn has_room(&self, number: usize, at: usize, passed: usize) -> bool {
        let proto = &self.candidates[number].inlinee.proto;
        let mut size = Layout::RESERVED + usize::from(proto.max_stack);
        if proto.is_vararg {
            // the arguments are below the frame, and extra arguments may be copied to registers
            size += Layout::RESERVED + passed.max(proto.num_params.into()) + passed;
        }
        self.fits(at + size)
    }

    /// Returns whether frames may use `slots` slots from the base of the outermost frame on.
    fn fits(&self, slots: usize) -> bool {
        let outermost = usize::from(self.f.frames[Frame::new(0)].proto.max_stack);
        slots <= outermost + INLINED_SLOTS
    }

    /// Builds TFORCALL of an iterator that may be inlined; returns whether control continues after
    /// it.
    pub(super) fn call_iterator(&mut self) -> bool {
        let i = self.instr(self.pc);
        let [function, state, control] = [0, 1, 2].map(|n| self.read(i.ra() + n));
        let arguments = vec![state, control];
        // the iterator is called from the register that receives its first result
        let (first, at) = (i.ra() + VARIABLES, self.offset + i.a() + VARIABLES);
        let number = self.source.calls.get(&self.pc.as_u32()).and_then(|all| self.callee_of(all));
        let number = number.filter(|&number| {
            self.has_room(number, at, arguments.len()) && !self.is_never(function, Tag::FUNCTION)
        });
        let Some(number) = number else {
            self.generic();
            return true;
        };
        let closure = self.guard_method(function, number);
        let caller = Caller { frame: self.frame, pc: self.pc + 1, is_tail: false };
        let outer = self.needed_below(first);
        let returns = self.inline(number, closure, (at, caller), outer, arguments);
        self.registers[first.index()..].fill(None);
        // nil ends the loop, so returns of nil need no test
        let is_end =
            |r: &Return| r.values.first().is_none_or(|&v| self.f.consult(v) == Type::Is(Tag::NIL));
        let (ends, others): (Vec<Return>, Vec<Return>) = returns.into_iter().partition(is_end);
        let before = self.registers.clone();
        if let Some(results) = self.continue_after(ends, first, i.c()) {
            self.write_all(first, results);
            if others.is_empty() {
                return true;
            }
            self.fall(self.pc + 2);
            self.registers = before;
        }
        let Some(results) = self.continue_after(others, first, i.c()) else { return false };
        self.write_all(first, results);
        true
    }

    /// Returns the metamethod to inline for the instruction with these operands, which is the only
    /// one that it has called.
    pub(super) fn handler_to_inline(&self, operands: &[Value]) -> Option<Handler> {
        let all = self.source.calls.get(&self.pc.as_u32())?;
        let seen = *self.source.snapshot.handlers.get(&self.pc.as_u32())?;
        let &[number] = &all[..] else { return None };
        let receiver = usize::from(seen.first != Tag::TABLE);
        let is_possible = self.has_room(number, self.above(), operands.len())
            && !self.is_never(operands[receiver], Tag::TABLE)
            && !self.is_never(operands[0], seen.first);
        is_possible.then_some(Handler { number, seen, receiver })
    }

    /// Returns the register of the outermost frame from which metamethods are called: the first one
    /// above all registers.
    pub(super) fn above(&self) -> usize {
        self.offset + usize::from(self.source.proto.max_stack)
    }

    /// Builds the call of a metamethod in place of an instruction with one result. Returns the
    /// result, or `None` if the metamethod does not return. `early` is the result of a path that
    /// does not call it.
    pub(super) fn inline_handler(
        &mut self,
        handler: Handler,
        operands: &[Value],
        early: Option<Return>,
    ) -> Option<Value> {
        let results = self.results_of_handler(handler, operands, early, 1);
        results.map(|results| results[0])
    }

    /// Builds the call of a metamethod in place of an instruction without results; returns whether
    /// control continues after it. `early` is the end of a path that does not call it.
    pub(super) fn effects_of_handler(
        &mut self,
        handler: Handler,
        operands: &[Value],
        early: Option<Return>,
    ) -> bool {
        self.results_of_handler(handler, operands, early, 0).is_some()
    }

    /// As [`Builder::inline_handler`], for this number of results.
    fn results_of_handler(
        &mut self,
        handler: Handler,
        operands: &[Value],
        early: Option<Return>,
        wanted: usize,
    ) -> Option<Vec<Value>> {
        let Handler { number, seen: handler, receiver } = handler;
        self.guard(operands[0], handler.first);
        let table = self.guard(operands[receiver], Tag::TABLE);
        if let Some(shape) = handler.shape {
            self.guard_shapes(table, Shapes::of([shape]).expect("it is one"));
        }
        let function = self.handler_of(table);
        let closure = self.guard_method(function, number);
        let operands = operands.iter().map(|&v| self.refined(v)).collect();
        let caller = Caller { frame: self.frame, pc: self.pc + 1, is_tail: false };
        let (above, outer) = (self.above(), self.needed_during_handler());
        let mut returns = self.inline(number, closure, (above, caller), outer, operands);
        returns.extend(early);
        self.continue_after(returns, Reg::new(above - self.offset), wanted)
    }

    /// Returns the metamethod of a table that the instruction has always called.
    fn handler_of(&mut self, table: Value) -> Value {
        let record = self.entry_of(None);
        let lookup = (Wanted::Metamethod(record.1), self.f.origin(table));
        let known = self.known.lookup(lookup);
        let function = known.unwrap_or_else(|| {
            let op = Op::Handler(Metatable::Of(table), self.state());
            let found = self.value(Type::Is(Tag::FUNCTION), op);
            self.known.hold(record, found)
        });
        self.known.note_lookup(lookup, function);
        function
    }

    /// Returns whether the instruction has called a metamethod that may be inlined.
    pub(super) fn has_handler(&self) -> bool {
        let pc = self.pc.as_u32();
        self.source.snapshot.handlers.contains_key(&pc) && self.source.calls.contains_key(&pc)
    }

    /// Builds an instruction with one result as the call of a metamethod; returns whether control
    /// continues after it.
    pub(super) fn value_of_handler(&mut self, handler: Handler, operands: &[Value]) -> bool {
        let Some(v) = self.inline_handler(handler, operands, None) else { return false };
        self.write(self.instr(self.pc).ra(), v);
        true
    }

    /// Returns a path that ends here with these results of the instruction.
    pub(super) fn early_results(&mut self, values: Vec<Value>) -> Return {
        Return { from: self.block, values, known: self.known.clone() }
    }

    /// Builds the body of a function in place of its call, from register `at` of the outermost
    /// frame, with these arguments; returns its returns. `outer` are the registers of the callers
    /// that are live after the call.
    fn inline(
        &mut self,
        number: usize,
        closure: Value,
        (at, caller): (usize, Caller),
        mut outer: Vec<(Reg, Value)>,
        mut arguments: Vec<Value>,
    ) -> Vec<Return> {
        let candidate = &self.candidates[number];
        let proto = candidate.inlinee.proto.clone();
        let params = usize::from(proto.num_params);
        let mut extra = arguments.split_off(params.min(arguments.len()));
        while arguments.len() < params {
            let nil = self.nil();
            arguments.push(nil);
        }
        let mut offset = at + Layout::RESERVED;
        if proto.is_vararg {
            // the frame begins after the arguments; extra arguments stay where they are
            let places = (offset + params..).map(Reg::new);
            outer.extend(places.zip(extra.iter().copied()));
            offset += params + extra.len() + Layout::RESERVED;
        } else {
            extra.clear();
        }
        let frame = self.f.frames.push(FrameData {
            size: proto.max_stack.into(),
            proto,
            offset,
            extra: extra.len(),
            caller: Some(caller),
            inlinee: Some(number),
        });
        let part = &candidate.part;
        let source = Source {
            proto: &candidate.inlinee.proto,
            snapshot: part.snapshot,
            flow: &part.flow,
            needed: &candidate.needed,
            tags: &part.tags,
            calls: &candidate.calls,
            entry: Pc::new(0),
            is_loop: false,
            early: candidate.inlinee.early.as_ref(),
            counts: self.source.counts,
            verify_values: self.source.verify_values,
            fault: self.source.fault,
        };
        let mut registers = vec![None; source.tags.at(source.entry).registers().count()];
        for (register, argument) in registers.iter_mut().zip(arguments) {
            *register = Some(argument);
        }
        let mut inlined = Builder {
            source,
            candidates: self.candidates,
            frame,
            offset,
            closure: Some(closure),
            outer,
            extra,
            returns: Vec::new(),
            late: Vec::new(),
            is_repeatable: true,
            f: std::mem::take(&mut self.f),
            block: self.block,
            registers,
            tags: source.tags.at(source.entry).clone(),
            known: std::mem::take(&mut self.known),
            constants: std::mem::take(&mut self.constants),
            carried: Default::default(),
            kept: Default::default(),
            state: None,
            pc: source.entry,
            order: Order::new(source.proto, source.flow, source.entry),
            rest: None,
            built: source.entry..source.entry,
            receiver: None,
            open: None,
            selected: None,
            starts: SecondaryMap::new(),
            loops: self.loops,
            found: std::mem::take(&mut self.found),
            noise: self.noise,
            quiet: None,
            known_at_head: None,
            is_refuted: false,
            peel: None,
            peeled: HashSet::new(),
            done: HashSet::new(),
            skipped: HashSet::new(),
        };
        inlined.push(Op::Inline(frame, closure));
        match source.early.and_then(|early| early.beforehand) {
            None => {
                inlined.fall(source.entry);
                inlined.body();
                inlined.end_late();
            }
            Some(beforehand) => inlined.body_if_early(beforehand),
        }
        let Builder { f, returns, late, constants, found, noise, .. } = inlined;
        (self.f, self.constants, self.found, self.noise) = (f, constants, found, noise);
        self.late = late;
        returns
    }

    /// Returns which of these candidates is called: the only one, or the method for receivers of
    /// the shape that the call is being built for.
    fn callee_of(&self, all: &[usize]) -> Option<usize> {
        let is_called = |&&number: &&usize| {
            let shapes = &self.candidates[number].inlinee.shapes;
            match self.receiver {
                Some(shape) => shapes.contains(&shape),
                None => shapes.is_empty(),
            }
        };
        all.iter().find(is_called).copied()
    }

    /// Guards a value to be a closure of this candidate; returns the closure.
    pub(super) fn guard_method(&mut self, callee: Value, number: usize) -> Value {
        let Inlinee { slot, ref proto, .. } = *self.candidates[number].inlinee;
        let closure = self.guard(callee, Tag::FUNCTION);
        let origin = self.f.origin(closure);
        if Arc::ptr_eq(proto, &self.f.frames[Frame::new(0)].proto)
            && let Some(own) = self.f.own
        {
            if self.is_own(closure) {
                return own;
            }
            if self.known.is_constant_global(origin) {
                let state = self.state();
                self.push(Op::GuardOwn(closure, state));
                self.known.note_own(origin);
                return own;
            }
        }
        if !self.known.has_method(origin, slot) {
            let state = self.state();
            self.push(Op::GuardMethod(closure, slot, state));
            self.known.note_method(origin, slot);
        }
        closure
    }

    /// Returns the arguments of the call.
    pub(super) fn arguments(&mut self) -> Vec<Value> {
        let first = self.instr(self.pc).ra() + Layout::RESERVED;
        let passed = self.argument_count().expect("the number of arguments is known");
        (0..passed).map(|n| self.read(first + n)).collect()
    }

    pub(super) fn nil(&mut self) -> Value {
        self.value(Type::Is(Tag::NIL), Op::Primitive(Tag::NIL))
    }

    /// Returns the registers of the frame and of its callers that are live after the call.
    fn needed_after_call(&mut self) -> Vec<(Reg, Value)> {
        self.needed_below(self.instr(self.pc).ra())
    }

    /// Returns the registers of the frame below `end`, and of its callers, that are live after the
    /// instruction.
    fn needed_below(&mut self, end: Reg) -> Vec<(Reg, Value)> {
        let next = self.pc + 1;
        let own = self.all().take(end.index()).filter(|&r| self.is_needed(next, r));
        let own = own.filter_map(|r| Some((r + self.offset, self.registers[r.index()]?)));
        let own: Vec<(Reg, Value)> = own.collect();
        self.callers().chain(own).collect()
    }

    /// Returns the registers of the frame and of its callers that are live during the call of a
    /// metamethod; those of the frame have their values from before the instruction.
    fn needed_during_handler(&mut self) -> Vec<(Reg, Value)> {
        let own = self.all().filter(|&r| self.is_needed(self.pc, r));
        let own = own.filter_map(|r| Some((r + self.offset, self.registers[r.index()]?)));
        self.callers().chain(own).collect()
    }

    /// Returns the live registers of the callers, and the register that holds the closure.
    pub(super) fn callers(&self) -> impl Iterator<Item = (Reg, Value)> {
        let closure = self.closure.map(|v| (Reg::new(self.offset - Layout::RESERVED), v));
        self.outer.iter().copied().chain(closure)
    }

    /// Returns whether the function is inlined.
    pub(super) fn is_inlined(&self) -> bool {
        self.closure.is_some()
    }

    /// Ends the block with the return of `count` values from register `a` on, in an inlined
    /// function.
    pub(super) fn return_inlined(&mut self, a: Reg, count: usize) {
        let values = a.range(count).map(|r| self.read(r)).collect();
        self.return_values(values);
    }

    /// Ends the block with the return of values, in an inlined function.
    fn return_values(&mut self, values: Vec<Value>) {
        let known = std::mem::take(&mut self.known);
        self.returns.push(Return { from: self.block, values, known });
    }

    /// Continues after an inlined function, with the given number of results, the first of them for
    /// register `first`; returns the results, or `None` if the function does not return.
    fn continue_after(
        &mut self,
        returns: Vec<Return>,
        first: Reg,
        wanted: usize,
    ) -> Option<Vec<Value>> {
        let mut edges = returns;
        for edge in &mut edges {
            self.block = edge.from;
            std::mem::swap(&mut self.known, &mut edge.known);
            let values = (0..wanted).map(|n| match edge.values.get(n) {
                Some(&v) => self.refined(v),
                None => self.nil(),
            });
            edge.values = values.collect();
            std::mem::swap(&mut self.known, &mut edge.known);
        }
        // the previous frame states belong to other blocks
        self.state = None;
        match &mut edges[..] {
            [] => None,
            [Return { from, values, known }] => {
                self.block = *from;
                self.known = std::mem::take(known);
                Some(std::mem::take(values))
            }
            edges => Some(self.merge_returns(edges, first + self.offset, wanted)),
        }
    }

    /// Continues at the merge point of several returns; returns the results.
    fn merge_returns(&mut self, edges: &[Return], first: Reg, wanted: usize) -> Vec<Value> {
        self.known = Known::on_all(edges.iter().map(|edge| &edge.known));
        let mut data = BlockData::default();
        let mut args = vec![Vec::new(); edges.len()];
        let mut results = Vec::new();
        for n in 0..wanted {
            let values = || edges.iter().map(|edge| edge.values[n]);
            let v = values().next().expect("there are some");
            if values().all(|other| other == v) {
                results.push(v);
                continue;
            }
            let types = values().map(|v| self.f.ty(v));
            let ty = types.reduce(Type::join).expect("there are some");
            let param = self.f.value(ty);
            data.params.push((param, first + n));
            args.iter_mut().zip(values()).for_each(|(args, v)| args.push(v));
            values().for_each(|v| self.known.share(self.f.origin(v)));
            results.push(param);
        }
        let known: Vec<&Known> = edges.iter().map(|edge| &edge.known).collect();
        let merged = self.merge_fields(&known);
        for field in &merged {
            // it is not the value of a register, so any register will do
            data.params.push((field.param, Reg::new(self.offset)));
            args.iter_mut().zip(&field.values).for_each(|(args, &v)| args.push(v));
        }
        self.note_merged(&merged);
        let block = self.f.blocks.push(data);
        for (edge, args) in edges.iter().zip(args) {
            self.f.blocks[edge.from].end = End::Jump(Target { block, args });
        }
        self.switch_to(block);
        results
    }
}
