//! Moves between registers, constants and upvalues.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use perilune_runtime::layout;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Jump, Place};

impl<F: Form> Emitter<'_, F> {
    /// Emits `R[A]` := the value at a place.
    pub(super) fn move_from(&mut self, jump: Jump, from: impl FnOnce(&mut Self) -> Place) {
        let from = from(self);
        let to = self.register(Field::A);
        self.copy(to, from);
        self.go(jump);
    }

    pub(super) fn load_integer(&mut self) {
        let n = self.number(Field::SignedBx);
        let to = self.register(Field::A);
        self.put_tagged(to, n, Tag::INTEGER);
        self.next();
    }

    pub(super) fn load_float(&mut self) {
        let n = self.number(Field::SignedBx);
        let f = self.b.ins().fcvt_from_sint(F64, n);
        let to = self.register(Field::A);
        self.put_tagged(to, f, Tag::FLOAT);
        self.next();
    }

    pub(super) fn load_plain(&mut self, tag: Tag, jump: Jump) {
        let to = self.register(Field::A);
        self.put_plain(to, tag);
        self.go(jump);
    }

    pub(super) fn load_nils(&mut self) {
        let to = self.register(Field::A);
        let n = self.number(Field::B);
        let first = self.b.ins().iadd_imm_s(to.base, i64::from(to.offset));
        let end = self.element(first, n, layout::value::LOG_SIZE);
        let (round, done) = (self.block(), self.block());
        let at = self.b.append_block_param(round, I64);
        self.b.ins().jump(round, &[BlockArg::from(first)]);
        self.switch(round);
        self.put_plain(Place { base: at, offset: 0 }, Tag::NIL);
        let after = self.b.ins().iadd_imm_s(at, layout::value::SIZE as i64);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, after, end);
        self.b.ins().brif(more, round, &[BlockArg::from(after)], done, &[]);
        self.switch(done);
        self.next();
    }

    /// Returns an upvalue of the running function.
    pub(super) fn upvalue(&mut self, field: Field) -> Value {
        let base = self.form.base();
        let callee = Place { base, offset: layout::frame::CALLEE };
        let function = self.bits(callee);
        let n = self.number(field);
        let at = self.element(function, n, 3);
        self.load64(at, layout::closure::UPVALUES)
    }

    pub(super) fn get_upvalue(&mut self) {
        let up = self.upvalue(Field::B);
        let place = self.load64(up, layout::closure::PLACE);
        let to = self.register(Field::A);
        self.copy(to, Place { base: place, offset: 0 });
        self.next();
    }

    pub(super) fn set_upvalue(&mut self) {
        let up = self.upvalue(Field::B);
        let from = self.register(Field::A);
        let (bits, tag) = (self.bits(from), self.tag(from));
        self.guard_barrier(up, tag);
        let place = self.load64(up, layout::closure::PLACE);
        self.put(Place { base: place, offset: 0 }, bits, tag);
        self.next();
    }

    pub(super) fn not(&mut self) {
        let v = self.register(Field::B);
        let tag = self.tag(v);
        let falsy = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, tag, i64::from(Tag::TRUE.0));
        let tag = self.b.ins().iadd_imm_s(falsy, i64::from(Tag::FALSE.0));
        let to = self.register(Field::A);
        let zero = self.int(0);
        self.put(to, zero, tag);
        self.next();
    }
}
