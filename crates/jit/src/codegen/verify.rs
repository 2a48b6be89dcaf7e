//! The self-check of compiled code: while the code runs, the results of accesses are compared with
//! those of plain lookups.
//!
//! Nothing is emitted without [`JitOptions::verify_values`](crate::JitOptions::verify_values). A
//! mismatch aborts the process.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Opcode, TrapCode, Value};
use perilune_runtime::layout::{closure, frame, value};
use perilune_runtime::tier::verify;
use perilune_runtime::value::Tag;

use super::Emitter;
use super::memory::Region;
use super::value::Known;
use crate::entity::{Pc, Reg};

/// The values that the code holds for one register.
pub(crate) struct Held {
    pub(crate) register: Reg,
    pub(crate) bits: Vec<Value>,
    pub(crate) tags: Vec<Value>,
}

impl Held {
    /// Returns the values, and whether each is a tag.
    fn values(&self) -> impl DoubleEndedIterator<Item = (&Value, bool)> {
        let bits = self.bits.iter().map(|value| (value, false));
        bits.chain(self.tags.iter().map(|value| (value, true)))
    }
}

/// The blocks that abort the process after a mismatch. Their parameters are the base, the place of
/// the comparison, and the value that the code held.
#[derive(Clone, Copy)]
pub(crate) struct VerifyReports {
    of_register: Block,
    of_closure: Block,
}

