//! From the intermediate representation to Cranelift IR.
//!
//! Registers are stored to their home slots where the runtime may inspect them, unless the slots
//! already contain the values ([`homes`]): before generic instructions, before a poll that has
//! something to do, and in the blocks that exit. Exits never return, so the code before them keeps
//! its values in machine registers.

mod closures;
mod fields;
mod globals;
mod layout;
mod library;
mod metatables;
mod numbers;
mod objects;
mod quiet;
mod sums;
mod virtuals;

use std::collections::HashSet;

use cranelift_codegen::entity::{EntityRef, EntitySet, SecondaryMap};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{self, InstBuilder};
use perilune_bytecode::Op as Bytecode;
use perilune_runtime::layout::frame;
use perilune_runtime::value::Tag;

use self::layout::BlockLayout;
use self::quiet::QuietLoop;
pub(super) use self::virtuals::reserve_virtuals;
use super::dominators::Dominators;
use super::ir::{
    Block, End, Frame, FrameData, Function, Inst, Metatable, Op, Place, State, Type, Value,
};
use super::passes::crossings::{self, Crossings};
use super::passes::homes::{self, Homes};
use crate::codegen::Emitter;
use crate::codegen::element::ElementStore;
use crate::codegen::memory::Regions;
use crate::codegen::number::Operator;
use crate::codegen::table::Stored;
use crate::codegen::value::Known;
use crate::entity::Reg;
use crate::exits::state::{FrameState, Home, Point};
use crate::generic::single::{Generic, Held, Payload};
use crate::hash::HashMap;

/// A value in machine registers.
#[derive(Clone, Copy)]
enum Low {
    /// A Lua value.
    Lua(Payload, Known),
    Condition(ir::Value),
    /// Whether values are equal: the branch at the end of the block compares them.
    Equal(Value, Value, State),
    /// Whether a value is a number equal to an integer, compared in the same way.
    IsInteger(Value, i64),
}

/// Emits the code of a function.
pub(super) struct Lower<'f, 'a> {
    f: &'f Function,
    generic: Generic<'a>,
    values: SecondaryMap<Value, Option<Low>>,
    /// Integers that are constants.
    integers: HashMap<Value, i64>,
    /// Numbers of either kind.
    numbers: EntitySet<Value>,
    /// Sums that are needed only as floats, and those that have been emitted.
    as_floats: EntitySet<Value>,
    sums: HashMap<Value, sums::Sum>,
    /// Values that machine instructions can take as immediates.
    immediates: EntitySet<Value>,
    blocks: SecondaryMap<Block, Option<ir::Block>>,
    /// The contents of home slots.
    homes: Homes,
    /// Values that were live across a call before the block.
    crossings: Crossings,
    /// Whether there has been a call in the block.
    called: bool,
    /// Values defined in the block that were not live across a call, and those loaded since.
    current: HashMap<Value, Low>,
    /// The exit blocks of the block, by state and by the registers that they store.
    exits: HashMap<(State, Vec<Reg>), ir::Block>,
    /// The loops that preserve facts about memory, by their heads.
    quiet: HashMap<Block, QuietLoop>,
    /// The last block of the quiet loop that is being emitted.
    last: Option<Block>,
    /// The blocks whose polls are not needed in each iteration of their loop.
    rare_polls: HashSet<Block>,
    /// Whether the block that is being emitted is one of them.
    polls_rarely: bool,
    layout: BlockLayout,
}

/// Emits the code of `f`, after its beginning has been emitted. Adds the quiet loops whose code
/// turned out not to be quiet to `noisy`; if there are any, none of the code may be used.
pub(super) fn lower<'a>(
    f: &Function,
    generic: Generic<'a>,
    noisy: &mut HashSet<Place>,
) -> Generic<'a> {
    let mut at = homes::analyse(f);
    let mut crossings = crossings::analyse(f);
    let mut lower = Lower {
        f,
        generic,
        values: SecondaryMap::new(),
        integers: HashMap::default(),
        numbers: EntitySet::new(),
        as_floats: sums::find(f),
        sums: HashMap::default(),
        immediates: EntitySet::new(),
        blocks: SecondaryMap::new(),
        homes: at[f.order[0]].clone().expect("the function is entered there"),
        exits: HashMap::default(),
        crossings: Crossings::default(),
        called: false,
        current: HashMap::default(),
        quiet: HashMap::default(),
        last: None,
        rare_polls: HashSet::new(),
        polls_rarely: false,
        layout: BlockLayout::of(f),
    };
    lower.find_quiet_loops(noisy);
    for &block in &f.order {
        lower.declare(block);
    }
    lower.find_entered_loops();
    let first = lower.block(f.order[0]);
    lower.emit().jump(first);
    for &block in &f.order {
        lower.homes = at[block].take().expect("every block is reached");
        lower.crossings = std::mem::take(&mut crossings[block]);
        lower.lower_block(block);
    }
    let broken = lower.emit().broken_loops();
    let broken = f.order.iter().filter(|&&block| broken.contains(&lower.block(block)));
    noisy.extend(broken.filter_map(|&block| f.blocks[block].quiet));
    lower.generic
}

