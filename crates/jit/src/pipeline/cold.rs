//! Marks blocks that are reached only from cold blocks as cold.
//!
//! The compiler marks a block as cold where it emits the branch to it, but not always the blocks
//! that follow it. Without this pass, those blocks would be placed between hot ones, and hot blocks
//! would have to jump over them.

use cranelift_codegen::entity::EntitySet;
use cranelift_codegen::ir::{Block, Function};

/// Marks each block as cold if every path from the entry to it passes through a cold block.
pub(super) fn mark(func: &mut Function) {
    let mut hot: EntitySet<Block> = EntitySet::new();
    let mut todo: Vec<Block> = func.layout.entry_block().into_iter().collect();
    while let Some(block) = todo.pop() {
        if func.layout.is_cold(block) || !hot.insert(block) {
            continue;
        }
        if let Some(last) = func.layout.last_inst(block) {
            let dfg = &func.dfg;
            let targets =
                dfg.insts[last].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
            todo.extend(targets.iter().map(|target| target.block(&dfg.value_lists)));
        }
    }
    let mut next = func.layout.entry_block();
    while let Some(block) = next {
        next = func.layout.next_block(block);
        if !hot.contains(block) {
            func.layout.set_cold(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::types::I64;
    use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, UserFuncName};
    use cranelift_codegen::isa::CallConv;
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    use super::*;

    #[test]
    fn what_only_cold_blocks_lead_to_is_cold() {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.push(AbiParam::new(I64));
        let mut func = Function::with_name_signature(UserFuncName::default(), signature);
        let mut context = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut func, &mut context);
        let [entry, cold, inner, last, join] = [(); 5].map(|()| b.create_block());
        b.set_cold_block(cold);
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let param = b.block_params(entry)[0];
        b.ins().brif(param, join, &[], cold, &[]);
        b.switch_to_block(cold);
        b.ins().brif(param, inner, &[], join, &[]);
        b.switch_to_block(inner);
        b.ins().brif(param, inner, &[], last, &[]);
        b.switch_to_block(last);
        b.ins().jump(join, &[]);
        b.switch_to_block(join);
        b.ins().return_(&[]);
        b.seal_all_blocks();
        mark(&mut func);
        let is_cold = [entry, cold, inner, last, join].map(|block| func.layout.is_cold(block));
        assert_eq!(is_cold, [false, true, true, true, false]);
    }
}
