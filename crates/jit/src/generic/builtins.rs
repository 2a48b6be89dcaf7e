//! Translates calls of library functions that machine code computes inline or calls directly.

use cranelift_codegen::ir::Value;
use perilune_runtime::frame::Frame;
use perilune_runtime::value::Tag;

use super::Translator;
use crate::codegen::builtin::Inlined;
use crate::codegen::value::{Join, Known};
use crate::entity::Reg;

/// A call that expects at most one result.
#[derive(Clone, Copy)]
pub(super) struct BuiltinCall {
    /// The register of the callee and of the result.
    pub(super) a: Reg,
    /// How many arguments follow, if that is known.
    pub(super) arguments: Option<usize>,
    /// Whether there is a result.
    pub(super) has_result: bool,
    /// Whether the result is left in its home slot.
    pub(super) stores: bool,
    pub(super) callee: Value,
    pub(super) tag: Known,
    pub(super) nargs: Value,
}

impl Translator<'_> {
    /// Calls the callee if it is any library function that machine code knows. Goes to `done` after
    /// that, otherwise continues.
    pub(super) fn any_builtin(&mut self, call: BuiltinCall, done: Join) {
        let unknown = self.emit.block();
        if self.emit.require(&[call.tag], Tag::NATIVE, unknown) {
            let (bits, tag) = self.emit.call_builtin(call.callee, call.a, call.nargs, unknown);
            self.end_builtin(call, bits, tag, done);
        } else {
            self.emit.jump(unknown);
        }
        self.emit.switch_to(unknown);
    }

    /// Like [`Translator::any_builtin`], if feedback has seen only library function `number`. The
    /// result is computed without a call if possible.
    pub(super) fn likely_builtin(&mut self, number: u32, call: BuiltinCall, done: Join) {
        let inlined = call.arguments.filter(|_| call.has_result);
        let inlined = inlined.and_then(|n| Some((Inlined::of(number, n)?, n)));
        let arguments: Vec<_> = match inlined {
            Some((_, n)) => (call.a + Frame::RESERVED).range(n).map(|r| self.any(r)).collect(),
            None => Vec::new(),
        };
        let unknown = self.emit.cold_block();
        if self.emit.require(&[call.tag], Tag::NATIVE, unknown) {
            self.emit.guard_builtin(call.callee, number, unknown);
            if let Some((function, _)) = inlined {
                let other = self.emit.cold_block();
                match self.emit.inlined(function, &arguments, other) {
                    Some((bits, tag)) => {
                        let tag = self.emit.tag_value(tag);
                        self.end_builtin(call, bits, tag, done);
                    }
                    None => self.emit.jump(other),
                }
                self.emit.switch_to(other);
            }
            let (bits, tag) = self.emit.call_leaf(number, call.a, call.nargs, unknown);
            self.end_builtin(call, bits, tag, done);
        } else {
            self.emit.jump(unknown);
        }
        self.emit.switch_to(unknown);
    }

    fn end_builtin(&mut self, call: BuiltinCall, bits: Value, tag: Value, done: Join) {
        if call.stores {
            self.emit.store_register(call.a, bits, tag);
        }
        self.emit.join(done, bits, tag);
    }
}
