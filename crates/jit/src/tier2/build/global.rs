//! Builds loads of globals.
//!
//! A global that has not changed since it was defined, such as most globals that hold functions and
//! modules, is loaded once: the code speculates that it stays the same, whatever is called. The
//! first store that changes it in a state deoptimizes all frames of machine code, and so do debug
//! functions that change the variable `_ENV`. Code that is entered later detects the change when it
//! loads the global.
//!
//! A global that was never found is looked up in the environment each time, since programs test
//! whether a global is defined, as in `if DEBUG then`.
//!
//! A global that the environment inherits from another one, as in a sandbox, is loaded each time
//! through the inline cache, which is emptied when a metatable of the chain changes or the
//! environment gets a global of its own by that name.
//!
//! If the value of a constant global is to be inlined into itself, as with a recursive global
//! function, it is compared once with the running closure, and is known to be that closure from
//! then on.

use perilune_bytecode::Constant;

use super::Builder;
use crate::entity::{Pc, RegisterOperands};
use crate::feedback::snapshot::GlobalSeen;
use crate::testing::fault::Fault;
use crate::tier2::ir::{GlobalAccess, Op, Type, Value};

impl Builder<'_> {
    /// Builds GETTABUP.
    pub(super) fn get_global(&mut self) {
        let v = self.global();
        self.write(self.instr(self.pc).ra(), v);
    }

    /// Returns the global that GETTABUP loads.
    pub(super) fn global(&mut self) -> Value {
        let i = self.instr(self.pc);
        let of = self.upvalues_of();
        let key = (of, i.b(), i.c());
        if let Some(v) = self.known.global(key) {
            self.check(Op::CheckGlobal(of, v));
            return v;
        }
        let access = match self.source.snapshot.global(self.pc) {
            GlobalSeen::Nothing => GlobalAccess::Searched,
            GlobalSeen::Inherited => GlobalAccess::Inherited,
            _ if self.is_constant_global(self.pc) => GlobalAccess::Constant,
            _ => GlobalAccess::Cached,
        };
        let state = self.state();
        let v = self.value(Type::Any, Op::Global(of, i.b(), access, state));
        match access {
            _ if self.source.fault == Some(Fault::StaleGlobals) => {
                self.known.note_constant_global(key, v);
            }
            GlobalAccess::Constant => self.known.note_constant_global(key, v),
            GlobalAccess::Cached | GlobalAccess::Searched => self.known.note_global(key, v),
            // it may change with the metatables, too
            GlobalAccess::Inherited => {}
        }
        v
    }

    /// Returns whether the code may speculate that the global loaded by the GETTABUP at `pc` stays
    /// the same: it has not changed so far, and the program never assigns `_ENV`. The first change
    /// of either deoptimizes the frame.
    pub(super) fn is_constant_global(&self, pc: Pc) -> bool {
        let i = self.instr(pc);
        let name = match &self.source.proto.constants[i.c()] {
            Constant::Str(name) => self.source.proto.str(*name),
            _ => return false,
        };
        self.source.proto.upvalues[i.b()].constant
            && !name.starts_with(b"__")
            && self.source.snapshot.global(pc) == GlobalSeen::Constant
            && !self.source.snapshot.failed.contains(&pc.as_u32())
    }
}
