//! Orders the targets of branches.
//!
//! Cranelift's block order visits the first target of a branch last, and the register allocator
//! treats all blocks between the head and the end of a loop as blocks of the loop. Therefore the
//! target that leaves the loop is made the first one: otherwise, the many values that a side exit
//! stores would be weighted like values that the loop uses.

use cranelift_codegen::Context;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{Block, Function, Inst, InstructionData, Value};
use cranelift_codegen::loop_analysis::LoopAnalysis;

use crate::codegen;

/// Orders the targets of the branches of a function, whose loops have been analysed.
pub(super) fn order(context: &mut Context) {
    let Context { func, loop_analysis, .. } = context;
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in blocks {
        if let Some(branch) = func.layout.last_inst(block)
            && let InstructionData::Brif { arg, blocks: targets, .. } = func.dfg.insts[branch]
        {
            let targets = targets.map(|target| target.block(&func.dfg.value_lists));
            if !are_in_order(func, loop_analysis, block, targets) {
                exchange(func, branch, arg);
            }
        }
    }
    // it holds the previous order of the blocks
    context.domtree.clear();
}

/// Returns whether the targets of the branch of a block are in order.
fn are_in_order(
    func: &Function,
    loops: &LoopAnalysis,
    block: Block,
    [yes, no]: [Block; 2],
) -> bool {
    let lp = loops.innermost_loop(block);
    let leaves = |target| lp.is_some_and(|lp| !loops.is_in_loop(target, lp));
    let rank = |target| (leaves(target), func.layout.is_cold(target));
    rank(yes) >= rank(no)
}

/// Exchanges the targets of a branch and negates its condition.
fn exchange(func: &mut Function, branch: Inst, condition: Value) {
    let compare = codegen::comparison(&func.dfg, condition);
    let mut cursor = FuncCursor::new(func).at_inst(branch);
    cursor.use_srcloc(branch);
    let inverted = codegen::inverted(cursor.ins(), compare, condition);
    if let InstructionData::Brif { arg, blocks, .. } = &mut cursor.func.dfg.insts[branch] {
        *arg = inverted;
        blocks.swap(0, 1);
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::InstBuilder;
    use cranelift_codegen::ir::condcodes::IntCC;
    use cranelift_codegen::ir::types::I64;
    use cranelift_codegen::ir::{AbiParam, BlockArg, Signature, UserFuncName};
    use cranelift_codegen::isa::CallConv;
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    use super::*;

    /// Checks how the pass changes a function that loops while its parameter is less than 9, and
    /// goes to a cold block then.
    #[track_caller]
    fn check(loops_first: bool, expected: &str) {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.push(AbiParam::new(I64));
        let func = Function::with_name_signature(UserFuncName::default(), signature);
        let mut context = Context::for_function(func);
        let mut builder = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
        let [first, head, end] = [(); 3].map(|()| b.create_block());
        b.set_cold_block(end);
        b.append_block_params_for_function_params(first);
        b.switch_to_block(first);
        let param = b.block_params(first)[0];
        b.ins().jump(head, &[BlockArg::from(param)]);
        let counter = b.append_block_param(head, I64);
        b.switch_to_block(head);
        let (code, targets) = if loops_first {
            (IntCC::SignedLessThan, [(head, Some(counter)), (end, None)])
        } else {
            (IntCC::SignedGreaterThanOrEqual, [(end, None), (head, Some(counter))])
        };
        let condition = b.ins().icmp_imm_s(code, counter, 9);
        let [yes, no] = targets.map(|(block, arg)| (block, arg.map(BlockArg::from)));
        b.ins().brif(condition, yes.0, yes.1.as_slice(), no.0, no.1.as_slice());
        b.switch_to_block(end);
        b.ins().return_(&[]);
        b.seal_all_blocks();
        context.flowgraph();
        context.compute_loop_analysis();
        order(&mut context);
        let func = &context.func;
        let branch = func.layout.last_inst(head).expect("it ends");
        let InstructionData::Brif { arg, .. } = func.dfg.insts[branch] else { unreachable!() };
        let condition = func.dfg.value_def(arg).unwrap_inst();
        let InstructionData::IntCompare { cond, .. } = func.dfg.insts[condition] else {
            unreachable!()
        };
        assert_eq!(format!("{cond}: {}", func.dfg.display_inst(branch)), expected);
    }

    #[test]
    fn what_leaves_a_loop_comes_first() {
        check(true, "sge: brif.i8 v4, block2, block1(v1)");
        check(false, "sge: brif.i8 v3, block2, block1(v1)");
    }
}
