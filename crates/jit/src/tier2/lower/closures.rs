//! Lowers the instructions on closures: their upvalues, and calls.

use cranelift_codegen::ir;

use super::Lower;
use crate::codegen::memory::Region;
use crate::tier2::ir::{Inst, State, Value};

impl Lower<'_, '_> {
    /// Loads an upvalue of a closure, or of the closure of the function itself.
    pub(super) fn upvalue(&mut self, closure: Option<Value>, n: usize) -> ir::Value {
        match closure {
            Some(closure) => {
                let closure = self.bits(closure);
                self.emit().upvalue_of(closure, n)
            }
            None => self.emit().outermost_upvalue(n),
        }
    }

    pub(super) fn load_upvalue(&mut self, inst: &Inst, closure: Option<Value>, n: usize) {
        let up = self.upvalue(closure, n);
        let place = self.emit().upvalue_place(up);
        let value = self.emit().load_value(Region::Slots, place, 0);
        self.set_any(inst, value);
    }

    pub(super) fn set_upvalue(&mut self, closure: Option<Value>, n: usize, v: Value) {
        let up = self.upvalue(closure, n);
        let place = self.emit().upvalue_place(up);
        let (bits, tag) = (self.bits(v), self.tag(v));
        let t = self.emit().tag_value(tag);
        self.emit().store_value(Region::Slots, (bits, t), place, 0);
        self.emit().barrier(up, (bits, tag));
    }

    /// Executes a CALL with one result by generic code.
    pub(super) fn call(&mut self, inst: &Inst, state: State) {
        let held = self.begin_generic(state);
        let result = self.generic.call(inst.pc, &held);
        self.end_generic();
        self.set_any(inst, result);
    }
}
