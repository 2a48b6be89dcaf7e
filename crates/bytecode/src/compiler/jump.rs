//! Emits jumps, and resolves lists of jumps whose target was not known when they were emitted.

use super::error::{Limit, Result};
use super::func_state::FuncState;
use super::jump_list::JumpList;
use crate::flow::{is_test, jump_target};
use crate::instr::Instr;
use crate::opcode::Op;

/// `sJ` of a JMP at the end of its list. It would jump to itself, which no jump of a list does in
/// finished code.
const END: i32 = -1;

/// `A` of a TESTSET whose register is not chosen yet; no register has that number.
const NO_REGISTER: u8 = 255;

impl<'c> FuncState<'c> {
    /// Emits a JMP whose target is not known yet.
    pub(super) fn jump(&mut self) -> Result<u32> {
        self.emit(Instr::sj(Op::Jmp, END))
    }

    /// Emits a jump to code that was already emitted.
    pub(super) fn jump_to(&mut self, target: u32) -> Result<()> {
        let pc = self.jump()?;
        self.fix_jump(pc, target)
    }

    /// Emits a test and its jump, and returns the pc of the jump.
    pub(super) fn conditional_jump(&mut self, op: Op, a: u8, b: u8, c: u8) -> Result<u32> {
        self.emit(Instr::abc(op, a, b, c))?;
        self.jump()
    }

    /// Returns the current pc as a jump target: no later peephole optimization may merge
    /// instructions across it.
    pub(super) fn label_here(&mut self) -> u32 {
        self.last_target = self.pc();
        self.pc()
    }

    fn next_jump(&self, pc: u32) -> Option<u32> {
        match self.code[pc as usize].sj_value() {
            distance if distance == END as isize => None,
            _ => Some(jump_target(&self.code, pc as usize) as u32),
        }
    }

    /// Points the JMP at `pc` to `target`.
    pub(super) fn fix_jump(&mut self, pc: u32, target: u32) -> Result<()> {
        let distance = i64::from(target) - i64::from(pc) - 1;
        if distance.abs() > i64::from(Instr::MAX_SJ) {
            return self.exceeded(Limit::ControlStructure);
        }
        self.code[pc as usize] = Instr::sj(Op::Jmp, distance as i32);
        Ok(())
    }

    /// Puts the jumps of `front`, which should be the shorter list, before those of `list`.
    pub(super) fn join(&mut self, list: &mut JumpList, front: JumpList) -> Result<()> {
        let Some(mut last) = front.0 else { return Ok(()) };
        let Some(first) = list.0 else {
            *list = front;
            return Ok(());
        };
        *list = front;
        while let Some(next) = self.next_jump(last) {
            last = next;
        }
        self.fix_jump(last, first)
    }

    /// Returns the instruction that decides whether the jump at `pc` is taken: its test, or itself.
    pub(super) fn jump_control(&mut self, pc: u32) -> &mut Instr {
        let pc = pc as usize;
        if pc >= 1 && is_test(self.code[pc - 1].op()) {
            &mut self.code[pc - 1]
        } else {
            &mut self.code[pc]
        }
    }

    /// Gives the TESTSET of the jump at `pc` its register, or makes it a TEST if the value is not
    /// used. Returns false if the jump is not controlled by a TESTSET.
    fn patch_test_register(&mut self, pc: u32, register: u8) -> bool {
        let test = self.jump_control(pc);
        if test.op() != Op::TestSet {
            return false;
        }
        *test = if register != NO_REGISTER && register as usize != test.b() {
            test.with_a(register)
        } else {
            Instr::abc(Op::Test, test.b() as u8, 0, test.c() as u8)
        };
        true
    }

    /// Emits a TESTSET on `register` and its jump.
    pub(super) fn test_set(&mut self, register: u8, condition: bool) -> Result<u32> {
        self.conditional_jump(Op::TestSet, NO_REGISTER, register, condition.into())
    }

    /// Makes no test of the list produce a value.
    pub(super) fn drop_values(&mut self, list: JumpList) {
        let mut at = list.0;
        while let Some(pc) = at {
            self.patch_test_register(pc, NO_REGISTER);
            at = self.next_jump(pc);
        }
    }

    /// Returns whether some jump of the list does not produce its value itself.
    pub(super) fn needs_value(&mut self, list: JumpList) -> bool {
        let mut at = list.0;
        while let Some(pc) = at {
            if self.jump_control(pc).op() != Op::TestSet {
                return true;
            }
            at = self.next_jump(pc);
        }
        false
    }

    /// Points the jumps that produce a value, in `register`, to `value_target`, and the others to
    /// `default_target`.
    pub(super) fn patch_values(
        &mut self,
        list: JumpList,
        value_target: u32,
        register: u8,
        default_target: u32,
    ) -> Result<()> {
        let mut at = list.0;
        while let Some(pc) = at {
            at = self.next_jump(pc);
            let delivers = self.patch_test_register(pc, register);
            self.fix_jump(pc, if delivers { value_target } else { default_target })?;
        }
        Ok(())
    }

    /// Points all jumps of the list to `target`.
    pub(super) fn patch_list(&mut self, list: JumpList, target: u32) -> Result<()> {
        self.patch_values(list, target, NO_REGISTER, target)
    }

    /// Points all jumps of the list to the code that comes next.
    pub(super) fn patch_to_here(&mut self, list: JumpList) -> Result<()> {
        let here = self.label_here();
        self.patch_list(list, here)
    }

    /// Makes every jump to a jump go directly to the last target. The number of steps is bounded,
    /// as jumps may form a cycle.
    pub(super) fn thread_jumps(&mut self) -> Result<()> {
        for pc in 0..self.code.len() {
            if self.code[pc].op() != Op::Jmp {
                continue;
            }
            let mut target = pc;
            for _ in 0..100 {
                if self.code[target].op() != Op::Jmp {
                    break;
                }
                target = jump_target(&self.code, target);
            }
            self.fix_jump(pc as u32, target as u32)?;
        }
        Ok(())
    }
}
