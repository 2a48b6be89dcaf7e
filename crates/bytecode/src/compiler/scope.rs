//! Opens and closes blocks, activates variables, and resolves gotos.

use perilune_syntax::ast::{Attrib, GotoId, LabelId, LocalId};

use super::desc::{Kind, Place};
use super::error::{Limit, Result};
use super::func_state::FuncState;
use super::jump_list::JumpList;
use super::scopes::{Active, Block, Pending, Placed};
use crate::opcode::Op;
use crate::proto::LocalDesc;

/// The largest number of local variables of one function that debug information can describe,
/// including those in nested scopes (PUC's `SHRT_MAX`).
const MAX_DESCRIBED_LOCALS: usize = 32_767;

impl<'c> FuncState<'c> {
    /// Returns whether a `return` here must close variables.
    pub(super) fn return_needs_close(&self) -> bool {
        self.scopes.any_needs_close(0, self.scopes.active.len())
    }

    /// Returns whether a to-be-closed variable is in scope, which forbids tail calls.
    pub(super) fn in_to_be_closed_scope(&self) -> bool {
        self.scopes.active.iter().any(|v| v.to_be_closed)
    }

    /// Begins the scope of `locals`, which take the next registers.
    pub(super) fn activate(&mut self, locals: &[LocalId]) -> Result<()> {
        for &id in locals {
            if self.local_descs.len() >= MAX_DESCRIBED_LOCALS {
                return self.exceeded(Limit::DescribedLocals);
            }
            let register = self.variable_registers();
            let var = &self.function().locals[id.0 as usize];
            let to_be_closed = var.attrib == Attrib::Close;
            self.places[id.0 as usize] = Place::Register(register);
            self.scopes.active.push(Active {
                register: Some(register),
                desc: self.local_descs.len(),
                needs_close: var.captured || to_be_closed,
                to_be_closed,
            });
            let name = self.keep(self.chunk.names.text(var.name).as_bytes())?;
            self.local_descs.push(LocalDesc { name, start_pc: self.pc(), end_pc: 0, register });
        }
        Ok(())
    }

    /// Begins the scope of a variable that is folded into its uses.
    pub(super) fn activate_constant(&mut self, id: LocalId, value: Kind<'c>) {
        self.places[id.0 as usize] = Place::Constant(value);
        self.scopes.active.push(Active {
            register: None,
            desc: usize::MAX,
            needs_close: false,
            to_be_closed: false,
        });
    }

    /// Makes the last variable visible to debug information only from this point on.
    pub(super) fn restart_last_local(&mut self) {
        let pc = self.pc();
        if let Some(last) = self.scopes.active.last() {
            self.local_descs[last.desc].start_pc = pc;
        }
    }

    /// Makes the last active variable (the closing value of a generic `for`) a to-be-closed one.
    pub(super) fn mark_last_to_be_closed(&mut self) {
        if let Some(last) = self.scopes.active.last_mut() {
            last.needs_close = true;
            last.to_be_closed = true;
        }
    }

    /// Enters a block; the block of a loop records the target of `break`.
    pub(super) fn enter_block(&mut self, loop_end: Option<LabelId>) {
        debug_assert_eq!(self.free, self.variable_registers());
        self.scopes.blocks.push(Block {
            active: self.scopes.active.len(),
            first_goto: self.scopes.gotos.len(),
            loop_end,
        });
    }

    /// Leaves the innermost block. Returns whether its variables had to be closed.
    pub(super) fn leave_block(&mut self) -> Result<bool> {
        let block = self.scopes.blocks.pop().expect("a block to leave");
        let outer = block.active;
        let needs_close = self.scopes.any_needs_close(outer, self.scopes.active.len());
        for goto in &mut self.scopes.gotos[block.first_goto..] {
            if goto.active > outer {
                // A `break` out of this block itself reaches the CLOSE emitted below.
                if Some(goto.label) != block.loop_end {
                    goto.close |=
                        self.scopes.active[outer..goto.active].iter().any(|v| v.needs_close);
                }
                goto.active = outer;
            }
        }
        let level = self.scopes.registers(outer);
        let pc = self.pc();
        for var in self.scopes.active.drain(outer..) {
            if var.register.is_some() {
                self.local_descs[var.desc].end_pc = pc;
            }
        }
        let closed = match block.loop_end {
            Some(label) => self.place_label(label, false)?,
            None => false,
        };
        // The outermost block of a function ends with a return, which closes its variables.
        if needs_close && !closed && !self.scopes.blocks.is_empty() {
            self.emit_abc(Op::Close, level, 0, 0)?;
        }
        self.free = level;
        Ok(needs_close)
    }

    /// Places a label here and resolves the gotos that wait for it. Returns whether a CLOSE was
    /// needed.
    pub(super) fn place_label(&mut self, label: LabelId, at_block_end: bool) -> Result<bool> {
        let pc = self.label_here();
        let active = match self.scopes.blocks.last() {
            Some(block) if at_block_end => block.active,
            _ => self.scopes.active.len(),
        };
        self.scopes.labels[label.0 as usize] = Some(Placed { pc, active });
        let mut close = false;
        let mut kept = 0;
        for i in 0..self.scopes.gotos.len() {
            let goto = self.scopes.gotos[i];
            if goto.label == label {
                close |= goto.close;
                self.patch_list(goto.jumps, pc)?;
            } else {
                self.scopes.gotos[kept] = goto;
                kept += 1;
            }
        }
        self.scopes.gotos.truncate(kept);
        if close {
            let level = self.variable_registers();
            self.emit_abc(Op::Close, level, 0, 0)?;
        }
        Ok(close)
    }

    /// Compiles a `goto` or `break`.
    pub(super) fn goto(&mut self, goto: GotoId) -> Result<()> {
        let label = self.function().gotos[goto.0 as usize].label;
        match self.scopes.labels[label.0 as usize] {
            Some(Placed { pc, active }) => {
                if self.scopes.any_needs_close(active, self.scopes.active.len()) {
                    let level = self.scopes.registers(active);
                    self.emit_abc(Op::Close, level, 0, 0)?;
                }
                self.jump_to(pc)
            }
            None => {
                let jump = self.jump()?;
                self.pend(label, JumpList::one(jump));
                Ok(())
            }
        }
    }

    /// Makes `jumps` go to a label that has not been placed yet.
    pub(super) fn pend(&mut self, label: LabelId, jumps: JumpList) {
        let active = self.scopes.active.len();
        self.scopes.gotos.push(Pending { label, jumps, active, close: false });
    }
}
