//! The self-check of generic code: while the code runs, known contents of registers are compared
//! with the frame.
//!
//! With [`JitOptions::verify_values`](crate::JitOptions::verify_values) the code of each
//! instruction first compares the known contents of the registers that it accesses with their home
//! slots, and the code of an OSR entry compares all tags on which it relies. A mismatch aborts the
//! process.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::Op;
use perilune_bytecode::effects::effects;

use super::Translator;
use crate::codegen::verify::Held;
use crate::entity::{Pc, Reg};

impl Translator<'_> {
    /// Compares the known contents of registers before the instruction at `pc` with the frame: of
    /// all registers at the beginning of a block, otherwise of those that the instruction accesses.
    pub(super) fn verify_registers(&mut self, pc: Pc) {
        if !self.emit.verifies() {
            return;
        }
        let i = self.instr(pc);
        // a constructor stores values that later instructions read
        let is_all = self.flow.leader[pc] || i.op() == Op::NewTable;
        let accesses = effects(i);
        let ranges = accesses.reads.iter().chain(&accesses.writes).copied();
        let is_accessed =
            |r: Reg| ranges.clone().any(|(first, n)| (first..first + n).contains(&r.index()));
        let registers: Vec<Reg> =
            self.tags.registers().filter(|&r| is_all || is_accessed(r)).collect();
        let held: Vec<Held> = registers.into_iter().filter_map(|r| self.held(r)).collect();
        self.emit.verify_frame(pc, &held);
    }

    /// Returns the known content of a register, if there is any.
    fn held(&mut self, register: Reg) -> Option<Held> {
        let known = self.regs.peek(register);
        let mut held = Held { register, bits: Vec::new(), tags: Vec::new() };
        if let Some(tag) = self.tags[register] {
            held.tags.push(self.emit.tag(tag));
        }
        if known.has_payload() {
            held.bits.push(self.peek_bits(register));
        }
        if known.has_payload_twice() {
            let float = self.peek_float(register);
            let bits = self.emit.float_bits(float);
            held.bits.push(bits);
        }
        if let Some(tag) = known.tag() {
            held.tags.push(self.emit.tag_value(tag));
        }
        if let Some(join) = known.join() {
            held.tags.push(self.emit.joined_tag(join));
        }
        (!held.bits.is_empty() || !held.tags.is_empty()).then_some(held)
    }
}
