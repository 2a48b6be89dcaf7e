//! Equality of values of any kind.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_runtime::meta::Event;
use perilune_runtime::value::Tag;

use super::Emitter;

impl Emitter<'_> {
    /// Ends the block: goes to `yes` if two values, given as payload and tag, are equal without a
    /// metamethod, to `mixed` if they are an integer and a float, to `slow` if a metamethod may
    /// make them equal, and otherwise to `no`.
    pub(crate) fn equal_values(
        &mut self,
        (va, a): (Value, Value),
        (vb, b): (Value, Value),
        (yes, no): (Block, Block),
        mixed: Block,
        slow: Block,
    ) {
        let differ_from_all = self.block();
        let c = self.b.ins().icmp(IntCC::Equal, a, b);
        let differ = self.case(c);

        let c = self.is_tag(a, Tag::INTEGER);
        let more = self.case(c);
        let c = self.b.ins().icmp(IntCC::Equal, va, vb);
        self.branch(c, yes, no);

        // a tag below those of numbers has only one value
        self.switch_to(more);
        let c = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, a, i64::from(Tag::INTEGER.0));
        let objects = self.case(c);
        self.jump(yes);

        self.switch_to(objects);
        let c = self.is_tag(a, Tag::FLOAT);
        let rest = self.case(c);
        let fa = self.bits_float(va);
        let fb = self.bits_float(vb);
        let c = self.b.ins().fcmp(FloatCC::Equal, fa, fb);
        self.branch(c, yes, no);

        self.switch_to(rest);
        let c = self.b.ins().icmp(IntCC::Equal, va, vb);
        let unequal = self.case(c);
        self.jump(yes);

        // different tags: equal only if both are numbers, whose tags have an XOR that few other
        // pairs have
        self.switch_to(differ);
        let difference = self.b.ins().bxor(a, b);
        let of_numbers = i64::from(Tag::INTEGER.0 ^ Tag::FLOAT.0);
        let c = self.b.ins().icmp_imm_u(IntCC::Equal, difference, of_numbers);
        let perhaps = self.cold_block();
        self.branch(c, perhaps, differ_from_all);
        self.switch_to(perhaps);
        let both = self.is_number(a);
        self.branch(both, mixed, differ_from_all);

        // two short strings that are different objects are different
        self.switch_to(unequal);
        let c = self.is_tag(a, Tag::STRING);
        let other = self.case(c);
        let short = self.is_short(va);
        let ask = self.cold_block();
        self.branch(short, differ_from_all, ask);
        self.switch_to(other);
        let c = self.is_tag(a, Tag::TABLE);
        self.guard(c, ask);
        let ma = self.meta(va);
        let mb = self.meta(vb);
        let some = self.b.ins().bor(ma, mb);
        let with_metatable = self.block();
        self.branch(some, with_metatable, differ_from_all);
        self.switch_to(with_metatable);
        self.guard_lacks(va, Event::Eq, ask);
        self.guard_lacks(vb, Event::Eq, ask);
        self.jump(differ_from_all);

        self.switch_to(ask);
        let (answer, _) = self.quiet_leaf(self.body.calls.equal as usize, &[va, vb, a]);
        self.guard(answer, differ_from_all);
        let equal = self.b.ins().icmp_imm_u(IntCC::Equal, answer, 1);
        self.guard(equal, slow);
        self.jump(yes);
        self.switch_to(differ_from_all);
        self.jump(no);
    }

    /// Returns whether an integer and a float, in either order, are equal.
    pub(crate) fn equal_numbers(
        &mut self,
        (va, a): (Value, Value),
        (vb, _): (Value, Value),
    ) -> Value {
        let first = self.is_tag(a, Tag::INTEGER);
        let int = self.b.ins().select(first, va, vb);
        let bits = self.b.ins().select(first, vb, va);
        let float = self.bits_float(bits);
        // if the float is equal to an integer, both conversions are exact
        let near = self.b.ins().fcvt_to_sint_sat(I64, float);
        let back = self.b.ins().fcvt_from_sint(F64, near);
        let exact = self.b.ins().fcmp(FloatCC::Equal, back, float);
        let limit = self.b.ins().f64const(9_223_372_036_854_775_808.0);
        let fits = self.b.ins().fcmp(FloatCC::LessThan, float, limit);
        let same = self.b.ins().icmp(IntCC::Equal, near, int);
        let equal = self.b.ins().band(exact, fits);
        self.b.ins().band(equal, same)
    }
}
