//! Spills values that live through innermost loops without being used in them.
//!
//! If more values are live than the machine has registers, the register allocator splits live
//! ranges, and often does so inside the loop: in each iteration, it moves values that only later
//! code uses to the stack and back. This pass stores such a value where it is defined, and loads it
//! in the blocks that use it after the loop, so that it takes no register in the loop.

use cranelift_codegen::Context;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::{EntitySet, SecondaryMap};
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{
    Block, Function, Inst, InstBuilder, MemFlagsData, Opcode, StackSlotData, StackSlotKind, Value,
    ValueDef,
};
use cranelift_codegen::loop_analysis::{Loop, LoopAnalysis};

/// The number of integers that may be live in a loop before some are spilled: the number of the
/// machine's registers, without those for the frame and for intermediate results.
const INTEGERS: usize = 9;
/// The same limit for floats.
const FLOATS: usize = 13;
/// The assumed ratio of the execution frequency of a loop's blocks to that of the surrounding
/// blocks.
const ITERATIONS: u64 = 8;

/// Spills values of a function, whose loops have been analysed.
pub(super) fn spill(context: &mut Context) {
    let Context { func, cfg, loop_analysis, .. } = context;
    func.dfg.resolve_all_aliases();
    let innermost = innermost(func, loop_analysis);
    if innermost.is_empty() {
        return;
    }
    let liveness = Liveness::of(func, cfg);
    let spiller = Spiller { func, cfg, loops: loop_analysis, innermost, liveness };
    for (value, blocks) in spiller.choose() {
        split(func, value, &blocks);
    }
}

/// Returns the innermost loops whose hot blocks contain no calls, since calls spill the values that
/// live across them.
fn innermost(func: &Function, loops: &LoopAnalysis) -> Vec<Loop> {
    let mut excluded = EntitySet::new();
    for parent in loops.loops().filter_map(|lp| loops.loop_parent(lp)) {
        excluded.insert(parent);
    }
    let calls = |inst: Inst| func.dfg.insts[inst].opcode().is_call();
    for block in func.layout.blocks().filter(|&block| !func.layout.is_cold(block)) {
        if let Some(lp) = loops.innermost_loop(block)
            && func.layout.block_insts(block).any(calls)
        {
            excluded.insert(lp);
        }
    }
    loops.loops().filter(|&lp| !excluded.contains(lp)).collect()
}

/// The uses of values outside the blocks that define them, and the blocks in which values are live.
struct Liveness {
    /// The blocks that use a value, ordered by values.
    uses: Vec<(Value, Block)>,
    /// The values that are live at the beginning of a block, without its parameters.
    live: SecondaryMap<Block, Vec<Value>>,
}

impl Liveness {
    fn of(func: &Function, cfg: &ControlFlowGraph) -> Liveness {
        let mut uses = Vec::new();
        for block in func.layout.blocks() {
            let operands = func.layout.block_insts(block).flat_map(|i| func.dfg.inst_values(i));
            let is_from_elsewhere =
                |&v: &Value| defined_in(func, v) != Some(block) && !is_constant(func, v);
            uses.extend(operands.filter(is_from_elsewhere).map(|value| (value, block)));
        }
        uses.sort_unstable();
        uses.dedup();
        let mut live: SecondaryMap<Block, Vec<Value>> = SecondaryMap::new();
        let mut todo = Vec::new();
        for users in uses.chunk_by(|(a, _), (b, _)| a == b) {
            let value = users[0].0;
            let definition = defined_in(func, value);
            todo.extend(users.iter().map(|&(_, block)| block));
            while let Some(block) = todo.pop() {
                if Some(block) != definition && live[block].last() != Some(&value) {
                    live[block].push(value);
                    todo.extend(cfg.pred_iter(block).map(|pred| pred.block));
                }
            }
        }
        Liveness { uses, live }
    }

    /// Returns the blocks that use a value, other than the one that defines it.
    fn users(&self, value: Value) -> impl Iterator<Item = Block> {
        let first = self.uses.partition_point(|&(other, _)| other < value);
        self.uses[first..].iter().take_while(move |use_| use_.0 == value).map(|use_| use_.1)
    }
}

