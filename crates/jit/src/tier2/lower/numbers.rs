//! Operators on numbers of both kinds.

use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I8, I64};
use perilune_runtime::value::Tag;

use super::{Low, Lower};
use crate::codegen::number::Operator;
use crate::tier2::ir::{Inst, Range, State, Value};

impl Lower<'_, '_> {
    /// Loads the element of an array of numbers.
    pub(super) fn number(
        &mut self,
        inst: &Inst,
        (table, key): (Value, Value),
        (tag, is_inside): (Tag, bool),
        state: State,
    ) {
        let wrong = self.exit(state);
        let (table, key) = (self.bits(table), self.bits(key));
        let ty = if tag == Tag::FLOAT { F64 } else { I64 };
        let v = if is_inside {
            self.emit().number_inside(table, key, tag, wrong)
        } else {
            let place = self.emit().number_place(table, key, tag, wrong);
            self.emit().load_number(place, ty)
        };
        let bits = if ty == F64 { self.emit().float_bits(v) } else { v };
        let known = self.emit().tag(tag);
        self.emit().verify_element(inst.pc, table, key, (bits, known));
        match tag {
            Tag::FLOAT => self.set_float(inst, v),
            _ => self.set_int(inst, v),
        }
    }

    pub(super) fn guard_range(
        &mut self,
        table: Value,
        [first, left]: [Value; 2],
        range: Range,
        state: State,
    ) {
        let other = self.exit(state);
        let [table, first, left] = [table, first, left].map(|v| self.bits(v));
        let distance = match range.step {
            1 => left,
            step => self.emit().ins().imul_imm_s(left, step),
        };
        let last = self.emit().ins().iadd(first, distance);
        for (index, more) in [(first, range.least), (last, range.most)] {
            let key = self.emit().ins().iadd_imm_s(index, more);
            self.emit().array_index(table, key, other);
        }
    }

    pub(super) fn number_arith(
        &mut self,
        inst: &Inst,
        operator: Operator,
        (x, y): (Value, Value),
        state: State,
    ) {
        let exit = self.exit(state);
        let constant = self.integers.get(&y).copied();
        let tags = [self.tag(x), self.tag(y)];
        let (bits, floats) = ([x, y].map(|v| self.bits(v)), [x, y].map(|v| self.float(v)));
        let (done, result) = self.emit().block_of(&[I64, I64]);
        let others = self.emit().block();
        if self.emit().require(&tags, Tag::INTEGER, others) {
            let v = self.emit().int_operator(operator, bits[0], bits[1], constant, exit);
            let tag = self.emit().tag(Tag::INTEGER);
            self.emit().jump_with_all(done, &[v, tag]);
        } else {
            self.emit().jump(others);
        }
        self.emit().switch_to(others);
        let converted = [0, 1].map(|n| {
            let v = self.emit().number_to_float(tags[n], bits[n], floats[n], exit);
            v.expect("it may be a number")
        });
        let v = self.emit().float_operator(operator, converted[0], converted[1]);
        let (v, tag) = (self.emit().float_bits(v), self.emit().tag(Tag::FLOAT));
        self.emit().jump_with_all(done, &[v, tag]);
        self.emit().switch_to(done);
        self.set_any(inst, (result[0], result[1]));
        self.numbers.extend(inst.result);
    }

    pub(super) fn guard_not_both_int(&mut self, x: Value, y: Value, state: State) {
        let both = self.exit(state);
        let tags = [self.tag(x), self.tag(y)];
        let others = self.emit().block();
        if self.emit().require(&tags, Tag::INTEGER, others) {
            self.emit().jump(both);
        } else {
            self.emit().jump(others);
        }
        self.emit().switch_to(others);
    }

    pub(super) fn compare_numbers(
        &mut self,
        inst: &Inst,
        (cc, float_cc): (IntCC, FloatCC),
        (x, y): (Value, Value),
        state: State,
    ) {
        let exit = self.exit(state);
        let tags = [self.tag(x), self.tag(y)];
        let (bits, floats) = ([x, y].map(|v| self.bits(v)), [x, y].map(|v| self.float(v)));
        let (done, result) = self.emit().block_of(&[I8]);
        let others = self.emit().block();
        if self.emit().require(&tags, Tag::INTEGER, others) {
            let holds = self.emit().ins().icmp(cc, bits[0], bits[1]);
            self.emit().jump_with(done, holds);
        } else {
            self.emit().jump(others);
        }
        self.emit().switch_to(others);
        let converted = [0, 1].map(|n| {
            let v = self.emit().number_to_equal_float(tags[n], bits[n], floats[n], exit);
            v.expect("it may be a number")
        });
        let holds = self.emit().ins().fcmp(float_cc, converted[0], converted[1]);
        self.emit().jump_with(done, holds);
        self.emit().switch_to(done);
        self.set(inst, Low::Condition(result[0]));
    }
}
