//! Operators on numbers of both kinds.

use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{I8, I64};
use perilune_runtime::value::Tag;

use super::{Low, Lower};
use crate::codegen::number::Operator;
use crate::tier2::ir::{Inst, State, Value};

impl Lower<'_, '_> {
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
