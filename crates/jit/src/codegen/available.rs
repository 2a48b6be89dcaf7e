//! Finds redundant loads, whose values are available, and redundant guards, which cannot fail, so
//! that they are not emitted.
//!
//! Cranelift's optimizer, which is off because it takes too long, would remove repeated loads, but
//! in a loop with calls only within a block, since its analysis treats every block of such a loop
//! as a merge point. It never removes a branch on a condition that an earlier branch has decided.
//! Since nearly every access is emitted as loads and guards, most of the code would be redundant.
//!
//! A block is begun only after all branches to it have been emitted ([`Emitter::switch_to`]), so
//! its dominator and the state of memory are known at that point. Each region of memory has a
//! *version*, a number that changes with every store to the region and every call, and where paths
//! with different versions merge. A load can be reused where its block dominates the current one
//! and the version is the same. The outcome of a condition is known in the blocks that one side of
//! the branch dominates; since conditions are about SSA values, they need no version.
//!
//! At the head of a loop, every region has a new version, except for those that the loop is
//! declared not to store to. The declaration is checked when the back edge is emitted: if it was
//! wrong, the code must not be used ([`Emitter::broken_loops`]).
//!
//! Cold blocks reuse nothing from other blocks, since that would keep values in registers for rare
//! cases.

use cranelift_codegen::entity::{EntitySet, SecondaryMap};
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{
    Block, Function, Inst, InstBuilder, InstructionData, Opcode, Type, Value,
};

use super::Emitter;
use super::memory::{Region, Regions};
use crate::hash::HashMap;
use crate::testing::fault::Fault;

/// The versions of all regions.
type Versions = [u32; Region::COUNT];

/// A load: two that are equal have the same result.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Location {
    pub(super) region: Region,
    pub(super) address: Value,
    pub(super) offset: i32,
    pub(super) ty: Type,
    pub(super) opcode: Opcode,
}

/// A comparison of integers, as one of those that [`Condition::normal`] returns.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Condition(IntCC, Operand, Operand);

impl Condition {
    /// Returns the normal form of the condition, and whether that is equivalent to the condition or
    /// to its negation. A comparison and its complement have the same normal form, and a constant
    /// that is added to a word before a comparison with a constant is subtracted from that constant
    /// instead.
    fn normal(self, is_word: bool) -> (Condition, bool) {
        let Condition(code, a, b) = self;
        let holds = !matches!(
            code,
            IntCC::NotEqual
                | IntCC::UnsignedGreaterThan
                | IntCC::UnsignedGreaterThanOrEqual
                | IntCC::SignedGreaterThan
                | IntCC::SignedGreaterThanOrEqual
        );
        let code = if holds { code } else { code.complement() };
        match (code, a, b) {
            (IntCC::Equal, Operand::Sum(of, more), Operand::Constant(n)) if is_word => {
                let b = Operand::Constant(n.wrapping_sub(more));
                (Condition(code, Operand::Sum(of, 0), b), holds)
            }
            _ => (Condition(code, a, b), holds),
        }
    }

    /// Returns whether the condition holds if constants are compared, of any width.
    fn of_constants(self) -> Option<bool> {
        let Condition(code, Operand::Constant(a), Operand::Constant(b)) = self else { return None };
        let (a, b) = (a as u64, b as u64);
        match code {
            IntCC::Equal => Some(a == b),
            IntCC::UnsignedLessThan => Some(a < b),
            IntCC::UnsignedLessThanOrEqual => Some(a <= b),
            // narrow constants are not sign-extended
            _ => None,
        }
    }
}

/// An operand of a comparison, with the instruction that computes it, so that the same computation
/// is recognized when it is emitted again.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operand {
    Constant(i64),
    Sum(Value, i64),
    And(Value, i64),
}

/// A block that has been begun, or that something branches to.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// The block that dominates it immediately; only the first block has none.
    dominator: Option<Block>,
    /// The number of blocks that dominate it.
    depth: u32,
    edges: u32,
    /// The state of memory where it begins.
    versions: Versions,
    /// The condition that holds on the only edge to it.
    decided: Option<(Condition, bool)>,
}