impl Emitter<'_> {
    /// Returns whether the code compares the values that it holds.
    pub(crate) fn verifies(&self) -> bool {
        self.body.verify_values
    }

    /// Compares the values held for registers, and the closure, with the frame before the
    /// instruction at `pc`.
    pub(crate) fn verify_frame(&mut self, pc: Pc, held: &[Held]) {
        let base = self.base();
        let reports = self.verify_reports();
        let mut differences = Vec::new();
        for h in held {
            for (&held, is_tag) in h.values() {
                let home = self.load_home_at(base, h.register, is_tag);
                differences.push(self.b.ins().bxor(home, held));
                self.merge(&mut differences);
            }
        }
        let of_registers = differences.first().copied();
        let home = self.load_callee(base);
        let passed = self.closure_as_passed();
        if let Some(passed) = passed {
            differences.push(self.b.ins().bxor(home, passed));
            self.merge(&mut differences);
        }
        let instance = self.load64(Region::Objects, home, closure::INSTANCE);
        let held_instance = self.instance();
        differences.push(self.b.ins().bxor(instance, held_instance));
        self.merge(&mut differences);

        let (report, on) = (self.cold_block(), self.block());
        self.branch(differences[0], report, on);
        self.switch_to(report);
        let closure_at = self.verified_place(pc, None, 0);
        let (mut at, mut found) = (closure_at, self.int(0));
        // the last selection wins, and is for the first register
        for h in held.iter().rev() {
            for (&held, is_tag) in h.values().rev() {
                let home = self.load_home_at(base, h.register, is_tag);
                let differs = self.b.ins().icmp(IntCC::NotEqual, home, held);
                let what = if is_tag { verify::TAG } else { verify::PAYLOAD };
                let place = self.verified_place(pc, Some(h.register), what);
                at = self.b.ins().select(differs, place, at);
                found = self.b.ins().select(differs, held, found);
            }
        }
        let passed = passed.unwrap_or_else(|| self.int(0));
        let of_registers = of_registers.unwrap_or_else(|| self.int(0));
        let register = [base, at, found].map(BlockArg::Value);
        let closure = [base, closure_at, passed].map(BlockArg::Value);
        let VerifyReports { of_register, of_closure } = reports;
        self.b.ins().brif(of_registers, of_register, &register, of_closure, &closure);
        self.switch_to(on);
    }

    /// Returns the blocks that report a difference. All instructions share them. Code does not
    /// continue after them, so no value lives across their calls.
    fn verify_reports(&mut self) -> VerifyReports {
        if let Some(reports) = self.verify_reports {
            return reports;
        }
        let [of_register, of_closure] = [(); 2].map(|()| {
            let block = self.cold_block();
            for _ in 0..3 {
                self.b.append_block_param(block, I64);
            }
            block
        });
        *self.verify_reports.insert(VerifyReports { of_register, of_closure })
    }

    /// Fills the blocks that report a difference.
    pub(super) fn verify_report_blocks(&mut self) {
        let Some(VerifyReports { of_register, of_closure }) = self.verify_reports else { return };
        for block in [of_register, of_closure] {
            self.switch_to(block);
            let &[base, at, held] = self.b.block_params(block) else { unreachable!() };
            let (address, last) = match block == of_closure {
                true => (self.body.calls.verify_closure, self.instance()),
                false => (self.body.calls.verify_register, held),
            };
            self.runtime(address as usize, &[base, at, held, last], &[]);
            self.b.ins().trap(TrapCode::unwrap_user(1));
        }
    }

    /// Loads from a home slot even if its value is available, since that is to be compared.
    fn load_home_at(&mut self, base: Value, register: Reg, is_tag: bool) -> Value {
        let at = frame::slot(register.index());
        match is_tag {
            true => {
                self.load_always(Region::Slots, (Opcode::Uload8, I64), base, at + value::TAG as i32)
            }
            false => {
                self.load_always(Region::Slots, (Opcode::Load, I64), base, at + value::BITS as i32)
            }
        }
    }

    /// Combines the last two differences into one.
    fn merge(&mut self, differences: &mut Vec<Value>) {
        if let [before, last] = differences[..] {
            *differences = vec![self.b.ins().bor(before, last)];
        }
    }

    /// Calls a function of the runtime that compares values and changes no memory. Available values
    /// stay available; otherwise self-checking code would hold fewer values than other code.
    fn verify(&mut self, address: usize, args: &[Value]) {
        let call = self.runtime(address, args, &[]);
        self.changes_nothing(call);
    }

    /// Returns the place of a comparison, packed into one number.
    fn verified_place(&mut self, pc: Pc, register: Option<Reg>, what: u64) -> Value {
        let register = register.map_or(0, Reg::index);
        self.int((pc.index() as u64 | (register as u64) << verify::REGISTER | what) as i64)
    }

    /// Compares the value that an access to the table `t` has found or stored at a key with a plain
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
        let (instance, at) = (self.instance(), self.verified_place(pc, None, 0));
        let args = [instance, at, t, key.0, key.1, value.0, value.1];
        self.verify(self.body.calls.verify_entry as usize, &args);
    }

    /// As [`Emitter::verify_entry`], for an integer key.
    pub(crate) fn verify_element(&mut self, pc: Pc, t: Value, key: Value, value: (Value, Value)) {
        let tag = self.tag(Tag::INTEGER);
        self.verify_entry(pc, t, (key, tag), value);
    }

    /// As [`Emitter::verify_entry`], for the key that is constant `name`.
    pub(crate) fn verify_field(&mut self, pc: Pc, t: Value, name: usize, value: (Value, Value)) {
        if self.body.verify_values {
            let (bits, tag) = self.constant(name);
            let tag = self.tag(tag);
            self.verify_entry(pc, t, (bits, tag), value);
        }
    }

    /// Compares the value that the GETTABUP at `pc` has found in the environment `env` with the
    /// result of a lookup along the chain of metatables.
    pub(crate) fn verify_global(&mut self, pc: Pc, env: Value, value: (Value, Value)) {
        self.verify_lookup(pc, (env, Known::Tag(Tag::TABLE)), value);
    }

    /// Compares a value with the variable at an address.
    pub(crate) fn verify_variable(&mut self, pc: Pc, variable: Value, value: (Value, Value)) {
        if !self.body.verify_values {
            return;
        }
        let (instance, at) = (self.instance(), self.verified_place(pc, None, 0));
        let args = [instance, at, variable, value.0, value.1];
        self.verify(self.body.calls.verify_variable as usize, &args);
    }

    /// Compares the value that the field access at `pc` has found for `object` by its inline cache
    /// with the result of a lookup along the chain of metatables.
    pub(crate) fn verify_lookup(
        &mut self,
        pc: Pc,
        (object, object_tag): (Value, Known),
        (bits, tag): (Value, Value),
    ) {
        if !self.body.verify_values {
            return;
        }
        let (st, instance) = (self.state(), self.instance());
        let at = self.verified_place(pc, None, 0);
        let object_tag = self.tag_value(object_tag);
        let args = [st, instance, at, object, object_tag, bits, tag];
        self.verify(self.body.calls.verify_lookup as usize, &args);
    }
}