/// Chooses the values to spill.
struct Spiller<'f> {
    func: &'f Function,
    cfg: &'f ControlFlowGraph,
    loops: &'f LoopAnalysis,
    /// The loops in which the registers may not suffice.
    innermost: Vec<Loop>,
    liveness: Liveness,
}

impl Spiller<'_> {
    /// Returns the values to spill, each with the blocks that must load it.
    fn choose(&self) -> Vec<(Value, Vec<Block>)> {
        let mut chosen: Vec<(Value, Vec<Block>)> = Vec::new();
        let is_float = |v: Value| self.func.dfg.value_type(v).is_float();
        for &lp in &self.innermost {
            let head = self.loops.loop_header(lp);
            for (registers, floats) in [(INTEGERS, false), (FLOATS, true)] {
                let live = &self.liveness.live[head];
                let all = live.iter().chain(self.func.dfg.block_params(head));
                let excess = all.filter(|&&v| is_float(v) == floats).count();
                let excess = excess.saturating_sub(registers);
                if excess == 0 {
                    continue;
                }
                let candidates = live.iter().filter(|&&v| is_float(v) == floats);
                let mut found: Vec<_> =
                    candidates.filter_map(|&v| Some((v, self.blocks_to_load(v, lp)?))).collect();
                found.sort_by_cached_key(|(v, blocks)| self.cost(*v, blocks));
                chosen.extend(found.into_iter().take(excess));
            }
        }
        chosen.sort_by_key(|&(v, _)| v);
        chosen.dedup_by(|(other, blocks), (v, all)| {
            let is_same = v == other;
            if is_same {
                all.append(blocks);
            }
            is_same
        });
        chosen
    }

    /// Returns the blocks that must load a value if it is spilled for a loop. `None` if the loop
    /// uses it, or if it would be stored or loaded in an innermost loop.
    fn blocks_to_load(&self, value: Value, lp: Loop) -> Option<Vec<Block>> {
        let is_cold = |block| self.func.layout.is_cold(block);
        let definition = defined_in(self.func, value)?;
        let is_used = |block| self.loops.innermost_loop(block) == Some(lp) && !is_cold(block);
        if self.is_in_innermost(definition) || self.liveness.users(value).any(is_used) {
            return None;
        }
        let mut reached = EntitySet::new();
        let mut todo = vec![self.loops.loop_header(lp)];
        while let Some(block) = todo.pop() {
            let lives = block != definition && self.liveness.live[block].contains(&value);
            if lives && reached.insert(block) {
                todo.extend(self.cfg.succ_iter(block));
            }
        }
        let users = self.liveness.users(value).filter(|&block| reached.contains(block));
        let users: Vec<Block> = users.collect();
        let is_slow = |&block: &Block| !is_cold(block) && self.is_in_innermost(block);
        (!users.iter().any(is_slow)).then_some(users)
    }

    fn is_in_innermost(&self, block: Block) -> bool {
        self.loops.innermost_loop(block).is_some_and(|lp| self.innermost.contains(&lp))
    }

    /// Returns the estimated number of stores and loads of a value if these blocks load it.
    fn cost(&self, value: Value, blocks: &[Block]) -> u64 {
        let all = blocks.iter().copied().chain(defined_in(self.func, value));
        let hot = all.filter(|&block| !self.func.layout.is_cold(block));
        hot.map(|block| {
            let level = self.loops.loop_level(block).level().min(8);
            ITERATIONS.pow(level as u32)
        })
        .sum()
    }
}

