//! Lowers the instructions on globals.

use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;

use super::Lower;
use crate::codegen::memory::Region;
use crate::tier2::ir::{GlobalAccess, Inst, State, Value};

impl Lower<'_, '_> {
    pub(super) fn global(
        &mut self,
        inst: &Inst,
        (closure, n): (Option<Value>, usize),
        access: GlobalAccess,
        state: State,
    ) {
        let i = self.instr(inst);
        let slow = self.exit(state);
        let cache = self.generic.record_number(inst.pc);
        let up = self.upvalue(closure, n);
        let (env, value) = match access {
            GlobalAccess::Constant => self.emit().constant_global(cache, up, i.c(), slow),
            GlobalAccess::Searched => self.emit().searched_global(up, i.c(), slow),
            GlobalAccess::Cached | GlobalAccess::Inherited => {
                let (env, cell) = self.emit().found_global_cell(cache, up, i.c(), slow);
                if access == GlobalAccess::Cached {
                    self.emit().guard_owner(cell, env, slow);
                }
                let value = self.emit().load_cell(cell);
                self.emit().guard(value.1, slow);
                (env, value)
            }
        };
        self.emit().verify_global(inst.pc, env, value);
        self.set_any(inst, value);
    }

    pub(super) fn check_global(&mut self, inst: &Inst, closure: Option<Value>, v: Value) {
        let v = self.stored(v);
        let i = self.instr(inst);
        let up = self.upvalue(closure, i.b());
        let place = self.emit().upvalue_place(up);
        let (env, _) = self.emit().load_value(Region::Slots, place, 0);
        self.emit().verify_field(inst.pc, env, i.c(), (v.bits, v.tag));
    }

    pub(super) fn guard_own(&mut self, v: Value, state: State) {
        let other = self.exit(state);
        let (closure, own) = (self.bits(v), self.emit().own_closure());
        let same = self.emit().ins().icmp(IntCC::Equal, closure, own);
        self.emit().guard(same, other);
    }
}