/// What is known in the blocks that have been begun.
#[derive(Default)]
pub(super) struct Available {
    blocks: SecondaryMap<Block, Entry>,
    first: Option<Block>,
    /// The current block, and the last of its instructions that was inspected.
    block: Option<Block>,
    seen: Option<Inst>,
    /// The state of memory.
    versions: Versions,
    /// The last version that was assigned.
    last: u32,
    /// The version of fields does not change, for tests.
    keeps_fields: bool,
    loads: HashMap<(Location, u32), Vec<(Block, Value)>>,
    decided: HashMap<Condition, Vec<(Block, bool)>>,
    /// The operands that are known to equal a constant, from a block on.
    constants: HashMap<Operand, Vec<(Block, i64)>>,
    /// The loops that have been begun, by their heads: the regions that they are declared not to
    /// change, and the state of memory at the head.
    loops: HashMap<Block, (Regions, Versions)>,
    /// Heads of loops that change a region which they are declared not to change.
    broken: Vec<Block>,
    /// Heads of loops with other entries: the sources of back edges to them are not dominated by
    /// them.
    entered_elsewhere: EntitySet<Block>,
}

impl Available {
    /// Begins the first block of a function.
    pub(super) fn begin(block: Block, fault: Option<Fault>) -> Available {
        Available {
            first: Some(block),
            block: Some(block),
            keeps_fields: fault == Some(Fault::StaleLoads),
            ..Available::default()
        }
    }

    /// Ends the current block and begins another one. `kept`: if the new block is the head of a
    /// loop, the regions that the loop does not change.
    pub(super) fn switch_to(&mut self, f: &Function, block: Block, kept: Option<Regions>) {
        self.end_block(f);
        let entry = self.blocks[block];
        self.block = Some(block);
        self.seen = None;
        self.versions = entry.versions;
        if entry.edges == 0 || kept.is_some_and(Regions::is_empty) {
            self.change_all();
        } else if let Some(kept) = kept {
            for n in (0..Region::COUNT).filter(|&n| !kept.has(n)) {
                self.last += 1;
                self.versions[n] = self.last;
            }
        }
        if let Some(kept) = kept {
            self.loops.insert(block, (kept, self.versions));
        }
        if let (1, Some((condition, holds))) = (entry.edges, entry.decided) {
            // also in a loop: the operands were computed before it
            self.decided.entry(condition).or_default().push((block, holds));
            if let Condition(IntCC::Equal, of, Operand::Constant(n)) = condition
                && holds
            {
                self.constants.entry(of).or_default().push((block, n));
            }
        }
    }

    /// Notes how the current block ends, for those that it branches to.
    fn end_block(&mut self, f: &Function) {
        self.look(f);
        let Some(block) = self.block.filter(|&block| self.is_reached(block)) else { return };
        let Some(last) = f.layout.last_inst(block) else { return };
        let inst = &f.dfg.insts[last];
        let decided = match inst {
            InstructionData::Brif { arg, .. } => Some(condition(f, *arg)),
            _ => None,
        };
        let targets = inst.branch_destination(&f.dfg.jump_tables, &f.dfg.exception_tables);
        for (i, target) in targets.iter().enumerate() {
            let target = target.block(&f.dfg.value_lists);
            self.note_edge(block, target, decided.map(|(c, holds)| (c, holds == (i == 0))));
        }
    }

    fn note_edge(&mut self, from: Block, to: Block, decided: Option<(Condition, bool)>) {
        if let Some((kept, versions)) = self.loops.get(&to) {
            let is_broken = |n| kept.has(n) && self.versions[n] != versions[n];
            if (0..Region::COUNT).any(is_broken) {
                self.broken.push(to);
            }
            return;
        }
        let mut entry = self.blocks[to];
        entry.edges += 1;
        if entry.edges == 1 {
            entry.versions = self.versions;
            entry.dominator = Some(from);
            entry.decided = decided;
        } else {
            for (n, other) in self.versions.into_iter().enumerate() {
                if entry.versions[n] != other {
                    self.last += 1;
                    entry.versions[n] = self.last;
                }
            }
            entry.dominator = entry.dominator.map(|other| self.common_dominator(from, other));
        }
        if self.entered_elsewhere.contains(to) {
            // only the first block is known to dominate it
            (entry.dominator, entry.decided) = (self.first, None);
        }
        entry.depth = entry.dominator.map_or(0, |dominator| self.blocks[dominator].depth + 1);
        self.blocks[to] = entry;
    }

