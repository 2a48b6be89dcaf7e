//! Replaces tables that do not escape with values.

use cranelift_codegen::entity::{EntityRef, EntitySet, SecondaryMap};
use perilune_runtime::value::Tag;

use super::keys::Key;
use super::uses::{Allocation, Tables, loaded_key};
use crate::entity::{Pc, Reg};
use crate::hash::HashMap;
use crate::tier2::dominators::Dominators;
use crate::tier2::ir::{
    Block, Checks, Content, Frame, FrameState, Function, Inst, Metatable, Op, State, Type, Value,
    VirtualTable,
};
use crate::tier2::passes::dce::retain;
use crate::tier2::passes::params::rename;

/// A variable that stands for a part of a table: the table, and the number of the field, or
/// [`METATABLE`].
type Part = (Value, usize);

const METATABLE: usize = usize::MAX;

/// A state before the pass, and its contents after the pass: registers and tables.
type StateKey = (State, Vec<(Reg, Value)>, Vec<VirtualTable>);

struct Replacer<'a> {
    f: &'a mut Function,
    tables: &'a Tables,
    /// The blocks at the other ends of the edges to a block.
    predecessors: SecondaryMap<Block, Vec<Block>>,
    /// The values of parts of tables that are block parameters.
    params: HashMap<Part, Value>,
    /// The values of parts of allocated tables at the beginning and at the end of blocks.
    starts: HashMap<(Part, Block), Value>,
    ends: HashMap<(Part, Block), Value>,
    /// The values of parts at the current position in the current block.
    current: HashMap<Part, Value>,
    block: Block,
    /// Tables of the current block whose metatables have been set.
    with_metatable: EntitySet<Value>,
    /// Fields to which the current block has stored, among those with [`Key::since`].
    stored: Vec<Part>,
    dominators: Dominators,
    /// Blocks with new parameters for which arguments are to be passed, in the order of the
    /// parameters.
    pending: Vec<(Block, Part)>,
    /// The tables that are allocated outside the loops that create them.
    allocated: HashMap<Value, Value>,
    states: HashMap<StateKey, State>,
    replaced: SecondaryMap<Value, Option<Value>>,
}

/// Replaces the tables.
pub(super) fn run(f: &mut Function, tables: &Tables) {
    let predecessors = f.predecessors();
    let dominators = Dominators::of(f).expect("blocks are in the order where they are reached");
    let block = f.order[0];
    let mut replacer = Replacer {
        f,
        tables,
        predecessors,
        params: HashMap::default(),
        starts: HashMap::default(),
        ends: HashMap::default(),
        current: HashMap::default(),
        block,
        with_metatable: EntitySet::new(),
        stored: Vec::new(),
        dominators,
        pending: Vec::new(),
        allocated: HashMap::default(),
        states: HashMap::default(),
        replaced: SecondaryMap::new(),
    };
    for n in 0..replacer.f.order.len() {
        replacer.replace_in(replacer.f.order[n]);
    }
    replacer.pass_arguments();
    replacer.remove_params();
    rename(replacer.f, &replacer.replaced);
}

