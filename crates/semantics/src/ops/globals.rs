//! Globals: accesses to a field of the table in an upvalue, through a cell.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use perilune_runtime::layout;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Place};

impl<F: Form> Emitter<'_, F> {
    /// Returns the cell of the global that the instruction accesses, if the environment in the
    /// upvalue is the one in which the cell was found.
    fn global_cell(&mut self, upvalue: Field) -> Value {
        let up = self.upvalue(upvalue);
        let place = self.load64(up, layout::closure::PLACE);
        let place = Place { base: place, offset: 0 };
        let tag = self.tag(place);
        self.guard_tag(tag, Tag::TABLE);
        let env = self.bits(place);
        let cache = self.record(layout::instance::GLOBALS, 4);
        let known = self.load64(cache, layout::global_cache::ENV);
        let c = self.b.ins().icmp(IntCC::Equal, env, known);
        self.guard(c);
        self.load64(cache, layout::global_cache::CELL)
    }

    pub(super) fn get_global(&mut self) {
        let cell = self.global_cell(Field::B);
        let value = self.at(cell, layout::cell::VALUE);
        let tag = self.tag(value);
        self.guard(tag);
        let bits = self.bits(value);
        let to = self.register(Field::A);
        self.put(to, bits, tag);
        self.next();
    }

    pub(super) fn set_global(&mut self, from: impl FnOnce(&mut Self) -> Place) {
        let cell = self.global_cell(Field::A);
        let value = self.at(cell, layout::cell::VALUE);
        let old = self.tag(value);
        self.guard(old);
        let from = from(self);
        let (bits, tag) = (self.bits(from), self.tag(from));
        self.guard(tag);
        self.guard_barrier(cell, tag);
        self.put(value, bits, tag);
        self.next();
    }
}