    /// Returns whether anything leads to a block.
    fn is_reached(&self, block: Block) -> bool {
        self.first == Some(block) || self.blocks[block].edges != 0
    }

    /// Returns the last block that dominates both.
    fn common_dominator(&self, mut a: Block, mut b: Block) -> Block {
        let above = |block: Block| self.blocks[block].dominator.expect("it is not the first");
        while a != b {
            if self.blocks[a].depth < self.blocks[b].depth {
                (a, b) = (b, a);
            }
            a = above(a);
        }
        a
    }

    /// Returns whether a block dominates the current one.
    fn is_before(&self, block: Block) -> bool {
        let Some(mut current) = self.block else { return false };
        let depth = self.blocks[block].depth;
        while self.blocks[current].depth > depth {
            let Some(dominator) = self.blocks[current].dominator else { return false };
            current = dominator;
        }
        current == block
    }

    /// Looks for calls among the instructions that are new in the current block.
    pub(super) fn look(&mut self, f: &Function) {
        self.look_before(f, None);
    }

    /// Looks for calls among the new instructions up to this one.
    fn look_before(&mut self, f: &Function, end: Option<Inst>) {
        let Some(block) = self.block else { return };
        let mut next = match self.seen {
            Some(inst) => f.layout.next_inst(inst),
            None => f.layout.first_inst(block),
        };
        while let Some(inst) = next.filter(|_| next != end) {
            if f.dfg.insts[inst].opcode().is_call() {
                self.change_all();
            }
            self.seen = Some(inst);
            next = f.layout.next_inst(inst);
        }
    }

    /// Notes that a call, the last instruction so far, changes nothing.
    fn pass_over(&mut self, f: &Function, call: Inst) {
        debug_assert!(f.layout.next_inst(call).is_none(), "a load would have noticed it");
        self.look_before(f, Some(call));
        self.seen = Some(call);
    }

    /// Returns the heads of loops that change regions which they are declared not to change: code
    /// in them may be wrong. Must be called after all code is emitted.
    pub(super) fn broken(&mut self, f: &Function) -> &[Block] {
        self.end_block(f);
        self.block = None;
        &self.broken
    }

    /// Records that any region may have been stored to.
    fn change_all(&mut self) {
        let fields = self.versions[Region::Fields as usize];
        self.last += 1;
        self.versions = [self.last; Region::COUNT];
        if self.keeps_fields {
            self.versions[Region::Fields as usize] = fields;
        }
    }

    /// Records a store to a region.
    pub(super) fn change(&mut self, f: &Function, region: Region) {
        self.look(f);
        if self.keeps_fields && region == Region::Fields {
            return;
        }
        self.last += 1;
        self.versions[region as usize] = self.last;
    }

    /// Returns the value that was loaded from a location, if it is available.
    pub(super) fn loaded(&mut self, f: &Function, from: Location) -> Option<Value> {
        self.look(f);
        if is_volatile(from.region) || self.is_cold(f) {
            return None;
        }
        let found = self.loads.get(&(from, self.versions[from.region as usize]))?;
        found.iter().find(|&&(block, _)| self.is_before(block)).map(|&(_, value)| value)
    }

    /// Records the value that was loaded from a location.
    pub(super) fn note_load(&mut self, f: &Function, from: Location, value: Value) {
        let (Some(block), false) = (self.block, is_volatile(from.region)) else { return };
        if !self.is_cold(f) {
            let key = (from, self.versions[from.region as usize]);
            self.loads.entry(key).or_default().push((block, value));
        }
    }

