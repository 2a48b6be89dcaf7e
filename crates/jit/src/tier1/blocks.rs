//! Blocks of the translation, and what registers hold where they begin.

use cranelift_codegen::ir::Block;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_frontend::Variable;
use perilune_runtime::value::Tag;

use super::Translator;
use super::generic::Way;
use crate::codegen::memory::Regions;
use crate::codegen::value::Known;
use crate::entity::{Pc, Reg};

impl Translator<'_> {
    /// Returns the block of the instruction at `pc`.
    fn block(&mut self, pc: Pc) -> Block {
        match self.blocks[pc] {
            Some(b) => b,
            None => *self.blocks[pc].insert(self.emit.block()),
        }
    }

    /// Begins the block of the instruction at `pc`.
    pub(super) fn begin_block(&mut self, pc: Pc) {
        let block = self.block(pc);
        if self.flow.is_loop[pc] {
            self.emit.switch_to_loop(block, Regions::default());
            self.emit.begin_loop();
        } else {
            self.emit.switch_to(block);
        }
        self.tags = self.tag_flow.at(pc).clone();
        let known = self.known_at[pc].take().filter(|_| self.flow.preds[pc] == 1);
        match known {
            Some(known) => self.regs = known,
            None => self.take_carried(pc),
        }
    }

    /// Ends the block: goes from the instruction at `pc` to `target`, by way of a poll if that is
    /// backwards.
    pub(super) fn go(&mut self, pc: Pc, target: Pc) {
        if self.ways.is_some() {
            return self.fall(target);
        }
        if target <= pc {
            self.emit.charge(pc, target);
            self.emit.poll_in_loop(target);
        } else if self.flow.preds[target] == 1 {
            self.known_at[target] = Some(self.regs.clone());
            let block = self.block(target);
            self.emit.jump(block);
            return;
        }
        self.fall(target);
    }

    /// Ends the block: goes to `target`, where control flow meets.
    pub(super) fn fall(&mut self, target: Pc) {
        if let Some(ways) = &mut self.ways {
            let block = self.emit.block();
            ways.push(Way { target, block });
            self.emit.jump(block);
            return;
        }
        for (r, tag) in self.carried(target) {
            let (variable, v) = match tag {
                Tag::FLOAT => (self.float_variable(r), self.peek_float(r)),
                _ => (self.int_variable(r), self.peek_bits(r)),
            };
            self.emit.assign(variable, v);
        }
        let block = self.block(target);
        self.emit.jump(block);
    }

    /// Returns the registers whose values come along in machine registers to where control flow
    /// meets: the numbers and tables among those that are still needed.
    fn carried(&self, target: Pc) -> Vec<(Reg, Tag)> {
        let known = self.tag_flow.at(target).known();
        known
            .filter(|&(_, tag)| matches!(tag, Tag::INTEGER | Tag::FLOAT | Tag::TABLE))
            .filter(|&(r, _)| self.live.is_live(target, r))
            .collect()
    }

    /// Takes over what registers hold where control flow meets.
    fn take_carried(&mut self, pc: Pc) {
        self.regs.begin();
        for (r, tag) in self.carried(pc) {
            if tag == Tag::FLOAT {
                let variable = self.float_variable(r);
                let v = self.emit.value_of(variable);
                self.regs.note_float(r, v, Known::Tag(tag));
            } else {
                let variable = self.int_variable(r);
                let v = self.emit.value_of(variable);
                self.regs.note(r, v, Known::Tag(tag));
            }
        }
    }

    fn int_variable(&mut self, r: Reg) -> Variable {
        match self.ints[r] {
            Some(v) => v,
            None => *self.ints[r].insert(self.emit.variable(I64)),
        }
    }

    fn float_variable(&mut self, r: Reg) -> Variable {
        match self.floats[r] {
            Some(v) => v,
            None => *self.floats[r].insert(self.emit.variable(F64)),
        }
    }
}
