//! The self-check of compiled code: what accesses find is compared with a plain lookup while the
//! code runs.
//!
//! Nothing is emitted without [`JitOptions::verify_values`](crate::JitOptions::verify_values). A
//! difference ends the process.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use perilune_runtime::layout::{closure, frame};
use perilune_runtime::tier::verify;
use perilune_runtime::value::Tag;

use super::value::Known;
use super::{Emitter, MEM};
use crate::entity::{Pc, Reg};

/// What is held of one register, as values of the code.
pub(crate) struct Held {
    pub(crate) register: Reg,
    pub(crate) bits: Vec<Value>,
    pub(crate) tags: Vec<Value>,
}

impl Emitter<'_> {
    /// Returns whether the code is to compare what it holds.
    pub(crate) fn verifies(&self) -> bool {
        self.body.verify_values
    }

    /// Compares what is held of registers, and of the closure, with the frame before the
    /// instruction at `pc`.
    pub(crate) fn verify_frame(&mut self, pc: Pc, held: &[Held]) {
        let base = self.base();
        let mut differences = Vec::new();
        for h in held {
            for &bits in &h.bits {
                let home = self.load_payload_at(base, h.register);
                differences.push(self.b.ins().bxor(home, bits));
                self.merge(&mut differences);
            }
            for &tag in &h.tags {
                let home = self.load_tag_at(base, h.register);
                differences.push(self.b.ins().bxor(home, tag));
                self.merge(&mut differences);
            }
        }
        let home = self.load_callee(base);
        let passed = self.closure_as_passed();
        if let Some(passed) = passed {
            differences.push(self.b.ins().bxor(home, passed));
            self.merge(&mut differences);
        }
        let instance = self.load64(home, closure::INSTANCE);
        differences.push(self.b.ins().bxor(instance, self.instance));
        self.merge(&mut differences);

        let (report, on) = (self.cold_block(), self.block());
        self.branch(differences[0], report, on);
        self.switch_to(report);
        for h in held {
            for &bits in &h.bits {
                let at = self.verified_place(pc, Some(h.register), verify::PAYLOAD);
                let zero = self.int(0);
                let args = [base, at, bits, zero];
                self.runtime(self.body.calls.verify_register as usize, &args, &[]);
            }
            for &tag in &h.tags {
                let at = self.verified_place(pc, Some(h.register), verify::TAG);
                let zero = self.int(0);
                let args = [base, at, zero, tag];
                self.runtime(self.body.calls.verify_register as usize, &args, &[]);
            }
        }
        let at = self.verified_place(pc, None, 0);
        let passed = passed.unwrap_or_else(|| self.int(0));
        let args = [base, at, passed, self.instance];
        self.runtime(self.body.calls.verify_closure as usize, &args, &[]);
        self.jump(on);
        self.switch_to(on);
    }

    /// Joins the last two of some differences.
    fn merge(&mut self, differences: &mut Vec<Value>) {
        if let [before, last] = differences[..] {
            *differences = vec![self.b.ins().bor(before, last)];
        }
    }

    fn load_payload_at(&mut self, base: Value, r: Reg) -> Value {
        self.b.ins().load(I64, MEM, base, frame::slot(r.index()))
    }

    /// Says where something is compared, packed into one number.
    fn verified_place(&mut self, pc: Pc, register: Option<Reg>, what: u64) -> Value {
        let register = register.map_or(0, Reg::index);
        self.int((pc.index() as u64 | (register as u64) << verify::REGISTER | what) as i64)
    }

    /// Compares what an access to the table `t` has found or stored under a key with a plain
    /// lookup.
    pub(crate) fn verify_entry(
        &mut self,
        pc: Pc,
        t: Value,
        key: (Value, Value),
        value: (Value, Value),
    ) {
        if !self.body.verify_values {
            return;
        }
        let (base, at) = (self.base(), self.verified_place(pc, None, 0));
        let args = [base, at, t, key.0, key.1, value.0, value.1];
        self.runtime(self.body.calls.verify_entry as usize, &args, &[]);
    }

    /// As [`Emitter::verify_entry`], under an integer.
    pub(crate) fn verify_element(&mut self, pc: Pc, t: Value, key: Value, value: (Value, Value)) {
        let tag = self.tag(Tag::INTEGER);
        self.verify_entry(pc, t, (key, tag), value);
    }

    /// As [`Emitter::verify_entry`], under the name that is constant `name`.
    pub(crate) fn verify_field(&mut self, pc: Pc, t: Value, name: usize, value: (Value, Value)) {
        if self.body.verify_values {
            let (bits, tag) = self.constant(name);
            let tag = self.tag(tag);
            self.verify_entry(pc, t, (bits, tag), value);
        }
    }

    /// Compares what the field access at `pc` has found for `object` by its inline cache with what
    /// a lookup along the chain of metatables finds.
    pub(crate) fn verify_lookup(
        &mut self,
        pc: Pc,
        (object, object_tag): (Value, Known),
        (bits, tag): (Value, Value),
    ) {
        if !self.body.verify_values {
            return;
        }
        let (st, base, at) = (self.state(), self.base(), self.verified_place(pc, None, 0));
        let object_tag = self.tag_value(object_tag);
        let args = [st, base, at, object, object_tag, bits, tag];
        self.runtime(self.body.calls.verify_lookup as usize, &args, &[]);
    }
}
