//! Finds the tables that do not escape.

use cranelift_codegen::entity::{EntityRef, EntitySet, SecondaryMap};
use perilune_bytecode::effects::effects;
use perilune_bytecode::{Constant, Instr, Op as Bytecode, Proto};
use perilune_runtime::tier::INLINED_SLOTS;
use perilune_runtime::value::Tag;

use super::keys::Key;
use super::loops::Loops;
use crate::entity::{Pc, Reg};
use crate::hash::HashMap;
use crate::tier2::dominators::Dominators;
use crate::tier2::ir::{
    Block, End, Frame, FrameState, Function, Inst, Metatable, Object, Op, State, Value,
    VirtualClosure, VirtualTable,
};
use crate::tier2::passes::homes;

/// An allocation.
pub(super) struct Allocation {
    pub(super) table: Value,
    pub(super) object: Object,
    pub(super) block: Block,
    pub(super) site: (Frame, Pc),
    /// The metatable that the table gets in the same block.
    pub(super) metatable: Option<Metatable>,
    /// The fields that the table may have: first those of the constructor, and then others.
    pub(super) keys: Vec<Key>,
    /// The stores to fields after the constructor: number of the field, block and value.
    pub(super) stores: Vec<(usize, Block, Value)>,
}

/// The values that are tables that do not escape. All tables that may be passed to a block
/// parameter are in one class.
pub(super) struct Tables {
    pub(super) allocations: Vec<Allocation>,
    /// The allocation whose result is a value.
    by_value: HashMap<Value, usize>,
    /// A link towards the representative of a value's class; `None` if the value is not such a
    /// table.
    links: SecondaryMap<Value, Option<Value>>,
    /// The operand of a guard, which is the same table as its result.
    aliases: HashMap<Value, Value>,
    /// Block parameters, and their numbers.
    params: HashMap<Value, (Block, usize)>,
    /// The representatives of classes that escape.
    escaped: EntitySet<Value>,
    /// The representatives of classes with block parameters.
    pub(super) passed: EntitySet<Value>,
    loops: Loops,
    /// The blocks in which tables are allocated for code outside the loop that creates them.
    pub(super) places: HashMap<Value, Block>,
}

/// Finds the tables that do not escape.
pub(super) fn analyse(f: &Function) -> Tables {
    let mut tables = Tables {
        allocations: Vec::new(),
        by_value: HashMap::default(),
        links: SecondaryMap::new(),
        aliases: HashMap::default(),
        params: HashMap::default(),
        escaped: EntitySet::new(),
        passed: EntitySet::new(),
        loops: Loops::of(f),
        places: HashMap::default(),
    };
    tables.find(f);
    while tables.escape_some(f) {}
    tables.fit(f);
    tables
}

