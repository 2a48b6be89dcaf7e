//! Computes the control-flow graph and the loops of a function in Cranelift IR.

use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::{CodegenResult, Context};

/// Removes unreachable blocks, and computes the control-flow graph, the dominator tree and the
/// loops.
///
/// Cranelift's loop analysis requires that all blocks are reachable. An unreachable block with
/// edges into two loops can make each of these the parent of the other, and the analysis then does
/// not terminate.
pub(super) fn find(context: &mut Context, isa: &dyn TargetIsa) -> CodegenResult<()> {
    context.flowgraph();
    context.eliminate_unreachable_code(isa)?;
    context.compute_loop_analysis();
    Ok(())
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::types::I64;
    use cranelift_codegen::ir::{AbiParam, Block, InstBuilder};
    use cranelift_codegen::settings;
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    use super::*;

    /// Without the removal of unreachable blocks, the loop analysis does not terminate.
    #[test]
    fn unreachable_blocks_may_lead_into_loops() {
        let flags = settings::Flags::new(settings::builder());
        let isa = cranelift_native::builder().expect("a known machine").finish(flags);
        let isa = isa.expect("the flags are valid");
        let mut context = Context::new();
        context.func.signature.params.push(AbiParam::new(I64));
        let mut builder = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
        let [entry, outer, first, first_end, second, second_end, outer_end, end, unreachable] =
            [(); 9].map(|()| b.create_block());
        b.append_block_params_for_function_params(entry);
        let condition = b.block_params(entry)[0];
        b.switch_to_block(entry);
        b.ins().jump(outer, &[]);
        let mut branch = |from, yes: Block, no: Block| {
            b.switch_to_block(from);
            b.ins().brif(condition, yes, &[], no, &[]);
        };
        branch(outer, first, second);
        branch(first, first_end, first_end);
        branch(first_end, first, second);
        branch(second, second_end, second_end);
        branch(second_end, second, outer_end);
        branch(outer_end, outer, end);
        branch(unreachable, first_end, second_end);
        b.switch_to_block(end);
        b.ins().return_(&[]);
        b.seal_all_blocks();
        find(&mut context, &*isa).expect("it is valid");
        let loops = &context.loop_analysis;
        let level = |block| loops.loop_level(block).level();
        assert_eq!([outer, first, second].map(level), [1, 2, 2]);
        assert!(!context.func.layout.is_block_inserted(unreachable));
    }
}
