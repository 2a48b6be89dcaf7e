//! Translates calls of `pcall`.
//!
//! The code itself builds the frame of `pcall`, in the form that the interpreter expects, and calls
//! the function through its slot. Errors, yields and exits of the function therefore find the same
//! frames as without machine code. Unless the function simply returns, the runtime completes the
//! call.

use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::types::I64;
use perilune_runtime::frame::Frame;
use perilune_runtime::native::Builtin;
use perilune_runtime::tier::MAX_NATIVE_DEPTH;
use perilune_runtime::value::{Tag, Value as LuaValue};

use super::Translator;
use crate::codegen::value::{Join, Known};
use crate::entity::{Pc, Reg};

/// The maximum number of results of a call of `pcall` that is translated, including `true`.
const MAX_RESULTS: usize = 4;

impl Translator<'_> {
    /// Calls `pcall`, which lies in register `a`, for CALL's operand C, if it is called with a Lua
    /// function, a known number of arguments and for a few results; otherwise continues. A single
    /// result is left in its home slot if `stores`.
    pub(super) fn protected_call(
        &mut self,
        pc: Pc,
        (a, c, stores): (Reg, usize, bool),
        (callee, tag): (Value, Known),
        done: Join,
    ) {
        let i = self.instr(pc);
        let (Some(arguments), Some(wanted)) = (i.b().checked_sub(2), c.checked_sub(1)) else {
            return;
        };
        let other = self.emit.cold_block();
        if wanted > MAX_RESULTS || !self.emit.require(&[tag], Tag::NATIVE, other) {
            self.emit.jump(other);
            return self.emit.switch_to(other);
        }
        self.emit.guard_builtin(callee, Builtin::PCall as u32, other);
        let first = a + Frame::RESERVED;
        let (function, tag) = self.any(first);
        if !self.emit.require(&[tag], Tag::FUNCTION, other) {
            self.emit.jump(other);
            return self.emit.switch_to(other);
        }
        self.emit.guard_nothing_to_poll(other);
        let depth = self.emit.native_depth(MAX_NATIVE_DEPTH, other);
        // [f, args] becomes [true, f, header, args]
        for n in (0..arguments).rev() {
            let (bits, tag) = self.any(first + 1 + n);
            let tag = self.emit.tag_value(tag);
            self.emit.store_register(first + Frame::PROTECTED_CALLEE + n, bits, tag);
        }
        let inner = first + Frame::PROTECTED_KEEPS;
        let tag = self.emit.tag(Tag::FUNCTION);
        self.emit.store_register(inner, function, tag);
        let (success, is_true) =
            (self.emit.int(LuaValue::TRUE.bits() as i64), self.emit.tag(Tag::TRUE));
        self.emit.store_register(first, success, is_true);
        let base = self.emit.begin_protected(first, pc + 1, depth);
        let nargs = self.emit.int(arguments as i64);
        let results = self.emit.call_slot(&[function, base, nargs]);
        let returned = self.emit.end_call(inner, results);
        self.emit.switch_to(returned.good);
        self.emit.leave_protected();
        let (success, is_true) =
            (self.emit.int(LuaValue::TRUE.bits() as i64), self.emit.tag(Tag::TRUE));
        if wanted > 0 && (stores || c != 2) {
            self.emit.store_register(a, success, is_true);
        }
        self.emit.take_results(a + 1, inner, wanted.saturating_sub(1), &returned);
        self.emit.join(done, success, is_true);
        let ended = self.emit.end_protected(&returned, inner, pc + 1);
        self.emit.switch_to(ended);
        let (bits, tag) = self.emit.load_register(a, I64);
        self.emit.join(done, bits, tag);
        self.emit.switch_to(other);
        self.regs.forget_all();
    }
}
