//! Builds loads of upvalues.
//!
//! The value of a variable that the program never assigns is loaded once: it stays the same,
//! whatever is called, unless a debug function changes it. The first such change in a state
//! deoptimizes all frames of machine code. Code that is entered later detects the change by a
//! guard, which precedes the first reuse of such a value.
//!
//! The variable of a recursive `local function` is of this kind, and its value is the running
//! closure itself: it needs neither a load nor a guard of its method.

use std::sync::Arc;

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::{Op as Bytecode, UpvalDesc};
use perilune_runtime::value::Tag;

use super::{Builder, Source};
use crate::entity::Pc;
use crate::testing::fault::Fault;
use crate::tier2::ir::{Frame, Op, Type, Value};

impl Builder<'_> {
    /// Defines the function's own closure as a value, if one of its upvalues is known to be that
    /// closure, or if the function may be inlined into itself.
    pub(super) fn own_closure(&mut self) {
        let own = &self.f.frames[Frame::new(0)].proto;
        let is_inlined = self.candidates.iter().any(|c| Arc::ptr_eq(&c.inlinee.proto, own));
        if is_inlined || self.source.proto.upvalues.iter().any(|desc| desc.itself) {
            self.f.own = Some(self.value(Type::Is(Tag::FUNCTION), Op::OwnClosure));
        }
    }

    /// Returns whether a value is the function's own closure.
    pub(super) fn is_own(&self, closure: Value) -> bool {
        let origin = self.f.origin(closure);
        self.f.own == Some(origin) || self.known.is_own(origin)
    }

    /// Returns the closure whose upvalues are those of the function that is being built, or `None`
    /// if it is the outermost function's own.
    pub(super) fn upvalues_of(&self) -> Option<Value> {
        self.closure.filter(|&closure| !self.is_own(closure))
    }

    /// Returns the value of upvalue `n`.
    pub(super) fn upvalue(&mut self, n: usize) -> Value {
        let of = self.upvalues_of();
        let known = self.known.upvalue(of, n).or_else(|| self.constant_upvalue(of, n));
        let v = match known {
            Some(v) => {
                self.check(Op::CheckUpvalue(of, n, v));
                v
            }
            None => self.value(Type::Any, Op::Upvalue(of, n)),
        };
        self.known.note_upvalue(of, n, v);
        if self.never_assigned(n).is_some() {
            self.known.note_constant(of, n, v);
        }
        v
    }

    /// Returns the value of upvalue `n`, if it is known and the program never assigns the upvalue,
    /// after a guard that it has not changed.
    fn constant_upvalue(&mut self, of: Option<Value>, n: usize) -> Option<Value> {
        let v = match self.never_assigned(n)?.itself {
            true => of.or(self.f.own)?,
            false => self.known.constant(of, n)?,
        };
        self.hold_constants();
        Some(v)
    }

    /// Guards that no debug function had changed a constant variable before.
    pub(super) fn hold_constants(&mut self) {
        if !self.known.hold_constants() && self.source.fault != Some(Fault::StaleConstants) {
            let state = self.state();
            self.push(Op::GuardConstants(state));
        }
    }

    /// Returns upvalue `n` if the program never assigns it, unless code of the function has exited
    /// because a debug function has changed such an upvalue. The environment is excluded: if a
    /// debug function changes it, frames are deoptimized only if they rely on globals.
    pub(super) fn never_assigned(&self, n: usize) -> Option<UpvalDesc> {
        let Source { proto, snapshot, .. } = self.source;
        let desc = proto.upvalues[n];
        let has_failed = |&pc: &u32| self.instr(Pc::new(pc as usize)).op() == Bytecode::GetUpval;
        let is_constant = desc.constant && !proto.is_environment(n);
        (is_constant && !snapshot.failed.iter().any(has_failed)).then_some(desc)
    }
}
