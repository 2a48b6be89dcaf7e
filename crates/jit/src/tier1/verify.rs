//! The self-check of compiled code: what the translator holds of registers and tables is compared
//! with the frame and the heap while the code runs.
//!
//! With [`JitOptions::verify_values`](crate::JitOptions::verify_values) the code of each
//! instruction begins with a comparison of all that is held of registers at that point, carried
//! loop variables included, with their home slots. What accesses found by shapes, array kinds and
//! inline caches is compared with a plain lookup. A difference ends the process.

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use perilune_runtime::layout::{closure, frame};
use perilune_runtime::tier::verify;
use perilune_runtime::value::Tag;

use super::regs::Known;
use super::{MEM, Translator};
use crate::analysis::types::UNKNOWN;

/// What is held of one register, as values of the code.
struct Held {
    register: usize,
    bits: Vec<Value>,
    tags: Vec<Value>,
}

impl Translator<'_> {
    /// Compares all that is held of registers before the instruction at `pc` with the frame.
    pub(super) fn verify_registers(&mut self, pc: usize) {
        if !self.verify_values {
            return;
        }
        let held: Vec<Held> =
            (0..self.tags.len()).filter_map(|register| self.held(register)).collect();
        let base = self.load_base();
        let mut wrong = None;
        let mut add = |t: &mut Self, found: Value, expected: Value| {
            let differs = t.b.ins().bxor(found, expected);
            wrong = Some(match wrong {
                Some(before) => t.b.ins().bor(before, differs),
                None => differs,
            });
        };
        for h in &held {
            for &bits in &h.bits {
                let home = self.b.ins().load(I64, MEM, base, frame::slot(h.register));
                add(self, home, bits);
            }
            for &tag in &h.tags {
                let home = self.b.ins().uload8(I64, MEM, base, frame::tag(h.register));
                add(self, home, tag);
            }
        }
        let home = self.b.ins().load(I64, MEM, base, frame::CALLEE);
        if self.nothing_called {
            add(self, home, self.passed_closure);
        }
        let instance = self.b.ins().load(I64, MEM, home, closure::INSTANCE as i32);
        add(self, instance, self.instance);

        let (report, on) = (self.cold_block(), self.b.create_block());
        let wrong = wrong.expect("the closure is always compared");
        self.b.ins().brif(wrong, report, &[], on, &[]);
        self.b.switch_to_block(report);
        for h in held {
            for bits in h.bits {
                let at = self.place(pc, h.register, verify::PAYLOAD);
                let zero = self.int(0);
                let args = [base, at, bits, zero];
                self.runtime(self.calls.verify_register as usize, &args, &[]);
            }
            for tag in h.tags {
                let at = self.place(pc, h.register, verify::TAG);
                let zero = self.int(0);
                let args = [base, at, zero, tag];
                self.runtime(self.calls.verify_register as usize, &args, &[]);
            }
        }
        let at = self.place(pc, 0, 0);
        let passed = if self.nothing_called { self.passed_closure } else { self.int(0) };
        let args = [base, at, passed, self.instance];
        self.runtime(self.calls.verify_closure as usize, &args, &[]);
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
    }

    /// What is held of a register; none if that is nothing.
    fn held(&mut self, register: usize) -> Option<Held> {
        let known = self.regs.peek(register);
        let mut held = Held { register, bits: Vec::new(), tags: Vec::new() };
        if self.tags[register] != UNKNOWN {
            held.tags.push(self.int(self.tags[register].into()));
        }
        if known.has_payload() {
            held.bits.push(self.peek_bits(register));
        }
        if known.has_payload_twice() {
            let float = self.peek_float(register);
            let bits = self.float_bits(float);
            held.bits.push(bits);
        }
        if let Some(tag) = known.tag() {
            held.tags.push(self.tag_value(tag));
        }
        if let Some(join) = known.join() {
            held.tags.push(self.b.use_var(join));
        }
        (!held.bits.is_empty() || !held.tags.is_empty()).then_some(held)
    }

    /// Where something is compared, packed into one number.
    fn place(&mut self, pc: usize, register: usize, what: u64) -> Value {
        self.int((pc as u64 | (register as u64) << verify::REGISTER | what) as i64)
    }

    /// Compares what an access to the table `t` has found or stored under a key with a plain
    /// lookup.
    pub(super) fn verify_entry(
        &mut self,
        pc: usize,
        t: Value,
        key: (Value, Value),
        value: (Value, Value),
    ) {
        if !self.verify_values {
            return;
        }
        let (base, at) = (self.load_base(), self.place(pc, 0, 0));
        let args = [base, at, t, key.0, key.1, value.0, value.1];
        self.runtime(self.calls.verify_entry as usize, &args, &[]);
    }

    /// As [`Translator::verify_entry`], under an integer.
    pub(super) fn verify_element(
        &mut self,
        pc: usize,
        t: Value,
        key: Value,
        value: (Value, Value),
    ) {
        let tag = self.int(Tag::INTEGER.0.into());
        self.verify_entry(pc, t, (key, tag), value);
    }

    /// As [`Translator::verify_entry`], under the name that is constant `name`.
    pub(super) fn verify_field(&mut self, pc: usize, t: Value, name: usize, value: (Value, Value)) {
        if self.verify_values {
            let (bits, tag) = self.constant(name);
            let tag = self.int(tag.0.into());
            self.verify_entry(pc, t, (bits, tag), value);
        }
    }

    /// Compares what the field access at `pc` has found for `object` by its inline cache with what
    /// a lookup along the chain of metatables finds.
    pub(super) fn verify_lookup(
        &mut self,
        pc: usize,
        (object, object_tag): (Value, Known),
        (bits, tag): (Value, Value),
    ) {
        if !self.verify_values {
            return;
        }
        let (st, base, at) = (self.state(), self.load_base(), self.place(pc, 0, 0));
        let object_tag = self.tag_value(object_tag);
        let args = [st, base, at, object, object_tag, bits, tag];
        self.runtime(self.calls.verify_lookup as usize, &args, &[]);
    }

    /// Compares the fields that the constructor of a table has stored for the instruction at `pc`.
    pub(super) fn verify_constructed(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let (bits, tag) = self.stored(i);
        if !self.verify_values || matches!(tag, Known::Tag(Tag::NIL)) {
            return;
        }
        let (t, tag) = (self.bits(i.a()), self.tag_value(tag));
        self.verify_field(pc, t, i.b(), (bits, tag));
    }
}
