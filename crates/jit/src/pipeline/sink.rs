//! Code sinking: moves instructions to the uses of their results.
//!
//! The compilers emit a value as soon as it is known, although often only an exit uses it. The
//! other optimizations of Cranelift's mid-end are not needed, since the compilers do the same work
//! in a fraction of the time.

use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, Inst, InstructionData, Opcode, Value};
use cranelift_codegen::packed_option::PackedOption;

/// The end of a list of uses.
const NONE: u32 = u32::MAX;

/// Moves instructions without effects whose results only cold blocks use, and removes those whose
/// results nothing uses. Constants and sums with them, such as the base of the frame after a call,
/// are computed in each cold block that uses them, and in the next block if no other block needs
/// them, so that no register holds a sum along with its operand. Constants that several blocks use
/// stay, as code gets slower otherwise (`permute` by 15 %).
pub(super) fn sink(func: &mut Function) {
    let mut sink = Sink::new(func);
    while let Some(inst) = sink.candidates.pop() {
        sink.place(inst);
    }
}

/// The candidates for moving, and the uses of their results.
struct Sink<'f> {
    func: &'f mut Function,
    /// The candidates in the order of the layout: a candidate comes after those whose results it
    /// uses.
    candidates: Vec<Inst>,
    /// The first use of each value in `uses`, if it is the result of a candidate.
    first: SecondaryMap<Value, Option<u32>>,
    /// Users, each with the position of the next use.
    uses: Vec<(Inst, u32)>,
    preds: Predecessors,
}

impl Sink<'_> {
    fn new(func: &mut Function) -> Sink<'_> {
        let mut candidates = Vec::new();
        let mut first: SecondaryMap<Value, Option<u32>> = SecondaryMap::new();
        first.resize(func.dfg.num_values());
        for block in func.layout.blocks().filter(|&block| !func.layout.is_cold(block)) {
            for inst in func.layout.block_insts(block) {
                if can_move(func, inst) {
                    candidates.push(inst);
                    first[func.dfg.first_result(inst)] = Some(NONE);
                }
            }
        }
        let preds = Predecessors::of(func);
        let mut sink = Sink { func, candidates, first, uses: Vec::new(), preds };
        let mut blocks = sink.func.layout.entry_block();
        while let Some(block) = blocks {
            let mut insts = sink.func.layout.first_inst(block);
            while let Some(inst) = insts {
                sink.note_uses(inst);
                insts = sink.func.layout.next_inst(inst);
            }
            blocks = sink.func.layout.next_block(block);
        }
        sink
    }

    /// Adds the uses of an instruction.
    fn note_uses(&mut self, inst: Inst) {
        let Sink { func, first, uses, .. } = self;
        for value in func.dfg.inst_values(inst) {
            if let Some(head) = &mut first[func.dfg.resolve_aliases(value)] {
                uses.push((inst, *head));
                *head = uses.len() as u32 - 1;
            }
        }
    }

    /// Moves an instruction, whose users have already been moved.
    fn place(&mut self, inst: Inst) {
        let Sink { func, first, uses, preds, .. } = self;
        let value = func.dfg.first_result(inst);
        let mut users: Vec<(Block, Inst)> = Vec::new();
        let mut next = first[value].unwrap_or(NONE);
        while let Some(&(user, after)) = uses.get(next as usize) {
            // an instruction that was removed has no block
            users.extend(func.layout.inst_block(user).map(|block| (block, user)));
            next = after;
        }
        let is_hot = |&(block, _): &(Block, Inst)| !func.layout.is_cold(block);
        let mut hot = users.iter().copied().filter(is_hot).map(|(block, _)| block);
        let mut stays = false;
        if let Some(block) = hot.next() {
            if !is_cheap(func, inst) {
                return;
            }
            // a block whose only predecessor is this one is in the same loop
            let follows = preds.only(block) == func.layout.inst_block(inst);
            stays = !follows || hot.any(|other| other != block);
        }
        if stays {
            users.retain(|user| !is_hot(user));
        }
        users.sort_unstable_by(|&(a, x), &(b, y)| a.cmp(&b).then_with(|| func.layout.pp_cmp(x, y)));
        users.dedup();
        for users in users.chunk_by(|(a, _), (b, _)| a == b) {
            let copy = self.func.dfg.clone_inst(inst);
            self.func.layout.insert_inst(copy, users[0].1);
            self.func.srclocs[copy] = self.func.srclocs[inst];
            let copied = self.func.dfg.first_result(copy);
            for &(_, user) in users {
                self.replace(user, value, copied);
            }
            self.note_uses(copy);
        }
        if !stays {
            self.func.layout.remove_inst(inst);
        }
    }

    /// Makes an instruction use `other` instead of `value`.
    fn replace(&mut self, user: Inst, value: Value, other: Value) {
        let dfg = &mut self.func.dfg;
        let is_value = |&arg: &Value| dfg.resolve_aliases(arg) == value;
        let names: Vec<Value> = dfg.inst_values(user).filter(is_value).collect();
        dfg.map_inst_values(user, |arg| if names.contains(&arg) { other } else { arg });
    }
}

/// The number of branches to each block, and the predecessor of a block that has only one.
struct Predecessors(SecondaryMap<Block, (u32, PackedOption<Block>)>);

