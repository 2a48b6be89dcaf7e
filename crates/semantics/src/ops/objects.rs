//! Allocation and initialization of tables and closures; extra arguments.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use perilune_runtime::layout;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Jump};
use crate::runtime::Runtime;

impl<F: Form> Emitter<'_, F> {
    pub(super) fn new_table(&mut self) {
        let (fields, array) = (self.number(Field::B), self.number(Field::C));
        let (fields, array) = (self.b.ins().ireduce(I32, fields), self.b.ins().ireduce(I32, array));
        let table = self.call(Runtime::NewTable, &[fields, array])[0];
        let to = self.register(Field::A);
        self.put_tagged(to, table, Tag::TABLE);
        self.form.allocated(&mut self.b);
    }

    /// Returns the address of `R[A]`.
    pub(super) fn first(&mut self) -> Value {
        let first = self.register(Field::A);
        self.b.ins().iadd_imm_s(first.base, i64::from(first.offset))
    }

    /// SETLIST
    pub(super) fn set_list(&mut self) {
        let first = self.first();
        let tag = self.load8(first, layout::value::TAG);
        let is_table = self.b.ins().icmp_imm_u(IntCC::Equal, tag, i64::from(Tag::TABLE.0));
        self.guard(is_table);
        let table = self.load64(first, layout::value::BITS);
        let values = self.b.ins().iadd_imm_s(first, layout::value::SIZE as i64);
        let b = self.number(Field::B);
        let (open, counted) = (self.cold(), self.block());
        let count = self.b.append_block_param(counted, I64);
        self.b.ins().brif(b, counted, &[BlockArg::from(b)], open, &[]);
        self.switch(open);
        let state = self.state();
        let top = self.load64(state, layout::state::TOP);
        let bytes = self.b.ins().isub(top, values);
        let n = self.b.ins().ushr_imm_u(bytes, i64::from(layout::value::LOG_SIZE));
        self.b.ins().jump(counted, &[BlockArg::from(n)]);
        self.switch(counted);
        let start = self.number(Field::Extra);
        self.call(Runtime::SetList, &[table, start, values, count]);
        self.go(Jump::Skip);
    }

    /// VARARG
    pub(super) fn extra_arguments(&mut self) {
        let base = self.form.base();
        let (a, c) = (self.number(Field::A), self.number(Field::C));
        let done = self.call(Runtime::VarArg, &[base, a, c])[0];
        self.guard(done);
        self.next();
    }

    /// CLOSE of upvalues
    pub(super) fn close(&mut self) {
        let first = self.first();
        let closed = self.call(Runtime::Close, &[first])[0];
        self.guard(closed);
        self.next();
    }

    /// CALLMETA
    pub(super) fn set_class(&mut self) {
        let first = self.first();
        let c = self.number(Field::C);
        let done = self.call(Runtime::SetClass, &[first, c])[0];
        self.guard(done);
        self.next();
    }

    pub(super) fn closure(&mut self) {
        let (instance, base) = (self.form.instance(), self.form.base());
        let number = self.number(Field::Bx);
        let function = self.call(Runtime::Closure, &[instance, number, base])[0];
        let to = self.register(Field::A);
        self.put_tagged(to, function, Tag::FUNCTION);
        self.form.allocated(&mut self.b);
    }
}