impl Tables {
    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.allocations.iter().all(|allocation| !self.is_virtual(allocation.table))
    }

    /// Returns whether a value is a table that does not escape.
    pub(super) fn is_virtual(&self, v: Value) -> bool {
        self.class(v).is_some_and(|class| !self.escaped.contains(class))
    }

    /// Returns the representative of the class of a value.
    pub(super) fn class(&self, mut v: Value) -> Option<Value> {
        while let next = self.links[v]?
            && next != v
        {
            v = next;
        }
        Some(v)
    }

    /// Returns the value of which `v` is a guarded copy, or `v` itself.
    pub(super) fn original(&self, mut v: Value) -> Value {
        while let Some(&of) = self.aliases.get(&v) {
            v = of;
        }
        v
    }

    /// Returns the allocation whose result `v` is, if it is no block parameter.
    pub(super) fn allocation(&self, v: Value) -> Option<&Allocation> {
        self.by_value.get(&v).map(|&n| &self.allocations[n])
    }

    /// Returns the block of which `v` is a parameter, and its number.
    pub(super) fn param(&self, v: Value) -> Option<(Block, usize)> {
        self.params.get(&v).copied()
    }

    /// Returns the allocation that represents all tables of the class of `v`, which have the same
    /// fields.
    pub(super) fn template(&self, v: Value) -> &Allocation {
        let class = self.class(v);
        let mut all = self.allocations.iter();
        all.find(|other| self.class(other.table) == class).expect("each class has one")
    }

    /// Returns the allocations of the class of `v`.
    pub(super) fn same_class(&self, v: Value) -> impl Iterator<Item = &Allocation> {
        let class = self.class(v);
        self.allocations.iter().filter(move |other| self.class(other.table) == class)
    }

    /// Returns the tables that are allocated in a block for code outside the loop that makes them.
    pub(super) fn placed_in(&self, block: Block) -> Vec<Value> {
        let here = self.places.iter().filter(|&(&v, &at)| at == block && self.is_virtual(v));
        let mut found: Vec<Value> = here.map(|(&v, _)| v).collect();
        found.sort_unstable();
        found
    }

    /// Returns the block that allocates a table, or whose parameter it is.
    fn made_in(&self, v: Value) -> Option<Block> {
        let made = self.allocation(v).map(|made| made.block);
        made.or_else(|| self.param(v).map(|(block, _)| block))
    }

    /// Returns whether a block is outside the loop that creates a table, so that code there uses an
    /// allocated table.
    pub(super) fn is_outside(&self, v: Value, block: Block) -> bool {
        let made = self.made_in(self.original(v));
        made.is_some_and(|made| !self.loops.are_around(made, block))
    }

    fn union(&mut self, a: Value, b: Value) {
        if let (Some(a), Some(b)) = (self.class(a), self.class(b)) {
            self.links[a.max(b)] = Some(a.min(b));
        }
    }

    /// Finds all allocations, and the values that may be their results.
    fn find(&mut self, f: &Function) {
        for &block in &f.order {
            for inst in &f.blocks[block].insts {
                if let (Op::NewTable(object, _), Some(table)) = (inst.op, inst.result) {
                    self.by_value.insert(table, self.allocations.len());
                    let site = (inst.frame, inst.pc);
                    let fields = f.objects[object].fields.iter();
                    let key = |pc| Key { store: (inst.frame, pc), since: None };
                    self.allocations.push(Allocation {
                        table,
                        object,
                        block,
                        site,
                        metatable: None,
                        keys: fields.map(|field| key(field.pc)).collect(),
                        stores: Vec::new(),
                    });
                    self.links[table] = Some(table);
                }
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &f.order {
                let data = &f.blocks[block];
                for inst in &data.insts {
                    if let (Op::Guard(v, ..) | Op::Speculate(v, ..), Some(guarded)) =
                        (inst.op, inst.result)
                        && self.links[v].is_some()
                        && self.links[guarded].is_none()
                        && !self.is_outside(v, block)
                    {
                        self.links[guarded] = Some(guarded);
                        self.union(guarded, v);
                        self.aliases.insert(guarded, v);
                        changed = true;
                    }
                }
                for target in data.end.targets() {
                    let params = &f.blocks[target.block].params;
                    for (n, (&(param, _), &arg)) in params.iter().zip(&target.args).enumerate() {
                        if self.links[arg].is_some()
                            && self.links[param].is_none()
                            && !self.is_outside(arg, block)
                        {
                            self.links[param] = Some(param);
                            self.params.insert(param, (target.block, n));
                            changed = true;
                        }
                    }
                }
            }
        }
        for &block in &f.order {
            for target in f.blocks[block].end.targets() {
                let params = &f.blocks[target.block].params;
                for (&(param, _), &arg) in params.iter().zip(&target.args) {
                    if !self.is_outside(arg, block) {
                        self.union(param, arg);
                    }
                }
            }
        }
        for &param in self.params.keys() {
            if let Some(class) = self.class(param) {
                self.passed.insert(class);
            }
        }
        self.find_changes(f);
        self.find_places(f);
    }

    /// Finds where tables get their metatables and fields.
    fn find_changes(&mut self, f: &Function) {
        for &block in &f.order {
            for inst in &f.blocks[block].insts {
                match inst.op {
                    Op::SetMetatable(table, meta, _) => {
                        self.note_metatable(block, table, Metatable::Is(meta));
                    }
                    Op::SetClass(table, class, _) => {
                        self.note_metatable(block, table, Metatable::WithIndex(class));
                    }
                    Op::SetField(table, _, v, ..) | Op::AddField(table, v, ..) => {
                        self.note_store(f, (block, inst), table, v);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Records that a table gets a metatable; the table escapes if this is not in the block that
    /// allocates it.
    fn note_metatable(&mut self, block: Block, table: Value, metatable: Metatable) {
        let Some(class) = self.class(table).filter(|_| !self.is_outside(table, block)) else {
            return;
        };
        let made = self.by_value.get(&self.original(table)).copied();
        let made = made.map(|n| &mut self.allocations[n]);
        match made.filter(|made| made.block == block && made.metatable.is_none()) {
            Some(made) => made.metatable = Some(metatable),
            None => {
                self.escaped.insert(class);
            }
        }
    }

    /// Records a store to a field; the table escapes if it may be one of several.
    fn note_store(&mut self, f: &Function, (block, inst): (Block, &Inst), table: Value, v: Value) {
        let Some(class) = self.class(table).filter(|_| !self.is_outside(table, block)) else {
            return;
        };
        let Some(&n) = self.by_value.get(&self.original(table)) else {
            self.escaped.insert(class);
            return;
        };
        let made = &mut self.allocations[n];
        let since = (inst.frame != made.site.0).then_some(block);
        let key = Key { store: (inst.frame, inst.pc), since };
        let name = key.name(f);
        let field = match made.keys.iter().position(|other| other.name(f) == name) {
            Some(field) => field,
            None if name.is_some() => {
                made.keys.push(key);
                made.keys.len() - 1
            }
            None => {
                self.escaped.insert(class);
                return;
            }
        };
        made.stores.push((field, block, v));
    }

    /// Finds tables that escape; returns whether there were any.
    fn escape_some(&mut self, f: &Function) -> bool {
        let dominators = Dominators::of(f).expect("blocks are in the order where they are reached");
        let mut found = EntitySet::new();
        let mut escape = |v: Value| {
            if let Some(class) = self.class(v).filter(|&class| !self.escaped.contains(class)) {
                found.insert(class);
            }
        };
        for &block in &f.order {
            let data = &f.blocks[block];
            let is_inside = |v: &Value| !self.is_outside(*v, block);
            for (n, inst) in data.insts.iter().enumerate() {
                let before = &data.insts[..n];
                let args = f.args(&inst.op).filter(is_inside);
                args.filter(|&v| !self.is_known(f, inst, v, before)).for_each(&mut escape);
                if let Some(state) = inst.op.state() {
                    self.seen_in(f, inst, state).filter(is_inside).for_each(&mut escape);
                    self.ambiguous(f, &dominators, (block, state)).for_each(&mut escape);
                }
            }
            data.end.arg().into_iter().filter(is_inside).for_each(&mut escape);
            if let Some(state) = data.end.state() {
                let values = f.states[state].values().filter(is_inside);
                match data.end {
                    End::Generic(..) => values.for_each(&mut escape),
                    _ => self.ambiguous(f, &dominators, (block, state)).for_each(&mut escape),
                }
            }
            for target in data.end.targets() {
                let params = &f.blocks[target.block].params;
                for (&(param, _), &arg) in params.iter().zip(&target.args) {
                    if !self.is_virtual(arg) || self.is_outside(arg, block) {
                        escape(param);
                    }
                }
            }
        }
        for allocation in &self.allocations {
            if !self.is_regular(f, allocation) || !self.has_known_keys(f, &dominators, allocation) {
                escape(allocation.table);
            }
        }
        for allocation in &self.allocations {
            let class = self.class(allocation.table);
            let is_passed = class.is_some_and(|class| self.passed.contains(class));
            if is_passed && !self.stores_before_passing(f, allocation) {
                escape(allocation.table);
            }
        }
        for (&param, &(block, _)) in &self.params {
            // an exit in the block finds the function of the frame
            let made = self.template(param);
            let (from, to) = (dominators.place(made.block), dominators.place(block));
            if made.site.0.index() != 0 && !dominators.dominates(from, to) {
                escape(param);
            }
        }
        let is_any = !found.is_empty();
        found.iter().for_each(|class| {
            self.escaped.insert(class);
        });
        is_any
    }

    /// Returns tables of a state that may be the same as others in it, although they are different
    /// values.
    fn ambiguous<'a>(
        &'a self,
        f: &Function,
        dominators: &'a Dominators,
        (block, state): (Block, State),
    ) -> impl Iterator<Item = Value> + use<'a> {
        let registers = f.states[state].registers.iter().map(|&(_, v)| v);
        let all = registers.filter(|&v| self.is_virtual(v) && !self.is_outside(v, block));
        let all: Vec<Value> = all.collect();
        let others = all.clone();
        all.into_iter().filter(move |&v| others.iter().any(|&w| self.may_be(dominators, v, w)))
    }

    /// Returns whether two values may be, but are not known to be, the same table: one is a block
    /// parameter, and the other already existed when the parameter was passed.
    fn may_be(&self, dominators: &Dominators, v: Value, w: Value) -> bool {
        let (v, w) = (self.original(v), self.original(w));
        if v == w || self.class(v) != self.class(w) {
            return false;
        }
        let is_later = |param: Value, made: Value| {
            let (Some((block, _)), Some(made)) = (self.param(param), self.allocation(made)) else {
                return false;
            };
            let (from, to) = (dominators.place(block), dominators.place(made.block));
            dominators.dominates(from, to)
        };
        let are_made = self.allocation(v).is_some() && self.allocation(w).is_some();
        !are_made && !is_later(v, w) && !is_later(w, v)
    }

    /// Finds the blocks in which to allocate tables for code outside the loops that create them. A
    /// table escapes if there is none.
    fn find_places(&mut self, f: &Function) {
        let dominators = Dominators::of(f).expect("blocks are in the order where they are reached");
        let mut at: HashMap<Value, usize> = HashMap::default();
        for &block in &f.order {
            let mut note = |v: Value| {
                if self.links[v].is_some() && self.is_outside(v, block) {
                    let place = dominators.place(block);
                    let known = at.get(&self.original(v)).copied();
                    let common = known.map_or(place, |known| dominators.common(known, place));
                    at.insert(self.original(v), common);
                }
            };
            let data = &f.blocks[block];
            for inst in &data.insts {
                f.args(&inst.op).for_each(&mut note);
                if let Some(state) = inst.op.state() {
                    f.states[state].values().for_each(&mut note);
                }
            }
            data.end.arg().into_iter().for_each(&mut note);
            if let Some(state) = data.end.state() {
                f.states[state].values().for_each(&mut note);
            }
            let passed = data.end.targets().flat_map(|target| target.args.iter().copied());
            passed.for_each(&mut note);
        }
        let used: Vec<Value> = at.keys().copied().collect();
        for (v, mut place) in at {
            let made = self.made_in(v).unwrap_or(f.order[0]);
            // other code may be in other loops, where the table would be allocated several times
            while !self.loops.are_around(f.order[place], made) {
                place = dominators.immediate(place);
            }
            let block = f.order[place];
            let is_field = self
                .allocations
                .iter()
                .any(|made| self.contents(f, made).any(|content| self.original(content) == v));
            // what it holds would be allocated with it, while code in other loops or other tables
            // have it as well
            let holds_tables = self.allocation(v).is_some_and(|made| {
                self.contents(f, made).any(|content| self.links[content].is_some())
            });
            let is_known = used.iter().all(|&w| !self.may_be(&dominators, v, w));
            if self.is_outside(v, block) && is_known && !is_field && !holds_tables {
                self.places.insert(v, block);
            } else if let Some(class) = self.class(v) {
                self.escaped.insert(class);
            }
        }
    }

    /// Returns whether an allocation is like the others of its class. Tables without fields do not
    /// count, since programs allocate such tables in loops to wait until the collector has run.
    fn is_regular(&self, f: &Function, allocation: &Allocation) -> bool {
        let template = self.template(allocation.table);
        let proto = |made: &Allocation| &*f.frames[made.site.0].proto;
        let (ours, theirs) = (proto(allocation), proto(template));
        let same_name = |(a, b): (&Key, &Key)| a.name(f) == b.name(f);
        let kind = |meta: Option<Metatable>| meta.map(|meta| std::mem::discriminant(&meta));
        let mut pairs = allocation.keys.iter().zip(&template.keys);
        !allocation.keys.is_empty()
            && std::ptr::eq(ours, theirs)
            && allocation.site.1 == template.site.1
            && allocation.keys.len() == template.keys.len()
            && pairs.all(same_name)
            && kind(allocation.metatable) == kind(template.metatable)
    }

    /// Returns whether nothing is stored to a table after it was passed to a block parameter, since
    /// other values may then refer to it.
    fn stores_before_passing(&self, f: &Function, made: &Allocation) -> bool {
        let mut reached: EntitySet<Block> = EntitySet::new();
        let mut todo = Vec::new();
        for &block in &f.order {
            for target in f.blocks[block].end.targets() {
                if target.args.iter().any(|&arg| self.original(arg) == made.table) {
                    todo.push(target.block);
                }
            }
        }
        while let Some(block) = todo.pop() {
            if block != made.block && reached.insert(block) {
                todo.extend(f.blocks[block].end.targets().map(|target| target.block));
            }
        }
        !made.stores.iter().any(|&(_, block, _)| reached.contains(block))
    }

    /// Returns the values that other code sees when an instruction uses a state: all of them if the
    /// instruction makes a call, or only those that it reads if it is executed by fast paths of
    /// generic code.
    fn seen_in<'f>(
        &self,
        f: &'f Function,
        inst: &Inst,
        state: State,
    ) -> impl Iterator<Item = Value> + use<'f> {
        let offset = f.frames[inst.frame].offset;
        let e = effects(inst.pc.instr(&f.frames[inst.frame].proto));
        let (calls, reads) = match inst.op {
            Op::Generic(_) | Op::Call(_) => (true, None),
            Op::FastPath(_) => (false, Some(e.reads)),
            _ => (false, None),
        };
        let is_read = move |r: Reg| {
            let ranges = reads.into_iter().flatten();
            r.index() >= offset
                && ranges
                    .into_iter()
                    .any(|(from, count)| (from..from + count).contains(&(r.index() - offset)))
        };
        let registers = f.states[state].registers.iter();
        registers.filter(move |&&(r, _)| calls || is_read(r)).map(|&(_, v)| v)
    }

    /// Returns whether an instruction does not let the table `v` escape.
    fn is_known(&self, f: &Function, inst: &Inst, v: Value, before: &[Inst]) -> bool {
        if !self.is_virtual(v) {
            return true;
        }
        let (table, class) = (self.original(v), self.class(v));
        let is_passed = class.is_some_and(|class| self.passed.contains(class));
        let i = inst.pc.instr(&f.frames[inst.frame].proto);
        let has = |key| self.field(f, v, inst, key).is_some();
        match inst.op {
            Op::GuardShape(..) => true,
            Op::Guard(_, tag, _) | Op::Speculate(_, tag, _) => tag == Tag::TABLE,
            Op::CheckField(of, value) => of == v && value != v,
            Op::Field(..) | Op::FieldOf(..) => {
                let field = loaded_key(i).and_then(|key| self.field(f, v, inst, key));
                field.is_some_and(|n| self.same_class(v).all(|made| !self.is_table(f, made, n)))
            }
            Op::SetField(of, _, value, ..) | Op::AddField(of, value, ..) => {
                let field = self.field(f, v, inst, i.b());
                if v == value {
                    return of != v && !is_passed && self.may_hold(f, of, v);
                }
                field.is_some_and(|n| {
                    self.links[value].is_some() || !self.is_table(f, self.template(v), n)
                })
            }
            Op::SetMetatable(of, other, _) | Op::SetClass(of, other, _) => {
                of == v && self.links[other].is_none()
            }
            Op::Handler(..) => {
                let index = i.op() == Bytecode::GetField;
                self.has_metatable(table, before) && !(index && has(i.c()))
            }
            Op::ChainField(_, chain, _) => {
                let key = loaded_key(i);
                chain.method
                    && self.has_metatable(table, before)
                    && key.is_some_and(|key| !has(key))
            }
            Op::NewTable(..) => {
                !is_passed && inst.result.is_some_and(|outer| self.may_hold(f, outer, v))
            }
            _ => false,
        }
    }

    /// Returns whether a field is set to a table that need not be allocated.
    fn is_table(&self, f: &Function, made: &Allocation, n: usize) -> bool {
        let first = f.objects[made.object].fields.get(n).map(|field| field.value);
        let stores = made.stores.iter().filter(|&&(field, ..)| field == n);
        let mut all = first.into_iter().chain(stores.map(|&(.., v)| v));
        all.any(|v| self.links[v].is_some())
    }

    /// Returns whether a table that does not escape may have another one as a field: the outer
    /// table must not be one of several, must hold the inner one from the block that allocates it
    /// on, and must not be contained in it.
    fn may_hold(&self, f: &Function, outer: Value, inner: Value) -> bool {
        let Some(class) = self.class(outer).filter(|&class| !self.escaped.contains(class)) else {
            return false;
        };
        let (outer, inner) = (self.original(outer), self.original(inner));
        let Some(made) = self.allocation(outer) else { return false };
        let is_settled = |&(_, block, v): &(usize, Block, Value)| {
            self.original(v) != inner || block == made.block
        };
        let mut held = vec![inner];
        let mut n = 0;
        while let Some(&table) = held.get(n) {
            if table == outer {
                return false;
            }
            if let Some(made) = self.allocation(table) {
                for content in self.contents(f, made).map(|v| self.original(v)) {
                    if self.links[content].is_some() && !held.contains(&content) {
                        held.push(content);
                    }
                }
            }
            n += 1;
        }
        !self.passed.contains(class) && made.stores.iter().all(is_settled)
    }

    /// Returns all values that are stored to fields of a table.
    pub(super) fn contents<'a>(
        &self,
        f: &'a Function,
        made: &'a Allocation,
    ) -> impl Iterator<Item = Value> {
        let fields = f.objects[made.object].fields.iter().map(|field| field.value);
        fields.chain(made.stores.iter().map(|&(.., v)| v))
    }

    /// Returns whether nothing is stored to a field after the block that allocates the table.
    pub(super) fn is_settled(&self, made: &Allocation, n: usize) -> bool {
        let mut stores = made.stores.iter().filter(|&&(field, ..)| field == n);
        stores.all(|&(_, block, _)| block == made.block)
    }

    /// Returns whether the table has a metatable after the instructions `before` of a block.
    fn has_metatable(&self, table: Value, before: &[Inst]) -> bool {
        let made = self.template(table);
        if made.metatable.is_none() {
            return false;
        }
        let is_made = |inst: &Inst| inst.result == Some(table);
        let sets = |inst: &Inst| match inst.op {
            Op::SetMetatable(of, ..) | Op::SetClass(of, ..) => self.original(of) == table,
            _ => false,
        };
        !before.iter().any(is_made) || before.iter().any(sets)
    }

    /// Returns the number of the field of a table that an instruction names by a constant.
    pub(super) fn field(&self, f: &Function, v: Value, inst: &Inst, key: usize) -> Option<usize> {
        let made = self.template(v);
        let key = name(&f.frames[inst.frame].proto, key)?;
        made.keys.iter().position(|other| other.name(f) == Some(key))
    }

    /// Makes tables escape until all descriptions fit into the slots above the frames.
    fn fit(&mut self, f: &Function) {
        let outermost = usize::from(f.frames[Frame::new(0)].proto.max_stack);
        let room = (outermost + INLINED_SLOTS).saturating_sub(homes::slots(f));
        // the tables that registers hold, and the slots that describe closures
        let in_registers = |state: &FrameState| -> (Vec<Value>, usize) {
            let registers = state.registers.iter().map(|&(_, v)| v);
            let closures = state.closures.iter();
            let of_closures = closures.map(|closure| VirtualClosure::size(closure.registers.len()));
            (registers.filter(|&v| self.is_virtual(v)).collect(), of_closures.sum())
        };
        let states = f.states.values().map(in_registers);
        let mut too_many = Vec::new();
        for (named, closures) in states.chain(self.places.keys().map(|&v| (vec![v], 0))) {
            let tables = self.with_contents(f, &named);
            let sizes = tables.iter().map(|&v| VirtualTable::size(self.template(v).keys.len()));
            if 1 + sizes.sum::<usize>() + named.len() + closures > room {
                too_many.extend(tables.into_iter().filter_map(|v| self.class(v)));
            }
        }
        too_many.into_iter().for_each(|class| {
            self.escaped.insert(class);
        });
        // tables that were fields of these
        while self.escape_some(f) {}
    }

    /// Returns tables together with the tables in their fields, each once.
    fn with_contents(&self, f: &Function, tables: &[Value]) -> Vec<Value> {
        let mut tables: Vec<Value> = tables.iter().map(|&v| self.original(v)).collect();
        tables.sort_unstable();
        tables.dedup();
        let mut n = 0;
        while let Some(&table) = tables.get(n) {
            if let Some(made) = self.allocation(table) {
                for content in self.contents(f, made).map(|v| self.original(v)) {
                    if self.is_virtual(content) && !tables.contains(&content) {
                        tables.push(content);
                    }
                }
            }
            n += 1;
        }
        tables
    }
}

/// Returns the constant that is the name of the field that an instruction loads.
pub(super) fn loaded_key(i: Instr) -> Option<usize> {
    matches!(i.op(), Bytecode::GetField | Bytecode::SelfK).then(|| i.c())
}

/// Returns the name of the field that the instruction at `pc` stores.
pub(super) fn stored_key(proto: &Proto, pc: Pc) -> Option<&[u8]> {
    name(proto, pc.instr(proto).b())
}

/// Returns a constant that is a string.
fn name(proto: &Proto, n: usize) -> Option<&[u8]> {
    match proto.constants.get(n)? {
        Constant::Str(name) => Some(proto.str(*name)),
        _ => None,
    }
}