    /// Returns whether a condition holds, if that is known.
    fn decided(&self, f: &Function, value: Value) -> Option<bool> {
        let (condition, is_same) = condition(f, value);
        let holds = condition.of_constants().or_else(|| self.holds(condition))?;
        Some(holds == is_same)
    }

    /// Returns whether a condition holds, if a block that dominates the current one has shown it.
    fn holds(&self, condition: Condition) -> Option<bool> {
        if let Some(found) = self.decided.get(&condition)
            && let Some(&(_, holds)) = found.iter().find(|&&(block, _)| self.is_before(block))
        {
            return Some(holds);
        }
        let Condition(IntCC::Equal, of, Operand::Constant(n)) = condition else { return None };
        let found = self.constants.get(&of)?;
        found.iter().find(|&&(block, _)| self.is_before(block)).map(|&(_, known)| known == n)
    }

    fn is_cold(&self, f: &Function) -> bool {
        self.block.is_some_and(|block| f.layout.is_cold(block))
    }
}

/// Returns whether other threads store to a region.
fn is_volatile(region: Region) -> bool {
    // the poll word
    region == Region::State
}

/// Returns the condition that a branch on a value tests, and whether the value is true exactly if
/// the condition holds. Otherwise the value is true exactly if the condition does not hold.
fn condition(f: &Function, value: Value) -> (Condition, bool) {
    let value = f.dfg.resolve_aliases(value);
    if let Some(inst) = f.dfg.value_def(value).inst()
        && let InstructionData::IntCompare { opcode: Opcode::Icmp, cond, args } = f.dfg.insts[inst]
    {
        let is_word = f.dfg.value_type(args[0]) == I64;
        return Condition(cond, operand(f, args[0]), operand(f, args[1])).normal(is_word);
    }
    let is_word = f.dfg.value_type(value) == I64;
    Condition(IntCC::NotEqual, operand(f, value), Operand::Constant(0)).normal(is_word)
}

fn operand(f: &Function, value: Value) -> Operand {
    let value = f.dfg.resolve_aliases(value);
    if let Some(constant) = constant(f, value) {
        return Operand::Constant(constant);
    }
    if let Some(inst) = f.dfg.value_def(value).inst()
        && let InstructionData::Binary { opcode, args } = f.dfg.insts[inst]
        && let Some(constant) = constant(f, args[1])
    {
        let of = f.dfg.resolve_aliases(args[0]);
        let is_word = f.dfg.value_type(value) == I64;
        match (opcode, self::constant(f, of)) {
            (Opcode::Iadd, Some(first)) if is_word => {
                return Operand::Constant(first.wrapping_add(constant));
            }
            (Opcode::Iadd, _) => return Operand::Sum(of, constant),
            (Opcode::Band, Some(first)) => return Operand::Constant(first & constant),
            (Opcode::Band, None) => return Operand::And(of, constant),
            _ => {}
        }
    }
    Operand::Sum(value, 0)
}

/// Returns the number that a value is, if it is defined by `iconst`.
pub(super) fn constant(f: &Function, value: Value) -> Option<i64> {
    let inst = f.dfg.value_def(value).inst()?;
    match f.dfg.insts[inst] {
        InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
        _ => None,
    }
}