impl<'a> Lower<'_, 'a> {
    fn emit(&mut self) -> &mut Emitter<'a> {
        self.generic.emit()
    }

    fn block(&self, block: Block) -> ir::Block {
        self.blocks[block].expect("it was declared")
    }

    /// Creates a block with its parameters.
    fn declare(&mut self, block: Block) {
        let f = self.f;
        let data = &f.blocks[block];
        let mut types = Vec::new();
        for &(v, _) in &data.params {
            match f.ty(v) {
                Type::Is(Tag::FLOAT) => types.push(F64),
                Type::Is(_) => types.push(I64),
                _ => types.extend([I64, I64]),
            }
        }
        let (low, params) = self.emit().block_of(&types);
        if matches!(data.end, End::Exit(_)) {
            self.emit().set_cold(low);
        }
        self.blocks[block] = Some(low);
        let mut params = params.into_iter();
        let mut next = || params.next().expect("one was made for it");
        for &(v, _) in &data.params {
            let value = match f.ty(v) {
                Type::Is(Tag::FLOAT) => Low::Lua(Payload::Float(next()), Known::Tag(Tag::FLOAT)),
                Type::Is(tag) => Low::Lua(Payload::Bits(next()), Known::Tag(tag)),
                _ => {
                    let bits = next();
                    Low::Lua(Payload::Bits(bits), Known::Value(next()))
                }
            };
            self.values[v] = Some(value);
        }
    }

    fn lower_block(&mut self, block: Block) {
        let low = self.block(block);
        let data = &self.f.blocks[block];
        if let Some(quiet) = self.quiet.get(&block) {
            let (kept, last, base) = (quiet.kept, quiet.last, quiet.base());
            self.emit().switch_to_loop(low, kept);
            self.emit().fix_base(base);
            self.last = Some(last);
        } else if data.is_loop {
            self.emit().switch_to_loop(low, Regions::default());
            self.emit().begin_loop();
        } else {
            self.emit().switch_to(low);
        }
        self.generic.begin_block();
        self.polls_rarely = self.rare_polls.contains(&block);
        self.called = false;
        self.current.clear();
        // they store values that this block has loaded
        self.exits.clear();
        for &(v, _) in &data.params {
            self.current.insert(v, self.low(v));
        }
        for inst in &data.insts {
            self.in_frame(inst.frame);
            self.emit().set_source(inst.pc);
            self.emit().begin_unstored();
            self.inst(inst);
            self.homes.step(self.f, inst);
        }
        self.end(block, &data.end);
        if self.last == Some(block) {
            self.last = None;
            self.emit().fix_base(None);
        }
    }

    /// Finds the heads of loops that do not dominate their whole loop.
    fn find_entered_loops(&mut self) {
        let f = self.f;
        if !f.order.iter().any(|&block| f.blocks[block].is_loop) {
            return;
        }
        let dominators = Dominators::of(f).expect("blocks are in the order where they are reached");
        for (n, &block) in f.order.iter().enumerate() {
            for target in f.blocks[block].end.targets() {
                let head = dominators.place(target.block);
                if head <= n && !dominators.dominates(head, n) {
                    let head = self.block(target.block);
                    self.emit().note_entered_elsewhere(head);
                }
            }
        }
    }

    /// Emits code for a frame from here on.
    fn in_frame(&mut self, frame: Frame) {
        self.generic.in_frame(frame.index());
    }

    /// Returns the register relative to its own frame, which is that of `inst`.
    fn own(&self, inst: &Inst, r: Reg) -> Reg {
        Reg::new(r.index() - self.f.frames[inst.frame].offset)
    }

    fn low(&self, v: Value) -> Low {
        self.values[v].unwrap_or_else(|| panic!("{v} is defined before it is used:\n{}", self.f))
    }

    /// Returns the register from whose home slot a value is to be loaded because it was live across
    /// a call.
    fn crossed_home(&self, v: Value) -> Option<Reg> {
        let is_constant = self.immediates.contains(v);
        if !self.has_crossed(v) || is_constant || self.current.contains_key(&v) {
            return None;
        }
        self.homes.find(self.f.origin(v))
    }

    /// Returns whether a value was live across a call and should be loaded again.
    fn has_crossed(&self, v: Value) -> bool {
        self.crossings.calls && (self.called || self.crossings.crossed.contains(v))
    }

    /// Returns payload and tag.
    fn lua(&mut self, v: Value) -> (Payload, Known) {
        let is_own = self.f.own == Some(self.f.origin(v));
        if is_own && self.has_crossed(v) && !self.current.contains_key(&v) {
            let closure = self.emit().own_closure();
            let closure = Low::Lua(Payload::Bits(closure), Known::Tag(Tag::FUNCTION));
            self.current.insert(v, closure);
        } else if let Some(r) = self.crossed_home(v) {
            let (payload, tag) = self.load_home(r, self.f.ty(v));
            self.current.insert(v, Low::Lua(payload, tag));
        }
        let low = self.current.get(&v).copied().unwrap_or_else(|| self.low(v));
        match low {
            Low::Lua(payload, tag) => (payload, tag),
            Low::Condition(_) | Low::Equal(..) | Low::IsInteger(..) => {
                unreachable!("a condition is no Lua value")
            }
        }
    }

    /// Loads a value of this type from a home slot.
    fn load_home(&mut self, r: Reg, ty: Type) -> (Payload, Known) {
        let tag = ty.tag().map(Known::Tag);
        if ty == Type::Is(Tag::FLOAT) {
            let (float, tag) = self.emit().load_home(r, F64, tag);
            return (Payload::Float(float), tag);
        }
        let (bits, tag) = self.emit().load_home(r, I64, tag);
        (Payload::Bits(bits), tag)
    }

    fn tag(&mut self, v: Value) -> Known {
        self.lua(v).1
    }

    /// Returns the payload as an integer.
    fn bits(&mut self, v: Value) -> ir::Value {
        match self.lua(v).0 {
            Payload::Bits(bits) => bits,
            Payload::Float(float) => self.emit().float_bits(float),
        }
    }

    /// Returns the payload as a float.
    fn float(&mut self, v: Value) -> ir::Value {
        match self.lua(v).0 {
            Payload::Float(float) => float,
            Payload::Bits(bits) => self.emit().bits_float(bits),
        }
    }

    fn set(&mut self, inst: &Inst, low: Low) {
        let v = inst.result.expect("it has a result");
        self.values[v] = Some(low);
        self.current.insert(v, low);
    }

    /// Sets the result of an instruction to a value with this payload and tag.
    fn set_lua(&mut self, inst: &Inst, payload: Payload, tag: Known) {
        self.set(inst, Low::Lua(payload, tag));
    }

    /// Sets the result of an instruction to a value of any type.
    fn set_any(&mut self, inst: &Inst, (bits, tag): (ir::Value, ir::Value)) {
        self.set_lua(inst, Payload::Bits(bits), Known::Value(tag));
    }

    fn set_int(&mut self, inst: &Inst, bits: ir::Value) {
        self.set_lua(inst, Payload::Bits(bits), Known::Tag(Tag::INTEGER));
    }

    fn set_float(&mut self, inst: &Inst, float: ir::Value) {
        self.set_lua(inst, Payload::Float(float), Known::Tag(Tag::FLOAT));
    }

    /// Returns the stores that are needed so that the registers of a state are in their home slots.
    fn stores(&self, state: State) -> Vec<(Reg, Value)> {
        let registers = self.f.states[state].registers.iter();
        let is_home = |r, v| self.homes.get(r) == Some(self.f.origin(v));
        registers.filter(|&&(r, v)| !is_home(r, v)).copied().collect()
    }

    /// Returns the store of a value to the home slot of a register.
    fn home(&mut self, register: Reg, v: Value) -> Home {
        let (payload, tag) = self.lua(v);
        let payload = match payload {
            Payload::Bits(v) | Payload::Float(v) => v,
        };
        let held = self.homes.get(register).map(|held| self.f.ty(held));
        let has_tag = matches!((held, tag), (Some(Type::Is(held)), Known::Tag(tag)) if held == tag);
        Home { register, payload, tag: (!has_tag).then_some(tag) }
    }

    fn homes_of(&mut self, stores: &[(Reg, Value)]) -> Vec<Home> {
        stores.iter().map(|&(r, v)| self.home(r, v)).collect()
    }

    /// Returns the block that exits in this state, for the guards of an instruction. In the mode
    /// `exit-stress`, the exit may be taken here.
    fn exit(&mut self, state: State) -> ir::Block {
        let block = self.exit_block(state);
        self.emit().stress_exit(block);
        block
    }

    fn exit_block(&mut self, state: State) -> ir::Block {
        let stores = self.stores(state);
        let key = (state, stores.iter().map(|&(r, _)| r).collect());
        if let Some(&block) = self.exits.get(&key) {
            return block;
        }
        let block = self.emit().cold_block();
        let mut homes = self.homes_of(&stores);
        homes.extend(self.virtual_homes(state));
        let left = self.left(state);
        self.emit().deoptimize_storing(block, left, homes);
        self.exits.insert(key, block);
        block
    }

    /// Returns the frame state for an exit in a state whose registers are in their home slots.
    fn left(&self, state: State) -> FrameState {
        let state = &self.f.states[state];
        let has_virtuals = state.has_virtuals();
        FrameState::home(state.pc, if has_virtuals { Point::Virtual } else { Point::Before })
    }

    /// Executes the instruction of a state by generic code.
    fn generic(&mut self, state: State) -> (Vec<crate::generic::single::Way>, bool) {
        let held = self.begin_generic(state);
        let found = self.generic.instruction(self.f.states[state].pc, &held);
        self.end_generic();
        found
    }

    /// Stores the registers of a state, and the frame headers; returns what is known about the
    /// registers.
    fn begin_generic(&mut self, state: State) -> Vec<Held> {
        let stores = self.stores(state);
        let homes = self.homes_of(&stores);
        self.emit().store_homes(&homes);
        self.emit().materialize();
        self.held(state)
    }

    /// Updates the state after generic code has executed an instruction.
    fn end_generic(&mut self) {
        self.called = true;
        self.current.clear();
    }

    /// Returns what is known about the registers of the frame in a state.
    fn held(&mut self, state: State) -> Vec<Held> {
        let FrameData { offset, ref proto, .. } = self.f.frames[self.f.states[state].frame];
        let own = offset..offset + usize::from(proto.max_stack);
        let registers = self.f.states[state].registers.iter();
        let own = registers.filter(|(r, _)| own.contains(&r.index()));
        own.map(|&(r, v)| {
            let register = Reg::new(r.index() - offset);
            if self.crossed_home(v).is_some() {
                let tag = self.f.ty(v).tag().map(Known::Tag);
                return Held { register, payload: None, tag };
            }
            let (payload, tag) = self.lua(v);
            Held { register, payload: Some(payload), tag: Some(tag) }
        })
        .collect()
    }

    fn inst(&mut self, inst: &Inst) {
        if let (Op::Integer(_) | Op::Float(_) | Op::Primitive(_), Some(v)) = (inst.op, inst.result)
        {
            self.immediates.insert(v);
        }
        match inst.op {
            Op::Integer(n) => {
                self.integers.insert(inst.result.expect("it has a result"), n);
                let v = self.emit().int(n);
                self.set_int(inst, v);
            }
            Op::Float(bits) => {
                let v = self.emit().ins().f64const(f64::from_bits(bits));
                self.set_float(inst, v);
            }
            Op::Primitive(tag) => {
                let zero = self.emit().int(0);
                self.set_lua(inst, Payload::Bits(zero), Known::Tag(tag));
            }
            Op::Str(n) => {
                let (bits, tag) = self.emit().constant(n);
                self.set_lua(inst, Payload::Bits(bits), Known::Tag(tag));
            }
            Op::Register(r) => {
                let v = inst.result.expect("it has a result");
                let r = self.own(inst, r);
                let (payload, tag) = self.generic.register(r, self.f.ty(v).tag());
                self.set_lua(inst, payload, tag);
            }
            Op::SetRegister(r, v) => {
                let (bits, tag) = (self.bits(v), self.tag(v));
                let tag = self.emit().tag_value(tag);
                self.emit().store_home(r, bits, tag);
            }
            Op::Upvalue(closure, n) => self.load_upvalue(inst, closure, n),
            Op::SetUpvalue(closure, n, v) => self.set_upvalue(closure, n, v),
            Op::OwnClosure => {
                let closure = self.emit().closure();
                self.set_lua(inst, Payload::Bits(closure), Known::Tag(Tag::FUNCTION));
            }
            Op::ExtraCount => {
                let n = self.emit().extra_count();
                self.set_int(inst, n);
            }
            Op::Extra(index, state) => {
                let other = self.exit(state);
                let index = self.bits(index);
                let v = self.emit().extra_argument(index, other);
                self.set_any(inst, v);
            }
            Op::GuardConstants(state) => {
                let other = self.exit(state);
                self.emit().guard_constants(other);
            }
            Op::GuardLibrary(v, number, state) => {
                let other = self.exit(state);
                let function = self.bits(v);
                self.emit().guard_builtin(function, number, other);
            }
            Op::Library(library, args, state) => self.library(inst, library, args, state),
            Op::SetClass(table, class, state) => {
                self.set_metatable(table, Metatable::WithIndex(class), state);
            }
            Op::SetMetatable(table, meta, state) => {
                self.set_metatable(table, Metatable::Is(meta), state);
            }
            Op::GuardMetatable(metatable, state) => self.guard_metatable(metatable, state),
            Op::GuardNoNewIndex(metatable, state) => self.guard_no_new_index(metatable, state),
            Op::GuardNotNil(v, state) => {
                let other = self.exit(state);
                let tag = self.tag(v);
                let tag = self.emit().tag_value(tag);
                self.emit().guard(tag, other);
            }
            Op::GuardNoMetatable(v, state) => {
                let other = self.exit(state);
                let table = self.bits(v);
                let meta = self.emit().meta(table);
                self.emit().guard_not(meta, other);
            }
            Op::GuardDistinct(one, other, state) => {
                let exit = self.exit(state);
                let (one, other) = (self.bits(one), self.bits(other));
                let is_same = self.emit().ins().icmp(IntCC::Equal, one, other);
                self.emit().guard_not(is_same, exit);
            }
            Op::Traversal(table, state) => self.traversal(inst, table, state),
            Op::Bound(v) => {
                let function = self.bits(v);
                let bound = self.emit().bound(function);
                self.set_lua(inst, Payload::Bits(bound), Known::Tag(Tag::NATIVE));
            }
            Op::SetTop(r) => {
                let r = self.own(inst, r);
                self.emit().set_top(r);
            }
            Op::GuardMethod(v, slot, state) => {
                let other = self.exit(state);
                let closure = self.bits(v);
                self.guard_method(closure, slot, other);
            }
            Op::Handler(metatable, state) => {
                let other = self.exit(state);
                let record = self.emit().handler_record(inst.pc, other);
                let meta = self.metatable_word(metatable);
                self.emit().guard_chain(record, meta, other, other);
                let method = self.emit().method(record, other);
                self.set_lua(inst, Payload::Bits(method), Known::Tag(Tag::FUNCTION));
            }
            Op::NewTable(object, state) => self.new_table(inst, object, state),
            Op::Allocate(state) => self.allocate(inst, state),
            Op::Select(index, list, state) => self.select(inst, index, list, state),
            Op::SetList(table, list, expected, state) => {
                self.set_list(inst, table, (list, expected), state);
            }
            Op::Closure(_, state) => self.closure(inst, state),
            Op::GuardInner(n, state) => {
                let other = self.exit(state);
                self.emit().inner_instance(n, other);
            }
            Op::Inline(frame, closure) => {
                let closure = self.bits(closure);
                self.emit().begin_inlined(frame.index(), closure);
            }
            Op::InlineInner(frame, n) => self.emit().begin_inlined_inner(frame.index(), n),
            Op::Guard(v, tag, state) | Op::Speculate(v, tag, state) => {
                self.guard(inst, v, tag, state);
            }
            Op::GuardShape(v, shapes, state) => {
                let other = self.exit(state);
                self.guard_shape(v, shapes, other);
            }
            Op::HasShape(v, shape) => {
                let same = self.has_shape(v, shape);
                self.set(inst, Low::Condition(same));
            }
            Op::IntArith(operator, x, y, state) => {
                let slow = inst.op.state().map(|_| self.exit(state));
                let constant = self.integers.get(&y).copied();
                let (x, y) = (self.bits(x), self.bits(y));
                // only instructions that exit have an exit block
                let slow = slow.unwrap_or(ir::Block::new(0));
                let v = self.emit().int_operator(operator, x, y, constant, slow);
                self.set_int(inst, v);
            }
            Op::NumberArith(operator, x, y, state)
                if inst.result.is_some_and(|v| self.as_floats.contains(v)) =>
            {
                self.sum(inst, operator, [x, y], state);
            }
            Op::NumberArith(operator, x, y, state) => {
                self.number_arith(inst, operator, (x, y), state);
            }
            Op::Rounds(x, y) => {
                let (x, y) = (self.bits(x), self.bits(y));
                let v = self.emit().ins().udiv(x, y);
                self.set_int(inst, v);
            }
            Op::FloorQuotient(v, divisor) => {
                let v = self.bits(v);
                let v = self.emit().floor_quotient(v, divisor);
                self.set_int(inst, v);
            }
            Op::FloatArith(operator, x, y) => {
                // machine instructions take a constant from memory only as the second operand
                let commutes = matches!(operator, Operator::Add | Operator::Mul);
                let swaps = commutes && self.immediates.contains(x);
                let (x, y) = if swaps { (y, x) } else { (x, y) };
                let (x, y) = (self.float(x), self.float(y));
                let v = self.emit().float_operator(operator, x, y);
                self.set_float(inst, v);
            }
            Op::ToFloat(v) => {
                let v = self.bits(v);
                let v = self.emit().int_to_float(v);
                self.set_float(inst, v);
            }
            Op::NumberToFloat(v, _) if self.sums.contains_key(&v) => {
                self.set_float(inst, self.sums[&v].float);
            }
            Op::NumberToFloat(v, state) => {
                let slow = self.exit(state);
                let (tag, bits, float) = (self.tag(v), self.bits(v), self.float(v));
                let v = self.emit().number_to_float(tag, bits, float, slow);
                self.set_float(inst, v.expect("it may be a number"));
            }
            Op::NumberToInt(v, state) => {
                let slow = self.exit(state);
                let (tag, bits, float) = (self.tag(v), self.bits(v), self.float(v));
                let v = self.emit().number_to_int(tag, bits, float, slow);
                self.set_int(inst, v.expect("it may be a number"));
            }
            Op::LoopLimit(v, ascends, state) => {
                let slow = self.exit(state);
                let (tag, bits, float) = (self.tag(v), self.bits(v), self.float(v));
                let v = self.emit().loop_limit(tag, bits, float, ascends, slow);
                self.set_int(inst, v.expect("it may be a number"));
            }
            Op::GuardNotBothInt(x, y, state) => self.guard_not_both_int(x, y, state),
            Op::CompareInt(cc, x, y) => {
                let (x, y) = (self.bits(x), self.bits(y));
                let c = self.emit().ins().icmp(cc, x, y);
                self.set(inst, Low::Condition(c));
            }
            Op::CompareFloat(cc, x, y) => {
                let (x, y) = (self.float(x), self.float(y));
                let c = self.emit().ins().fcmp(cc, x, y);
                self.set(inst, Low::Condition(c));
            }
            Op::CompareNumber(cc, float_cc, x, y, state) => {
                self.compare_numbers(inst, (cc, float_cc), (x, y), state);
            }
            Op::Same(x, y) => {
                let (x, y) = (self.bits(x), self.bits(y));
                let c = self.emit().ins().icmp(IntCC::Equal, x, y);
                self.set(inst, Low::Condition(c));
            }
            Op::IsString(x, y) => {
                let tag = self.tag(x);
                let tag = self.emit().tag_value(tag);
                let (x, y) = (self.bits(x), self.bits(y));
                let c = self.emit().is_value(x, tag, y, Tag::STRING);
                self.set(inst, Low::Condition(c));
            }
            Op::IsInteger(v, n) => self.set(inst, Low::IsInteger(v, n)),
            Op::Equal(x, y, state) => self.set(inst, Low::Equal(x, y, state)),
            Op::HasTag(v, tag) => {
                let t = self.tag(v);
                let t = self.emit().tag_value(t);
                let c = self.emit().is_tag(t, tag);
                self.set(inst, Low::Condition(c));
            }
            Op::IsTrue(v) => {
                let t = self.tag(v);
                let t = self.emit().tag_value(t);
                let c = self.emit().is_truthy(t);
                self.set(inst, Low::Condition(c));
            }
            Op::Not(v) => {
                let t = self.tag(v);
                let t = self.emit().tag_value(t);
                let falsy = self.emit().is_falsy(t);
                let (yes, no) = (self.emit().tag(Tag::TRUE), self.emit().tag(Tag::FALSE));
                let tag = self.emit().ins().select(falsy, yes, no);
                let zero = self.emit().int(0);
                self.set_any(inst, (zero, tag));
            }
            Op::Field(table, slot, absent, state) => {
                self.field(inst, table, (slot, absent), state);
            }
            Op::FieldOf(table, slot, tag, state) => self.field_of(inst, table, (slot, tag), state),
            Op::Reload(table, slot, (tag, method), state) => {
                self.reload(inst, table, slot, (tag, method), state);
            }
            Op::SetField(table, slot, v, checks, state) => {
                let other = self.exit(state);
                let value = self.stored(v);
                let table = self.bits(table);
                let stored = (value.bits, value.known);
                if checks.watched {
                    self.emit().before_field_store(table, stored, other);
                }
                if checks.absent {
                    self.emit().guard_stores_field(table, slot, other);
                }
                self.emit().store_field(table, slot, value, checks.tag);
                if !checks.watched {
                    self.emit().barrier(table, stored);
                }
                let key = self.instr(inst).b();
                self.emit().verify_field(inst.pc, table, key, (value.bits, value.tag));
            }
            Op::AddField(table, v, gain, state) => self.add_field(inst, table, v, gain, state),
            Op::ChainField(meta, chain, state) => self.chain_field(inst, meta, chain, state),
            Op::StringMethod(v, method, state) => self.string_method(inst, v, method, state),
            Op::Epoch => {
                let epoch = self.emit().epoch();
                self.set_int(inst, epoch);
            }
            Op::GuardEpoch(v, state) => self.guard_epoch(v, state),
            Op::Counts(..) => unreachable!("a pass removes it"),
            Op::GuardRange(table, indices, range, state) => {
                self.guard_range(table, indices, range, state);
            }
            Op::Number(table, key, tag, is_inside, state) => {
                self.number(inst, (table, key), (tag, is_inside), state);
            }
            Op::Element(table, key, state) => {
                let wrong = self.exit(state);
                let (table, key) = (self.bits(table), self.bits(key));
                let value = self.emit().any_element(table, key, wrong);
                self.emit().verify_element(inst.pc, table, key, value);
                self.set_any(inst, value);
            }
            Op::Boolean(table, key, state) => {
                let wrong = self.exit(state);
                let (table, key) = (self.bits(table), self.bits(key));
                let value = self.emit().boolean_element(table, key, wrong);
                self.emit().verify_element(inst.pc, table, key, value);
                self.set_any(inst, value);
            }
            Op::ElementOrNil(table, key, state) => {
                let wrong = self.exit(state);
                let (table, key) = (self.bits(table), self.bits(key));
                let seen = self.generic.elements_seen(inst.pc);
                let value = self.emit().element_or_nil(inst.pc, (table, key), seen, wrong);
                self.set_any(inst, value);
            }
            Op::SetElement(table, key, v, changes, state) => {
                let slow = self.exit(state);
                let value = self.stored(v);
                let (table, key) = (self.bits(table), self.bits(key));
                // a value that may be nil occasionally removes elements
                let exits = match value.known {
                    Known::Tag(tag) => tag != Tag::NIL,
                    Known::Value(_) => self.numbers.contains(v),
                };
                let seen = ElementStore { exits, changes, ..self.generic.element_store(inst.pc) };
                let done = self.emit().block();
                self.emit().store_element(inst.pc, (table, key), value, seen, (slow, done));
                self.emit().switch_to(done);
            }
            Op::Global(closure, n, access, state) => self.global(inst, (closure, n), access, state),
            Op::GuardOwn(v, state) => self.guard_own(v, state),
            Op::Length(v, state) => self.length(inst, v, state),
            Op::Poll(state, is_quiet) => self.poll(inst, state, is_quiet),
            Op::CheckField(table, v) => {
                let (table, v) = (self.bits(table), self.stored(v));
                let i = self.instr(inst);
                let is_store = matches!(i.op(), Bytecode::SetField | Bytecode::SetFieldK);
                let key = if is_store { i.b() } else { i.c() };
                self.emit().verify_field(inst.pc, table, key, (v.bits, v.tag));
            }
            Op::CheckUpvalue(closure, n, v) => {
                let v = self.stored(v);
                let up = self.upvalue(closure, n);
                let place = self.emit().upvalue_place(up);
                self.emit().verify_variable(inst.pc, place, (v.bits, v.tag));
            }
            Op::CheckRegister(r, v) => {
                let v = self.stored(v);
                let base = self.emit().current_base();
                let at = i64::from(frame::slot(r.index()));
                let place = self.emit().ins().iadd_imm_s(base, at);
                self.emit().verify_variable(inst.pc, place, (v.bits, v.tag));
            }
            Op::CheckGlobal(closure, v) => self.check_global(inst, closure, v),
            Op::FastPath(state) => {
                let exit = self.exit(state);
                let held = self.held(state);
                self.generic.fast_path(inst.pc, &held, exit);
            }
            Op::Generic(state) => {
                self.generic(state);
            }
            Op::Call(state) => self.call(inst, state),
        }
    }

    fn instr(&self, inst: &Inst) -> perilune_bytecode::Instr {
        inst.pc.instr(&self.f.frames[inst.frame].proto)
    }

    fn stored(&mut self, v: Value) -> Stored {
        let (bits, known) = (self.bits(v), self.tag(v));
        let tag = self.emit().tag_value(known);
        Stored { bits, tag, known }
    }

    fn guard(&mut self, inst: &Inst, v: Value, tag: Tag, state: State) {
        let wrong = self.exit(state);
        let known = self.tag(v);
        if !self.emit().require(&[known], tag, wrong) {
            // it never has the tag: the code that follows is unreachable
            self.emit().jump(wrong);
            let rest = self.emit().block();
            self.emit().switch_to(rest);
        }
        let payload = match tag {
            Tag::FLOAT => Payload::Float(self.float(v)),
            _ => Payload::Bits(self.bits(v)),
        };
        self.set_lua(inst, payload, Known::Tag(tag));
    }

    /// Ends the block: jumps to `yes` if two values are equal, and to `no` otherwise.
    fn branch_if_equal(
        &mut self,
        (x, y): (Value, Value),
        state: State,
        (yes, no): (ir::Block, ir::Block),
    ) {
        let slow = self.exit(state);
        let tags = [self.tag(x), self.tag(y)].map(|tag| self.emit().tag_value(tag));
        let bits = [x, y].map(|v| self.bits(v));
        let (x, y) = ((bits[0], tags[0]), (bits[1], tags[1]));
        let mixed = self.emit().cold_block();
        self.emit().equal_values(x, y, (yes, no), mixed, slow);
        self.emit().switch_to(mixed);
        let equal = self.emit().equal_numbers(x, y);
        self.emit().branch(equal, yes, no);
    }

    fn poll(&mut self, inst: &Inst, state: State, is_quiet: bool) {
        let stores = self.stores(state);
        let mut homes = self.homes_of(&stores);
        homes.extend(self.virtual_homes(state));
        let pc = self.f.states[state].pc;
        let has_virtuals = self.f.states[state].has_virtuals();
        self.emit().charge(inst.pc, pc);
        let left = self.iterations_left(inst, state).filter(|_| self.polls_rarely);
        let left = left.map(|left| self.bits(left));
        self.emit().poll_in_loop(pc, &homes, has_virtuals, is_quiet, left);
    }

    /// Returns the number of further iterations at the poll of a counting loop.
    fn iterations_left(&self, inst: &Inst, state: State) -> Option<Value> {
        let i = self.instr(inst);
        let count = Reg::new(self.f.frames[inst.frame].offset + i.a() + 1);
        let held = self.f.states[state].registers.iter().find(|&&(r, _)| r == count);
        let &(_, left) = held.filter(|_| i.op() == Bytecode::ForLoop)?;
        (self.f.ty(left) == Type::Is(Tag::INTEGER)).then_some(left)
    }

    fn end(&mut self, block: Block, end: &End) {
        match end {
            End::Open => unreachable!("blocks that are reached have an end"),
            End::Jump(target) => {
                self.enter_loop(target.block);
                let mut args = Vec::new();
                let params = &self.f.blocks[target.block].params;
                for (&(param, _), &arg) in params.iter().zip(&target.args) {
                    match self.f.ty(param) {
                        Type::Is(Tag::FLOAT) => args.push(self.float(arg)),
                        Type::Is(_) => args.push(self.bits(arg)),
                        _ => {
                            args.push(self.bits(arg));
                            let tag = self.tag(arg);
                            args.push(self.emit().tag_value(tag));
                        }
                    }
                }
                let to = self.block(target.block);
                self.emit().jump_with_all(to, &args);
            }
            End::Branch(condition, yes, no) => {
                let stays = self.layout.stays(block, yes.block, no.block);
                let (yes, no) = (self.block(yes.block), self.block(no.block));
                match self.low(*condition) {
                    Low::Lua(..) => unreachable!("a branch is on a condition"),
                    Low::Condition(condition) if stays => {
                        self.emit().branch_unless(condition, no, yes);
                    }
                    Low::Condition(condition) => self.emit().branch(condition, yes, no),
                    Low::Equal(x, y, state) => self.branch_if_equal((x, y), state, (yes, no)),
                    Low::IsInteger(v, n) => {
                        let tag = self.tag(v);
                        let tag = self.emit().tag_value(tag);
                        let value = (self.bits(v), self.float(v), tag);
                        self.emit().branch_if_integer(value, n, (yes, no));
                    }
                }
            }
            End::Return(v) => {
                let (bits, tag) = (self.bits(*v), self.tag(*v));
                let tag = self.emit().tag_value(tag);
                self.emit().return_one(bits, tag);
            }
            End::ReturnNone => {
                let nil = self.emit().int(0);
                self.emit().return_none(nil);
            }
            End::Exit(state) => {
                self.in_frame(self.f.states[*state].frame);
                let stores = self.stores(*state);
                let mut homes = self.homes_of(&stores);
                homes.extend(self.virtual_homes(*state));
                let left = self.left(*state);
                let block = self.emit().cold_block();
                self.emit().jump(block);
                self.emit().deoptimize_storing(block, left, homes);
            }
            End::Generic(state, targets) => {
                self.in_frame(self.f.states[*state].frame);
                let (ways, open) = self.generic(*state);
                if open {
                    // control continues after the instruction
                    let (_, last) = targets.last().expect("it continues");
                    let to = self.block(last.block);
                    self.emit().jump(to);
                }
                for way in ways {
                    self.emit().switch_to(way.block);
                    let to = targets.iter().find(|(pc, _)| *pc == way.target);
                    let to = self.block(to.expect("it is a successor").1.block);
                    self.emit().jump(to);
                }
            }
        }
    }
}
