//! Builds VARARG in the function itself, and calls of `select` among its extra arguments.
//!
//! If a VARARG requests a fixed number of extra arguments, they are loaded from below the frame,
//! where they are stored. If it requests all of them, it copies them to the end of the stack for
//! the CALL that follows. If that is a call of `select` with one result, both instructions are
//! built at the VARARG: the result is loaded directly from the extra arguments. If a guard fails,
//! the frame continues before the VARARG.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::{Instr, Op as Bytecode, Proto};
use perilune_runtime::frame::Frame as Layout;
use perilune_runtime::native::Builtin;
use perilune_runtime::value::Tag;

use super::Builder;
use crate::analysis::selector::Selector;
use crate::entity::{Pc, RegisterOperands};
use crate::feedback::snapshot::{CalleeSeen, Snapshot};
use crate::tier2::ir::{Op, Type, Value};

impl Builder<'_> {
    /// Builds VARARG, in the outermost function.
    pub(super) fn var_arg(&mut self) {
        let i = self.instr(self.pc);
        if is_loaded(i) {
            let extra = (1..i.c()).map(|n| self.extra(n)).collect();
            return self.write_wanted(i.ra(), extra, i.c());
        }
        match self.selected_extra() {
            Some(v) => self.selected = Some(v),
            None => self.generic(),
        }
    }

    /// Returns extra argument `n`, counted from 1.
    fn extra(&mut self, n: usize) -> Value {
        let state = self.state();
        let n = self.integer(n as i64);
        self.value(Type::Any, Op::Extra(n, state))
    }

    /// Returns the result of the call of `select` that follows VARARG, if it can be built here.
    fn selected_extra(&mut self) -> Option<Value> {
        let call = self.pc + 1;
        let selector = selector(self.source.proto, self.source.snapshot, call)?;
        let i = self.instr(call);
        let callee = self.read(i.ra());
        let index = self.read(i.ra() + Layout::RESERVED);
        let is_wrong = selector == Selector::Variable && self.is_never(index, Tag::INTEGER);
        if is_wrong
            || self.is_never(callee, Tag::NATIVE)
            || self.source.snapshot.failed.contains(&self.pc.as_u32())
        {
            return None;
        }
        let callee = self.guard(callee, Tag::NATIVE);
        self.guard_library(callee, Builtin::Select as u32);
        let int = Type::Is(Tag::INTEGER);
        let index = match selector {
            Selector::Count => return Some(self.value(int, Op::ExtraCount)),
            Selector::From(n) => return Some(self.extra(n)),
            Selector::Variable => self.guard(index, Tag::INTEGER),
        };
        let state = self.state();
        Some(self.value(Type::Any, Op::Extra(index, state)))
    }
}

/// Returns whether a VARARG copies so few extra arguments that each is loaded.
fn is_loaded(i: Instr) -> bool {
    /// The most extra arguments that are loaded one by one.
    const MAX_LOADED: usize = 8;
    (2..=MAX_LOADED + 1).contains(&i.c())
}

/// Returns whether VARARG at `pc`, in the outermost function, is built without generic code.
pub(super) fn is_built(proto: &Proto, snapshot: &Snapshot, pc: Pc) -> bool {
    is_loaded(pc.instr(proto)) || selector(proto, snapshot, pc + 1).is_some()
}

/// Returns what the CALL at `pc` passes to `select` before the extra arguments, if it has called
/// nothing else and has one result or none.
fn selector(proto: &Proto, snapshot: &Snapshot, pc: Pc) -> Option<Selector> {
    let i = *proto.code.get(pc.index())?;
    let is_select = i.op() == Bytecode::Call
        && (1..=2).contains(&i.c())
        && snapshot.callee(pc) == CalleeSeen::Builtin(Builtin::Select as u32);
    let is_built = !snapshot.general && !snapshot.failed.contains(&pc.as_u32());
    (is_select && is_built).then(|| Selector::of(proto, pc)).flatten()
}
