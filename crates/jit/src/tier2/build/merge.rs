//! Builds jumps and merge points: blocks get parameters for registers, and for upvalues, whose
//! values differ in their predecessors.

use cranelift_codegen::entity::EntityRef;
use perilune_runtime::value::Tag;

use super::loops::Variable;
use super::partial::{Kept, MergedField};
use super::{Builder, Incoming, Start};
use crate::analysis::tags::Tags;
use crate::entity::{Pc, Reg};
use crate::tier2::ir::{Block, BlockData, End, Op, State, Target, Type, Value};
use crate::tier2::known::{Known, Upvalue};

impl Builder<'_> {
    /// Ends the block with a jump to the instruction at `to`, through a poll if it is a backward
    /// jump.
    pub(super) fn goto(&mut self, to: Pc) {
        if to <= self.pc && (self.source.counts || !self.is_in_peeled_round(to)) {
            let keeps = self.starts[to].block.is_some_and(|block| self.kept.contains_key(&block));
            let is_quiet = self.is_in_quiet_loop(to) || keeps;
            let state = self.state_at(to);
            self.push(Op::Poll(state, is_quiet));
            if !is_quiet {
                let noise = self.noise;
                self.after_call(state);
                self.noise = noise;
            }
        }
        self.fall(to);
    }

    /// Ends the block with a jump to the instruction at `to`.
    pub(super) fn fall(&mut self, to: Pc) {
        if self.ends_peeled_round(to) {
            return self.end_peeled_round();
        }
        let Start { block, is_begun, .. } = self.starts[to];
        let has_values = is_begun && block.is_some_and(|block| !self.f.blocks[block].is_loop);
        if has_values || self.skipped.contains(&to) {
            // in a loop with several entries: the block was built for the values of the edges that
            // were known before it, or was omitted because there were none
            let state = self.state_at(to);
            return self.end(End::Exit(state));
        }
        let block = match self.starts[to].block {
            Some(block) => block,
            None => {
                let is_loop = self.order.is_loop[to];
                let data = BlockData { is_loop, ..BlockData::default() };
                *self.starts[to].block.insert(self.f.blocks.push(data))
            }
        };
        let mut args = Vec::new();
        if self.starts[to].is_begun {
            if self.quiet.is_some_and(|(head, _)| head == to)
                && let Some(before) = &self.known_at_head
            {
                self.is_refuted |= !self.known.confirms(before);
            }
            let params = self.f.blocks[block].params.clone();
            let upvalues = self.carried.get(&block).cloned().unwrap_or_default();
            let fields = self.kept.get(&block).map_or(0, Kept::count);
            let (params, _) = params.split_at(params.len() - fields);
            let (of_registers, of_upvalues) = params.split_at(params.len() - upvalues.len());
            for &(param, r) in of_registers {
                let r = Reg::new(r.index() - self.offset);
                let v = self.read(r);
                self.note_kind(to, Variable::Register(r), v, self.f.ty(param));
                args.push(self.coerce(v, self.f.ty(param), to));
            }
            for (&(param, _), (closure, n)) in of_upvalues.iter().zip(upvalues) {
                let v = self.known.upvalue(closure, n);
                let v = v.unwrap_or_else(|| self.value(Type::Any, Op::Upvalue(closure, n)));
                let v = self.refined(v);
                self.note_kind(to, Variable::Shared, v, self.f.ty(param));
                args.push(self.coerce(v, self.f.ty(param), to));
            }
            args.extend(self.kept_values(to, block));
        } else {
            let incoming = Incoming {
                from: self.block,
                registers: self.registers.clone(),
                known: self.known.clone(),
            };
            self.starts[to].incoming.push(incoming);
        }
        self.end(End::Jump(Target { block, args }));
    }

    /// Adds a value to those that a block passes to its successor.
    pub(super) fn pass(&mut self, from: Block, v: Value) {
        let End::Jump(target) = &mut self.f.blocks[from].end else {
            unreachable!("an edge ends with a jump")
        };
        target.args.push(v);
    }

    /// Converts a value to this type, at the end of a block that jumps to `to`.
    fn coerce(&mut self, v: Value, ty: Type, to: Pc) -> Value {
        let Some(tag) = ty.tag().filter(|_| self.f.ty(v) != ty) else { return v };
        let state = self.state_at(to);
        self.speculate(v, tag, state)
    }

    /// Returns a value that is speculated to have this tag. If it has another tag, the frame
    /// continues in `state`.
    pub(super) fn speculate(&mut self, v: Value, tag: Tag, state: State) -> Value {
        let v = self.refined(v);
        let ty = Type::Is(tag);
        if self.f.ty(v) == ty {
            return v;
        }
        let guarded = self.value(ty, Op::Speculate(v, tag, state));
        self.f.values[guarded].origin = Some(self.f.origin(v));
        guarded
    }

    /// Begins the block of the instruction at `pc`; returns whether it is reachable.
    pub(super) fn begin_at(&mut self, pc: Pc) -> bool {
        if self.starts[pc].block.is_none() {
            return false;
        }
        self.begin_with(pc, self.source.tags.at(pc).clone())
    }

    /// As [`Builder::begin_at`], with these known tags.
    pub(super) fn begin_with(&mut self, pc: Pc, tags: Tags) -> bool {
        let start = &mut self.starts[pc];
        let Some(block) = start.block else { return false };
        start.is_begun = true;
        let mut incoming = std::mem::take(&mut start.incoming);
        self.pc = pc;
        self.tags = tags;
        let is_loop = self.order.is_loop[pc] && self.f.blocks[block].is_loop;
        let kept = self.order.loops.get(&pc).filter(|_| is_loop).cloned();
        let is_kept = |r| !is_loop || kept.as_ref().is_some_and(|l| !l.writes(r));
        let mut registers = vec![None; self.registers.len()];
        let mut passed = Vec::new();
        let needed: Vec<Reg> = self.all().filter(|&r| self.is_needed(pc, r)).collect();
        for r in needed {
            let held: Vec<Option<Value>> =
                incoming.iter().map(|edge| edge.registers[r.index()]).collect();
            let is_nil = |v| self.f.consult(v) == Type::Is(Tag::NIL);
            let has_position = || kept.as_ref().is_some_and(|l| l.writes_position(r));
            let is_kept = is_kept(r) || held[0].is_some_and(is_nil) && has_position();
            if is_kept && held.iter().all(|v| *v == held[0]) {
                registers[r.index()] = held[0];
                continue;
            }
            let known = self.tags[r].map(Type::Is);
            let refined = |(edge, v): (&Incoming, &Option<Value>)| {
                let v = (*v)?;
                Some(edge.known.guarded(self.f.origin(v)).unwrap_or(v))
            };
            let types = incoming.iter().zip(&held).map(refined);
            let types = types.map(|v| v.map_or(Type::Any, |v| self.f.ty(v)));
            let variable = Variable::Register(r);
            let ty = known.unwrap_or_else(|| self.param_type((pc, is_loop), variable, types));
            let param = self.f.value(ty);
            for (edge, v) in incoming.iter().zip(held) {
                self.block = edge.from;
                self.registers.clone_from(&edge.registers);
                self.known.clone_from(&edge.known);
                let v = match v {
                    Some(v) => self.refined(v),
                    None => self.value(ty, Op::Register(r + self.offset)),
                };
                let v = self.coerce(v, ty, pc);
                self.pass(edge.from, v);
                passed.push(self.f.origin(v));
            }
            self.f.blocks[block].params.push((param, r + self.offset));
            registers[r.index()] = Some(param);
        }
        let quiet = self.quiet.filter(|&(head, _)| is_loop && head == pc);
        let merges_upvalues = match quiet {
            Some((_, stores)) => stores.has_upvalues(),
            None => !is_loop && incoming.len() > 1,
        };
        let merged = match merges_upvalues {
            true => self.merge_upvalues((pc, is_loop), block, &incoming),
            false => Vec::new(),
        };
        let fields = match !is_loop && incoming.len() > 1 {
            true => self.merge_incoming_fields(block, &incoming),
            false => Vec::new(),
        };
        let keeps = quiet.is_none() && kept.as_ref().is_some_and(|l| self.keeps_at(pc, l));
        let mut known = match &mut incoming[..] {
            [only] if !keeps => std::mem::take(&mut only.known),
            all => Known::on_all(all.iter().map(|edge| &edge.known)),
        };
        // a parameter is another value for the object that is passed
        passed.into_iter().for_each(|v| known.share(v));
        match quiet {
            Some((_, stores)) => {
                stores.forget(&mut known);
                // a later iteration may pass them on
                known.share_all();
            }
            // the effects of the loop on memory are not known yet
            _ if is_loop => known.forget(),
            _ => {}
        }
        if is_loop && kept.is_none() {
            // Another entry of the loop, which has established none of it, may follow.
            known = Known::default();
        }
        for ((closure, n), param) in merged {
            known.note_upvalue(closure, n, param);
        }
        if keeps {
            self.keep(block, &incoming, &registers, &mut known);
        }
        self.registers = registers;
        self.known = known;
        self.note_merged(&fields);
        if cfg!(debug_assertions) && quiet.is_some() {
            self.known_at_head = Some(self.known.clone());
        }
        self.block = block;
        self.f.order.push(block);
        true
    }

    /// Returns the type of a parameter of the block at `pc`, given the types of the values that are
    /// passed.
    fn param_type(
        &self,
        (pc, is_loop): (Pc, bool),
        variable: Variable,
        passed: impl Iterator<Item = Type>,
    ) -> Type {
        let has_one_kind = || self.has_one_kind(pc, variable);
        match passed.reduce(Type::join).unwrap_or(Type::Any) {
            ty @ Type::Is(Tag::INTEGER | Tag::FLOAT | Tag::ITER) if has_one_kind() => ty,
            _ if is_loop => Type::Any,
            ty => ty,
        }
    }

    /// Adds parameters to a merge point for fields.
    fn merge_incoming_fields(&mut self, block: Block, incoming: &[Incoming]) -> Vec<MergedField> {
        let known: Vec<&Known> = incoming.iter().map(|edge| &edge.known).collect();
        let merged = self.merge_fields(&known);
        for field in &merged {
            self.f.blocks[block].params.push((field.param, Reg::new(self.offset)));
            for (edge, &v) in incoming.iter().zip(&field.values) {
                self.pass(edge.from, v);
            }
        }
        merged
    }

    /// Adds parameters to a block for the upvalues whose values are known on all edges, unless they
    /// are the same on all edges of a forward merge point. The stores remain, so memory contains
    /// these values as well; only loads and guards are saved, in particular in quiet loops that
    /// store to upvalues.
    fn merge_upvalues(
        &mut self,
        (pc, is_loop): (Pc, bool),
        block: Block,
        incoming: &[Incoming],
    ) -> Vec<(Upvalue, Value)> {
        let Some((first, others)) = incoming.split_first() else { return Vec::new() };
        let mut upvalues = first.known.known_upvalues();
        upvalues.retain(|&(closure, n)| {
            let first = first.known.upvalue(closure, n);
            let mut others = others.iter().map(|edge| edge.known.upvalue(closure, n));
            others.clone().all(|v| v.is_some()) && (is_loop || others.any(|v| v != first))
        });
        let mut merged = Vec::with_capacity(upvalues.len());
        for &(closure, n) in &upvalues {
            let value = |edge: &Incoming| {
                let v = edge.known.upvalue(closure, n).expect("it is known");
                edge.known.guarded(self.f.origin(v)).unwrap_or(v)
            };
            let values: Vec<Value> = incoming.iter().map(value).collect();
            let types = values.iter().map(|&v| self.f.ty(v));
            let ty = self.param_type((pc, is_loop), Variable::Shared, types);
            let param = self.f.value(ty);
            for (edge, v) in incoming.iter().zip(values) {
                self.pass(edge.from, v);
            }
            // it is no register's value, so any register will do
            self.f.blocks[block].params.push((param, Reg::new(self.offset)));
            merged.push(((closure, n), param));
        }
        if is_loop {
            self.carried.insert(block, upvalues);
        }
        merged
    }
}