impl Emitter<'_> {
    /// Returns the sum of a 64-bit value and a constant. If the value is itself a sum with a
    /// constant, the constants are added.
    pub(super) fn plus(&mut self, value: Value, n: i64) -> Value {
        match operand(self.b.func, value) {
            Operand::Constant(of) => self.int(of.wrapping_add(n)),
            Operand::Sum(of, more) if more.wrapping_add(n) == 0 => of,
            Operand::Sum(of, more) => self.b.ins().iadd_imm_s(of, more.wrapping_add(n)),
            Operand::And(..) => self.b.ins().iadd_imm_s(value, n),
        }
    }

    /// Continues in `block`, the head of a loop; no code of the loop stores to the regions in
    /// `kept`.
    pub(crate) fn switch_to_loop(&mut self, block: Block, kept: Regions) {
        self.available.switch_to(self.b.func, block, Some(kept));
        self.b.switch_to_block(block);
    }

    /// Returns the heads of loops that change regions which they were declared not to change. Must
    /// be called after all code is emitted.
    pub(crate) fn broken_loops(&mut self) -> Vec<Block> {
        self.available.broken(self.b.func).to_vec()
    }

    /// Notes that the call just emitted stores to no memory that code loads from, except for stores
    /// that the caller notes. Available values stay available after the call.
    pub(super) fn changes_nothing(&mut self, call: Inst) {
        self.available.pass_over(self.b.func, call);
    }

    /// Notes that a loop has entries besides this head. Must be called before any branch to the
    /// head is emitted.
    pub(crate) fn note_entered_elsewhere(&mut self, head: Block) {
        self.available.entered_elsewhere.insert(head);
    }

    /// Returns whether a condition is known to hold or not to hold here.
    pub(super) fn decided(&mut self, condition: Value) -> Option<bool> {
        self.available.decided(self.b.func, condition)
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::{InstBuilder, MemFlagsData};
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    use super::*;

    /// Emits code while available values are tracked.
    struct Code<'a> {
        b: FunctionBuilder<'a>,
        available: Available,
    }

    impl Code<'_> {
        fn at(&self, address: Value) -> Location {
            let opcode = Opcode::Load;
            Location { region: Region::Objects, address, offset: 8, ty: I64, opcode }
        }

        fn load(&mut self, address: Value) -> Value {
            let value = self.b.ins().load(I64, MemFlagsData::trusted(), address, 8);
            self.available.note_load(self.b.func, self.at(address), value);
            value
        }

        fn loaded(&mut self, address: Value) -> Option<Value> {
            self.available.loaded(self.b.func, self.at(address))
        }

        fn decided(&self, condition: Value) -> Option<bool> {
            self.available.decided(self.b.func, condition)
        }

        fn is_one(&mut self, value: Value) -> Value {
            self.b.ins().icmp_imm_u(IntCC::Equal, value, 1)
        }

        /// Branches to two new blocks.
        fn branch(&mut self, condition: Value) -> [Block; 2] {
            let [yes, no] = [self.b.create_block(), self.b.create_block()];
            self.b.ins().brif(condition, yes, &[], no, &[]);
            [yes, no]
        }

        fn switch_to(&mut self, block: Block, is_loop: bool) {
            let kept = is_loop.then(Regions::default);
            self.available.switch_to(self.b.func, block, kept);
            self.b.switch_to_block(block);
        }

        fn jump(&mut self, block: Block) {
            self.b.ins().jump(block, &[]);
        }
    }

    /// Runs a test on a function with a value.
    fn with_code(test: impl FnOnce(&mut Code<'_>, Value)) {
        let mut f = Function::new();
        let mut context = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut f, &mut context);
        let first = b.create_block();
        b.switch_to_block(first);
        let value = b.ins().iconst(I64, 4096);
        let value = b.ins().ireduce(cranelift_codegen::ir::types::I32, value);
        let value = b.ins().uextend(I64, value);
        test(&mut Code { b, available: Available::begin(first, None) }, value);
    }

    #[test]
    fn a_load_is_available_after_a_merge_point_unless_one_way_stores() {
        for stores in [false, true] {
            with_code(|c, v| {
                let held = c.load(v);
                let [yes, no] = c.branch(v);
                let merge = c.b.create_block();
                c.switch_to(yes, false);
                assert_eq!(c.loaded(v), Some(held));
                if stores {
                    c.available.change(c.b.func, Region::Objects);
                    assert_eq!(c.loaded(v), None);
                }
                c.jump(merge);
                c.switch_to(no, false);
                assert_eq!(c.loaded(v), Some(held));
                c.available.change(c.b.func, Region::Elements);
                c.jump(merge);
                c.switch_to(merge, false);
                assert_eq!(c.loaded(v), (!stores).then_some(held));
            });
        }
    }

    #[test]
    fn a_load_on_one_way_is_not_available_on_the_other_or_after_both() {
        with_code(|c, v| {
            let [yes, no] = c.branch(v);
            let merge = c.b.create_block();
            c.switch_to(yes, false);
            c.load(v);
            c.jump(merge);
            c.switch_to(no, false);
            assert_eq!(c.loaded(v), None);
            c.jump(merge);
            c.switch_to(merge, false);
            assert_eq!(c.loaded(v), None);
        });
    }

    #[test]
    fn nothing_is_available_in_a_loop_or_in_a_cold_block() {
        with_code(|c, v| {
            let held = c.load(v);
            let [cold, on] = c.branch(v);
            c.b.set_cold_block(cold);
            c.switch_to(cold, false);
            assert_eq!(c.loaded(v), None);
            c.jump(on);
            c.switch_to(on, false);
            assert_eq!(c.loaded(v), Some(held));
            let head = c.b.create_block();
            c.jump(head);
            c.switch_to(head, true);
            assert_eq!(c.loaded(v), None);
        });
    }

    #[test]
    fn what_a_loop_keeps_is_available_in_it() {
        for stores in [false, true] {
            with_code(|c, v| {
                let held = c.load(v);
                let head = c.b.create_block();
                c.jump(head);
                let kept = Regions::ALL.without(Region::Elements);
                c.available.switch_to(c.b.func, head, Some(kept));
                c.b.switch_to_block(head);
                assert_eq!(c.loaded(v), Some(held));
                c.available.change(c.b.func, Region::Elements);
                if stores {
                    c.available.change(c.b.func, Region::Objects);
                    assert_eq!(c.loaded(v), None);
                }
                c.jump(head);
                let broken: &[Block] = if stores { &[head] } else { &[] };
                assert_eq!(c.available.broken(c.b.func), broken);
            });
        }
    }

    #[test]
    fn conditions_of_constants_are_decided() {
        with_code(|code, value| {
            let three = code.b.ins().iconst(I64, 3);
            let one = code.b.ins().iadd_imm_s(three, -2);
            let (is_one, other) = (code.is_one(one), code.is_one(three));
            assert_eq!((code.decided(is_one), code.decided(other)), (Some(true), Some(false)));
            let flag = code.b.ins().band_imm_u(three, 4);
            assert_eq!((code.decided(three), code.decided(flag)), (Some(true), Some(false)));
            let below = code.b.ins().icmp(IntCC::UnsignedLessThan, three, one);
            let signed = code.b.ins().icmp(IntCC::SignedLessThan, one, three);
            assert_eq!((code.decided(below), code.decided(signed)), (Some(false), None));
            let unknown = code.is_one(value);
            assert_eq!(code.decided(unknown), None);
        });
    }

    #[test]
    fn a_condition_is_decided_where_the_branch_on_it_leads() {
        with_code(|c, v| {
            let condition = c.is_one(v);
            assert_eq!(c.decided(condition), None);
            let [yes, no] = c.branch(condition);
            let merge = c.b.create_block();
            c.switch_to(yes, false);
            let again = c.is_one(v);
            assert_eq!(c.decided(again), Some(true));
            // an operand that equals a constant equals no other constant, and the same holds for
            // values computed from the operand
            let is_two = c.b.ins().icmp_imm_u(IntCC::Equal, v, 2);
            assert_eq!((c.decided(is_two), c.decided(v)), (Some(false), Some(true)));
            let three = c.b.ins().iadd_imm_s(v, 2);
            let is_not_three = c.b.ins().icmp_imm_u(IntCC::NotEqual, three, 3);
            assert_eq!(c.decided(is_not_three), Some(false));
            let is_less = c.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, v, 2);
            assert_eq!(c.decided(is_less), None);
            c.jump(merge);
            c.switch_to(no, false);
            let again = c.is_one(v);
            assert_eq!(c.decided(again), Some(false));
            let is_two = c.b.ins().icmp_imm_u(IntCC::Equal, v, 2);
            assert_eq!((c.decided(is_two), c.decided(v)), (None, None));
            let is_other = c.b.ins().icmp_imm_u(IntCC::NotEqual, v, 1);
            assert_eq!(c.decided(is_other), Some(true));
            c.jump(merge);
            c.switch_to(merge, false);
            let again = c.is_one(v);
            assert_eq!(c.decided(again), None);
        });
    }
}
