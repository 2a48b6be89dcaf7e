//! Allocation and initialization of tables and closures; extra arguments.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use perilune_runtime::header::Kind;
use perilune_runtime::instance::Site;
use perilune_runtime::layout;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Jump, Place};
use crate::runtime::Runtime;

/// Logarithm to base 2 of the size of the record of an allocation site.
const LOG_SITE: u32 = size_of::<Site>().trailing_zeros();

// Fields that are written as one word.
const _: () = assert!(
    layout::table::ARRAY_CAP == layout::table::ARRAY_LEN + 4
        && layout::table::FIELDS_CAP == layout::table::NODES_USED + 5
        && layout::table::FIELDS_INLINE == layout::table::NODES_USED + 6
        && layout::header::KIND == 0
);

impl<F: Form> Emitter<'_, F> {
    /// Emits `R[A]` := a new table; part 1 is for tables that do not fit into the current hole.
    pub(super) fn new_table(&mut self, part: usize) {
        if part == 1 {
            let instance = self.form.instance();
            let next = self.form.return_word(&mut self.b);
            let position = self.b.ins().iadd_imm_s(next, -1);
            let fields = self.number(Field::B);
            let table = self.call(Runtime::NewTable, &[instance, position, fields])[0];
            let to = self.register(Field::A);
            self.put_tagged(to, table, Tag::TABLE);
            return self.form.allocated(&mut self.b);
        }
        let large = self.cold();
        let site = self.record(layout::instance::SITES, LOG_SITE);
        let shape = self.load64(site, layout::site::SHAPE);
        self.check(shape, large);
        // This follows `State::alloc` and `Table::new`.
        let state = self.state();
        let table = self.load64(state, layout::state::CURSOR);
        let count = self.number(Field::B);
        let fields = self.b.ins().iadd_imm_s(table, layout::table::INLINE_FIELDS as i64);
        let end = self.element(fields, count, layout::value::LOG_SIZE);
        let limit = self.load64(state, layout::state::HOLE_END);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
        self.check(fits, large);
        let cursor = self.in_state(layout::state::CURSOR);
        self.store(end, cursor);
        self.header_of_table(table, shape);
        let array = self.number(Field::C);
        let lengths = self.b.ins().ishl_imm_u(array, 32);
        let at = self.at(table, layout::table::ARRAY_LEN);
        self.store(lengths, at);
        let fields_at = self.at(table, layout::table::FIELDS);
        self.store(fields, fields_at);
        // The fields `fields_cap` and `fields_inline`.
        let twice = self.b.ins().imul_imm_s(count, 0x0101);
        let both = self.b.ins().ishl_imm_u(twice, 40);
        let at = self.at(table, layout::table::NODES_USED);
        self.store(both, at);
        let (clear, cleared) = (self.block(), self.block());
        let place = self.b.append_block_param(clear, I64);
        self.b.ins().brif(count, clear, &[BlockArg::from(fields)], cleared, &[]);
        self.switch(clear);
        let zero = self.int(0);
        self.put(Place { base: place, offset: 0 }, zero, zero);
        let after = self.b.ins().iadd_imm_s(place, layout::value::SIZE as i64);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, after, end);
        self.b.ins().brif(more, clear, &[BlockArg::from(after)], cleared, &[]);
        self.switch(cleared);
        let to = self.register(Field::A);
        self.put_tagged(to, table, Tag::TABLE);
        self.next();
        self.switch(large);
        self.part(1);
    }

    /// Writes the initial contents of a table, except for what depends on its size.
    fn header_of_table(&mut self, table: Value, shape: Value) {
        let at = self.at(shape, layout::header::WORD);
        let id = self.load(I32, at);
        let kind = self.b.ins().iconst(I32, Kind::Table as i64);
        let zero = self.int(0);
        for (v, offset) in [
            (kind, layout::header::KIND),
            (id, layout::header::WORD),
            (shape, layout::table::SHAPE),
            (zero, layout::table::META),
            (zero, layout::table::ARRAY),
            (zero, layout::table::NODES),
        ] {
            let at = self.at(table, offset);
            self.store(v, at);
        }
    }

    /// Returns the address of `R[A]`.
    pub(super) fn first(&mut self) -> Value {
        let first = self.register(Field::A);
        self.b.ins().iadd_imm_s(first.base, i64::from(first.offset))
    }

    /// Emits SETLIST.
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

    /// Emits VARARG.
    pub(super) fn extra_arguments(&mut self) {
        let base = self.form.base();
        let (a, c) = (self.number(Field::A), self.number(Field::C));
        let done = self.call(Runtime::VarArg, &[base, a, c])[0];
        self.guard(done);
        self.next();
    }

    /// Emits CLOSE of upvalues.
    pub(super) fn close(&mut self) {
        let first = self.first();
        let closed = self.call(Runtime::Close, &[first])[0];
        self.guard(closed);
        self.next();
    }

    /// Emits TBC.
    pub(super) fn mark_to_close(&mut self) {
        let first = self.first();
        let marked = self.call(Runtime::MarkToClose, &[first])[0];
        self.guard(marked);
        self.next();
    }

    /// Emits CALLMETA.
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
