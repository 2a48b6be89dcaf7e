//! The self-check of compiled code: what the translator holds of registers is compared with the
//! frame while the code runs.
//!
//! With [`JitOptions::verify_values`](crate::JitOptions::verify_values) the code of each
//! instruction begins with a comparison of all that is held of registers at that point, carried
//! loop variables included, with their home slots. A difference ends the process.

use perilune_runtime::value::Tag;

use super::Translator;
use crate::codegen::value::Known;
use crate::codegen::verify::Held;
use crate::entity::{Pc, Reg, RegisterOperands};

impl Translator<'_> {
    /// Compares all that is held of registers before the instruction at `pc` with the frame.
    pub(super) fn verify_registers(&mut self, pc: Pc) {
        if self.emit.verifies() {
            let held: Vec<Held> =
                self.tags.registers().filter_map(|register| self.held(register)).collect();
            self.emit.verify_frame(pc, &held);
        }
    }

    /// What is held of a register; none if that is nothing.
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

    /// Compares the fields that the constructor of a table has stored for the instruction at `pc`.
    pub(super) fn verify_constructed(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let (bits, tag) = self.stored(i);
        if !self.emit.verifies() || matches!(tag, Known::Tag(Tag::NIL)) {
            return;
        }
        let (t, tag) = (self.bits(i.ra()), self.emit.tag_value(tag));
        self.emit.verify_field(pc, t, i.b(), (bits, tag));
    }
}