impl Replacer<'_> {
    fn replace_in(&mut self, block: Block) {
        self.block = block;
        self.current.clear();
        self.with_metatable.clear();
        self.stored.clear();
        let insts = std::mem::take(&mut self.f.blocks[block].insts);
        for table in self.tables.placed_in(block) {
            self.allocate(table, &insts);
        }
        for mut inst in insts {
            let Replacer { f, tables, allocated, .. } = self;
            f.map_args(&mut inst.op, |v| made_outside(tables, allocated, block, v));
            if let Some(state) = inst.op.state_mut()
                && let Some(changed) = self.with_virtuals(*state)
            {
                *state = changed;
                let has_virtuals = self.f.states[changed].has_virtuals();
                if let Op::Poll(_, is_quiet) = &mut inst.op
                    && has_virtuals
                {
                    // other code may change a table that has been built for it
                    *is_quiet = true;
                }
            }
            self.inst(inst);
        }
        let mut end = std::mem::take(&mut self.f.blocks[block].end);
        end.map(|v| self.outside(v));
        if let Some(state) = end.state_mut() {
            *state = self.with_virtuals(*state).unwrap_or(*state);
        }
        self.f.blocks[block].end = end;
        for (part, v) in self.current.drain() {
            self.ends.insert((part, block), v);
        }
    }

    /// Returns the value that replaces a value in the current block.
    fn outside(&self, v: Value) -> Value {
        made_outside(self.tables, &self.allocated, self.block, v)
    }

    /// Allocates a table for code outside the loop that creates it, before the instructions of the
    /// current block.
    fn allocate(&mut self, table: Value, insts: &[Inst]) {
        let mut found = Vec::new();
        self.virtual_table(table, &mut found);
        let virtuals: Vec<VirtualTable> = found.into_iter().map(|(_, table)| table).collect();
        let (frame, pc) = self.place(insts);
        let state = FrameState { virtuals, ..FrameState::new(frame, pc, Vec::new()) };
        let state = self.f.states.push(state);
        let result = self.f.value(Type::Is(Tag::TABLE));
        let insts = &mut self.f.blocks[self.block].insts;
        insts.push(Inst { pc, frame, result: Some(result), op: Op::Allocate(state) });
        self.allocated.insert(table, result);
    }

    /// Returns the frame that is running at the beginning of the current block, and the instruction
    /// there. The headers of the frame and of its callers can be stored. Those of a frame that has
    /// ended cannot, as there may be variables in their slots.
    fn place(&self, insts: &[Inst]) -> (Frame, Pc) {
        let mut block = self.block;
        let mut first = insts.first();
        for _ in 0..self.f.order.len() {
            match first {
                Some(&Inst { op: Op::Inline(frame, _) | Op::InlineInner(frame, _), .. }) => {
                    let caller = self.f.frames[frame].caller.expect("it is inlined");
                    return (caller.frame, caller.pc - 1);
                }
                Some(inst) => return (inst.frame, inst.pc),
                None => {}
            }
            let end = &self.f.blocks[block].end;
            if let Some(state) = end.state() {
                return (self.f.states[state].frame, self.f.states[state].pc);
            }
            // what is live in a block without instructions is what its successor uses
            let Some(next) = end.targets().next() else { break };
            block = next.block;
            first = self.f.blocks[block].insts.first();
        }
        let outermost = Frame::new(0);
        (outermost, Pc::new(self.f.frames[outermost].proto.code.len() - 1))
    }

    fn keep(&mut self, inst: Inst, op: Op) {
        self.f.blocks[self.block].insts.push(Inst { op, ..inst });
    }

    /// Replaces or keeps an instruction.
    fn inst(&mut self, inst: Inst) {
        let is_virtual = |v| self.tables.is_virtual(v);
        match inst.op {
            Op::NewTable(..) if inst.result.is_some_and(is_virtual) => self.allocation(inst),
            Op::GuardShape(v, ..) | Op::CheckField(v, _) if is_virtual(v) => {}
            Op::Guard(v, ..) | Op::Speculate(v, ..) if is_virtual(v) => {}
            Op::Field(v, .., state) if is_virtual(v) => {
                let value = self.field(v, &inst);
                if self.f.ty(value).tag().is_none_or(|tag| tag == Tag::NIL) {
                    let guard = Inst { result: None, ..inst };
                    self.keep(guard, Op::GuardNotNil(value, state));
                }
                self.replaced[inst.result.expect("it has a result")] = Some(value);
            }
            Op::FieldOf(v, _, tag, state) if is_virtual(v) => {
                let (value, result) = (self.field(v, &inst), inst.result.expect("it has one"));
                if self.f.ty(value) == Type::Is(tag) {
                    self.replaced[result] = Some(value);
                } else {
                    self.f.values[result].origin = Some(self.f.origin(value));
                    self.keep(inst, Op::Guard(value, tag, state));
                }
            }
            Op::SetField(v, _, value, ..) | Op::AddField(v, value, ..) if is_virtual(v) => {
                let key = inst.pc.instr(&self.f.frames[inst.frame].proto).b();
                let n = self.tables.field(self.f, v, &inst, key).expect("it has the field");
                let part = (self.tables.original(v), n);
                let before = self.part(part);
                let may_be_nil = self.f.ty(before).tag().is_none_or(|tag| tag == Tag::NIL);
                let asks =
                    !matches!(inst.op, Op::SetField(_, _, _, Checks { absent: false, .. }, _));
                if may_be_nil
                    && asks
                    && let Some(metatable) = self.metatable(v)
                    && let Some(state) = inst.op.state()
                {
                    self.keep(inst, Op::GuardNoNewIndex(metatable, state));
                }
                self.stored.push(part);
                self.current.insert(part, value);
            }
            Op::SetMetatable(v, meta, state) if is_virtual(v) => {
                self.with_metatable.insert(self.tables.original(v));
                self.keep(inst, Op::GuardMetatable(Metatable::Is(meta), state));
            }
            Op::SetClass(v, class, state) if is_virtual(v) => {
                self.with_metatable.insert(self.tables.original(v));
                self.keep(inst, Op::GuardMetatable(Metatable::WithIndex(class), state));
            }
            Op::Handler(Metatable::Of(v), state) if is_virtual(v) => {
                let metatable = self.metatable(v).expect("it has one");
                self.keep(inst, Op::Handler(metatable, state));
            }
            Op::ChainField(Metatable::Of(v), chain, state) if is_virtual(v) => {
                let metatable = self.metatable(v).expect("it has one");
                self.keep(inst, Op::ChainField(metatable, chain, state));
            }
            op => self.keep(inst, op),
        }
    }

    /// Replaces an allocation with guards that the fields that the table gains are not nil.
    fn allocation(&mut self, inst: Inst) {
        let (Op::NewTable(object, state), Some(table)) = (inst.op, inst.result) else {
            unreachable!("it is an allocation")
        };
        for (n, field) in self.f.objects[object].fields.clone().into_iter().enumerate() {
            let is_there = self.f.ty(field.value).tag().is_some_and(|tag| tag != Tag::NIL);
            if field.is_guarded && !is_there {
                let guard = Inst { result: None, ..inst };
                self.keep(guard, Op::GuardNotNil(field.value, state));
            }
            self.current.insert((table, n), field.value);
        }
        let made = self.tables.allocation(table).expect("it is one");
        let others = self.f.objects[object].fields.len()..made.keys.len();
        if !others.is_empty() {
            let nil = self.f.value(Type::Is(Tag::NIL));
            self.keep(Inst { result: Some(nil), ..inst }, Op::Primitive(Tag::NIL));
            self.current.extend(others.map(|n| ((table, n), nil)));
        }
    }

    /// Returns the value of the field that an instruction loads.
    fn field(&mut self, table: Value, inst: &Inst) -> Value {
        let i = inst.pc.instr(&self.f.frames[inst.frame].proto);
        let field = loaded_key(i).and_then(|key| self.tables.field(self.f, table, inst, key));
        self.part((self.tables.original(table), field.expect("it has the field")))
    }

    /// Returns the metatable of a table, if it has one.
    fn metatable(&mut self, table: Value) -> Option<Metatable> {
        let table = self.tables.original(table);
        if let Some(made) = self.tables.allocation(table) {
            let has_it = made.block != self.block || self.with_metatable.contains(table);
            return made.metatable.filter(|_| has_it);
        }
        let template = self.tables.template(table).metatable?;
        let v = self.part((table, METATABLE));
        Some(match template {
            Metatable::WithIndex(_) => Metatable::WithIndex(v),
            _ => Metatable::Is(v),
        })
    }

    /// Returns the value of a part of a table in the current block.
    fn part(&mut self, part: Part) -> Value {
        match self.current.get(&part) {
            Some(&v) => v,
            None => self.at_start(part, self.block),
        }
    }

    /// Returns the value of a part of a table that is a block parameter.
    fn of_param(&mut self, part: Part) -> Value {
        if let Some(&v) = self.params.get(&part) {
            return v;
        }
        let (block, index) = self.tables.param(part.0).expect("it is a parameter");
        let v = self.add_param(block, self.f.blocks[block].params[index].1, part);
        self.params.insert(part, v);
        v
    }

    /// Returns the value of a part at the beginning of a block.
    fn at_start(&mut self, part: Part, block: Block) -> Value {
        let (table, n) = part;
        match self.tables.allocation(table) {
            None => return self.of_param(part),
            Some(made) if n == METATABLE => {
                return made.metatable.expect("all of the class have one").table();
            }
            Some(made) if made.block != block && self.tables.is_settled(made, n) => {
                return self.ends[&(part, made.block)];
            }
            Some(_) => {}
        }
        if let Some(&v) = self.starts.get(&(part, block)) {
            return v;
        }
        let v = match self.predecessors[block][..] {
            [from] => self.at_end(part, from),
            _ => self.add_param(block, Reg::new(0), part),
        };
        self.starts.insert((part, block), v);
        v
    }

    /// Returns the value of a part at the end of a block.
    fn at_end(&mut self, part: Part, block: Block) -> Value {
        match self.ends.get(&(part, block)) {
            Some(&v) => v,
            None => self.at_start(part, block),
        }
    }

    /// Adds a parameter for a part to a block. Its arguments follow when all blocks are done.
    fn add_param(&mut self, block: Block, register: Reg, part: Part) -> Value {
        let ty = self.type_of(part);
        let v = self.f.value(ty);
        self.f.blocks[block].params.push((v, register));
        self.pending.push((block, part));
        v
    }

    /// Returns the type of a part, for all tables of the class, after the block that allocates it.
    fn type_of(&self, (table, n): Part) -> Type {
        if n == METATABLE {
            return Type::Is(Tag::TABLE);
        }
        let of_one = |made: &Allocation| {
            let stores = || made.stores.iter().filter(|&&(field, ..)| field == n);
            let first = self.f.objects[made.object].fields.get(n).map(|field| field.value);
            let last = stores().rfind(|&&(_, block, _)| block == made.block);
            let last = last.map(|&(.., v)| v).or(first);
            let last = last.map_or(Type::Is(Tag::NIL), |v| self.f.ty(v));
            let others = stores().filter(|&&(_, block, _)| block != made.block);
            others.map(|&(.., v)| self.f.ty(v)).fold(last, Type::join)
        };
        let all = self.tables.same_class(table).map(of_one);
        all.reduce(Type::join).expect("there is one")
    }

    /// Passes the arguments for the new parameters.
    fn pass_arguments(&mut self) {
        let mut n = 0;
        while let Some(&(block, part)) = self.pending.get(n) {
            let mut froms = self.predecessors[block].clone();
            froms.dedup();
            for from in froms {
                let edges = self.f.blocks[from].end.targets().enumerate();
                let edges = edges.filter(|(_, target)| target.block == block);
                let table = self.tables.param(part.0).filter(|&(of, _)| of == block);
                let edges: Vec<(usize, Option<Value>)> = edges
                    .map(|(n, target)| (n, table.map(|(_, index)| target.args[index])))
                    .collect();
                for (edge, passed) in edges {
                    let table = passed.map_or(part.0, |table| self.tables.original(table));
                    let v = self.at_end((table, part.1), from);
                    let mut targets = self.f.blocks[from].end.targets_mut();
                    targets.nth(edge).expect("it was there").args.push(v);
                }
            }
            n += 1;
        }
    }

    /// Removes the parameters that were tables.
    fn remove_params(&mut self) {
        let tables = self.tables;
        for n in 0..self.f.order.len() {
            let block = self.f.order[n];
            let params = self.f.blocks[block].params.iter();
            let kept: Vec<bool> = params.map(|&(param, _)| !tables.is_virtual(param)).collect();
            if kept.iter().all(|&is_kept| is_kept) {
                continue;
            }
            retain(&mut self.f.blocks[block].params, &kept);
            for from in self.predecessors[block].clone() {
                let targets = self.f.blocks[from].end.targets_mut();
                // an edge whose arguments have been removed has fewer
                for target in targets.filter(|t| t.block == block && t.args.len() == kept.len()) {
                    retain(&mut target.args, &kept);
                }
            }
        }
    }

    /// Returns the state with its virtual tables described as such; `None` if it contains none.
    fn with_virtuals(&mut self, state: State) -> Option<State> {
        let FrameState { frame, pc, ref registers, ref closures, .. } = self.f.states[state];
        let closures = closures.clone();
        let tables = self.tables;
        if !registers.iter().any(|&(_, v)| tables.is_virtual(v)) {
            return None;
        }
        let registers = registers.iter().map(|&(r, v)| (r, self.outside(v)));
        let (virtuals, registers): (Vec<_>, Vec<_>) =
            registers.partition(|&(_, v)| tables.is_virtual(v));
        let mut found = Vec::new();
        for (r, v) in virtuals {
            let n = self.virtual_table(tables.original(v), &mut found);
            found[n].1.registers.push(r);
        }
        let virtuals: Vec<VirtualTable> = found.into_iter().map(|(_, table)| table).collect();
        let key = (state, registers, virtuals);
        if let Some(&known) = self.states.get(&key) {
            return Some(known);
        }
        let (_, registers, virtuals) = key.clone();
        let new = self.f.states.push(FrameState { frame, pc, registers, virtuals, closures });
        self.states.insert(key, new);
        Some(new)
    }

    /// Adds the description of a table, after the descriptions of the tables in its fields; returns
    /// its number.
    fn virtual_table(&mut self, table: Value, found: &mut Vec<(Value, VirtualTable)>) -> usize {
        if let Some(n) = found.iter().position(|&(other, _)| other == table) {
            return n;
        }
        let tables = self.tables;
        let made = tables.allocation(table).unwrap_or(tables.template(table));
        let mut fields = Vec::new();
        for (n, key) in made.keys.iter().enumerate() {
            if !self.may_be_stored(key, (table, n)) {
                continue;
            }
            let v = self.part((table, n));
            let content = match tables.is_virtual(v) {
                true => Content::Table(self.virtual_table(tables.original(v), found)),
                false => Content::Value(v),
            };
            fields.push((key.store, content));
        }
        let metatable = self.metatable(table);
        let slots = self.f.objects[made.object].slots.max(made.keys.len());
        let registers = Vec::new();
        let description = VirtualTable { registers, site: made.site, slots, fields, metatable };
        found.push((table, description));
        found.len() - 1
    }

    /// Returns whether a field may have been stored at the current position in the current block.
    fn may_be_stored(&self, key: &Key, part: Part) -> bool {
        let Some(since) = key.since else { return true };
        if since == self.block {
            return self.stored.contains(&part);
        }
        let (from, to) = (self.dominators.place(since), self.dominators.place(self.block));
        self.dominators.dominates(from, to)
    }
}

/// Returns the allocated table if `v` is a table that code outside this block creates, and
/// otherwise `v`.
fn made_outside(
    tables: &Tables,
    allocated: &HashMap<Value, Value>,
    block: Block,
    v: Value,
) -> Value {
    match allocated.get(&tables.original(v)) {
        Some(&table) if tables.is_outside(v, block) => table,
        _ => v,
    }
}