/// Stores a value where it is defined, and makes blocks load it.
fn split(func: &mut Function, value: Value, blocks: &[Block]) {
    let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3);
    let slot = func.create_sized_stack_slot(slot);
    let flags = MemFlagsData::trusted();
    let ty = func.dfg.value_type(value);
    let definition = func.dfg.value_def(value);
    let mut cursor = FuncCursor::new(func);
    match definition {
        ValueDef::Result(inst, _) => {
            cursor.goto_after_inst(inst);
            cursor.use_srcloc(inst);
        }
        ValueDef::Param(block, _) => cursor.goto_first_insertion_point(block),
        ValueDef::Union(..) => unreachable!("there is no e-graph"),
    }
    let address = cursor.ins().stack_addr(I64, slot, 0);
    cursor.ins().store(flags, value, address, 0);
    for &block in blocks {
        let (layout, dfg) = (&cursor.func.layout, &cursor.func.dfg);
        let uses = |inst: &Inst| dfg.inst_values(*inst).any(|v| v == value);
        let users: Vec<Inst> = layout.block_insts(block).filter(uses).collect();
        // a block that several loops lead to is contained several times
        let Some(&first) = users.first() else { continue };
        cursor.goto_inst(first);
        cursor.use_srcloc(first);
        let address = cursor.ins().stack_addr(I64, slot, 0);
        let loaded = cursor.ins().load(ty, flags, address, 0);
        for user in users {
            cursor.func.dfg.map_inst_values(user, |v| if v == value { loaded } else { v });
        }
    }
}

/// Returns the block that defines a value.
fn defined_in(func: &Function, value: Value) -> Option<Block> {
    match func.dfg.value_def(value) {
        ValueDef::Result(inst, _) => func.layout.inst_block(inst),
        ValueDef::Param(block, _) => Some(block),
        ValueDef::Union(..) => None,
    }
}

/// Returns whether a value is rematerialized at each use, and takes no register elsewhere.
fn is_constant(func: &Function, value: Value) -> bool {
    let opcode = func.dfg.value_def(value).inst().map(|inst| func.dfg.insts[inst].opcode());
    matches!(opcode, Some(Opcode::Iconst | Opcode::F64const))
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::{AbiParam, BlockArg, Signature, UserFuncName};
    use cranelift_codegen::isa::CallConv;
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    use super::*;

    /// Returns the numbers of loads in a loop and after it, when so many values are used after the
    /// loop and `used` of them in it.
    fn loads(values: usize, used: usize) -> (usize, usize) {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.push(AbiParam::new(I64));
        signature.returns.push(AbiParam::new(I64));
        let func = Function::with_name_signature(UserFuncName::default(), signature);
        let mut context = Context::for_function(func);
        let mut builder = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
        let [first, head, end] = [(); 3].map(|()| b.create_block());
        b.append_block_params_for_function_params(first);
        b.switch_to_block(first);
        let param = b.block_params(first)[0];
        let values: Vec<Value> = (0..values).map(|_| b.ins().imul(param, param)).collect();
        b.ins().jump(head, &[BlockArg::from(param)]);
        let counter = b.append_block_param(head, I64);
        b.switch_to_block(head);
        let sum = values[..used].iter().fold(counter, |sum, &v| b.ins().isub(sum, v));
        b.ins().brif(sum, head, &[BlockArg::from(sum)], end, &[]);
        b.switch_to_block(end);
        let sum = values.iter().fold(sum, |sum, &v| b.ins().iadd(sum, v));
        b.ins().return_(&[sum]);
        b.seal_all_blocks();
        context.flowgraph();
        context.compute_loop_analysis();
        spill(&mut context);
        let func = &context.func;
        let is_load = |inst: &Inst| func.dfg.insts[*inst].opcode() == Opcode::Load;
        let count = |block| func.layout.block_insts(block).filter(is_load).count();
        (count(head), count(end))
    }

    #[test]
    fn values_are_spilled_where_registers_are_short() {
        assert_eq!(loads(INTEGERS - 1, 0), (0, 0), "with the counter, there is one for each");
        assert_eq!(loads(INTEGERS + 2, 0), (0, 3));
    }

    #[test]
    fn values_that_the_loop_uses_stay() {
        assert_eq!(loads(INTEGERS + 2, INTEGERS), (0, 2));
        assert_eq!(loads(INTEGERS + 2, INTEGERS + 2), (0, 0));
    }
}