impl Predecessors {
    fn of(func: &Function) -> Predecessors {
        let mut preds = Predecessors(SecondaryMap::new());
        let dfg = &func.dfg;
        for block in func.layout.blocks() {
            let Some(last) = func.layout.last_inst(block) else { continue };
            let data = &dfg.insts[last];
            for target in data.branch_destination(&dfg.jump_tables, &dfg.exception_tables) {
                let (count, from) = &mut preds.0[target.block(&dfg.value_lists)];
                *count += 1;
                *from = Some(block).into();
            }
        }
        preds
    }

    /// Returns the only predecessor of a block, if one branch leads to the block.
    fn only(&self, block: Block) -> Option<Block> {
        let (count, from) = self.0[block];
        from.expand().filter(|_| count == 1)
    }
}

/// Returns whether an instruction has the same result in any place where its operands are
/// available.
fn can_move(func: &Function, inst: Inst) -> bool {
    let data = &func.dfg.insts[inst];
    let opcode = data.opcode();
    let reads_memory = match *data {
        InstructionData::Load { flags, .. } => {
            let flags = func.dfg.mem_flags[flags];
            !(flags.readonly() && flags.notrap() && flags.can_move())
        }
        _ => opcode.can_load(),
    };
    let acts = opcode.is_call()
        || opcode.is_terminator()
        || opcode.can_trap()
        || opcode.other_side_effects()
        || opcode.can_store();
    !reads_memory && !acts && func.dfg.inst_results(inst).len() == 1
}

/// Returns whether an instruction defines or adds a constant.
fn is_cheap(func: &Function, inst: Inst) -> bool {
    let is_constant = |inst: Inst| func.dfg.insts[inst].opcode() == Opcode::Iconst;
    match func.dfg.insts[inst] {
        InstructionData::Binary { opcode: Opcode::Iadd, args } => {
            func.dfg.value_def(func.dfg.resolve_aliases(args[1])).inst().is_some_and(is_constant)
        }
        _ => is_constant(inst),
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::types::I64;
    use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, UserFuncName};
    use cranelift_codegen::isa::CallConv;
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    use super::*;

    /// Returns the text of the blocks of a function after the pass: `build` emits its first block
    /// with the parameter of the function, and returns what the first and the cold block return.
    #[track_caller]
    fn check(
        build: impl FnOnce(&mut FunctionBuilder<'_>, Value) -> [Value; 2],
        expected: &[&[&str]],
    ) {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.push(AbiParam::new(I64));
        signature.returns.push(AbiParam::new(I64));
        let mut func = Function::with_name_signature(UserFuncName::default(), signature);
        let mut context = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut func, &mut context);
        let [first, hot, cold] = [(); 3].map(|()| b.create_block());
        b.set_cold_block(cold);
        b.append_block_params_for_function_params(first);
        b.switch_to_block(first);
        let param = b.block_params(first)[0];
        let results = build(&mut b, param);
        b.ins().brif(param, hot, &[], cold, &[]);
        for (block, result) in [hot, cold].into_iter().zip(results) {
            b.switch_to_block(block);
            b.ins().return_(&[result]);
        }
        b.seal_all_blocks();
        sink(&mut func);
        let opcodes = |block: Block| -> Vec<String> {
            let insts = func.layout.block_insts(block);
            insts.map(|inst| func.dfg.insts[inst].opcode().to_string()).collect()
        };
        let found: Vec<Vec<String>> = func.layout.blocks().map(opcodes).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_a_cold_block_uses_is_moved_there_with_what_it_needs() {
        check(
            |b, x| {
                let one = b.ins().iconst(I64, 1);
                let sum = b.ins().iadd(x, one);
                let product = b.ins().imul(sum, sum);
                [x, product]
            },
            &[&["brif"], &["return"], &["iconst", "iadd", "imul", "return"]],
        );
    }

    #[test]
    fn constants_and_sums_are_computed_where_they_are_used() {
        check(
            |b, x| {
                let sum = b.ins().iadd_imm_s(x, 8);
                [sum, sum]
            },
            &[&["brif"], &["iconst", "iadd", "return"], &["iconst", "iadd", "return"]],
        );
        check(
            |b, x| {
                let sum = b.ins().iadd_imm_s(x, 8);
                let other = b.ins().imul(sum, sum);
                b.ins().store(MemFlagsData::trusted(), other, x, 0);
                [sum, sum]
            },
            &[
                &["iconst", "iadd", "imul", "store", "brif"],
                &["return"],
                &["iconst", "iadd", "return"],
            ],
        );
    }

    #[test]
    fn what_others_use_and_what_has_effects_stays() {
        check(
            |b, x| {
                let one = b.ins().iconst(I64, 1);
                let product = b.ins().imul(x, one);
                let sum = b.ins().iadd(product, x);
                [product, sum]
            },
            &[&["iconst", "imul", "brif"], &["return"], &["iadd", "return"]],
        );
        check(
            |b, x| {
                let unused = b.ins().iadd(x, x);
                let flags = MemFlagsData::trusted();
                b.ins().load(I64, flags, unused, 0);
                let constant = b.ins().load(I64, flags.with_readonly().with_can_move(), x, 0);
                let variable = b.ins().load(I64, flags, constant, 0);
                [x, variable]
            },
            &[&["iadd", "load", "load", "load", "brif"], &["return"], &["return"]],
        );
    }
}
