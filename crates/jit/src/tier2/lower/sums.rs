//! Sums of integers and floats that are needed only as floats, as in the mean of elements.
//!
//! Such a sum is computed with floats even if all addends are integers. This avoids a test of its
//! kind before the next operation, and moves to general-purpose registers and back. The sum of a
//! few integers is exact as a float if they are small; for others, the code exits. The payload and
//! the tag that the sum has in Lua are computed only at exits.

use cranelift_codegen::entity::EntitySet;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, InstBuilder};
use perilune_runtime::value::Tag;

use super::Lower;
use crate::codegen::number::Operator;
use crate::tier2::ir::{Function, Inst, Op, State, Value};

/// The maximum number of addends of a sum.
const MOST: usize = 8;
/// The largest magnitude of an integer that is added: the sum of [`MOST`] such integers is exact as
/// a float.
const LARGEST: i64 = (1 << f64::MANTISSA_DIGITS) / MOST as i64;

/// A number that is computed as a float.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    pub(super) float: ir::Value,
    /// The bits of the tags of all addends.
    tags: ir::Value,
    addends: usize,
}

/// Returns the sums and differences of numbers of both kinds that, apart from frame states, are
/// needed only as floats.
pub(super) fn find(f: &Function) -> EntitySet<Value> {
    let (mut sums, mut others) = (EntitySet::new(), EntitySet::new());
    for &block in f.order.iter().rev() {
        let data = &f.blocks[block];
        others.extend(data.end.targets().flat_map(|target| &target.args).copied());
        others.extend(data.end.arg());
        for inst in data.insts.iter().rev() {
            match (inst.op, inst.result) {
                (Op::NumberToFloat(..), _) => {}
                (Op::NumberArith(Operator::Add | Operator::Sub, ..), Some(v))
                    if !others.contains(v) =>
                {
                    sums.insert(v);
                }
                _ => others.extend(f.args(&inst.op)),
            }
        }
    }
    sums
}

impl Lower<'_, '_> {
    /// Emits a sum or a difference as a float.
    pub(super) fn sum(
        &mut self,
        inst: &Inst,
        operator: Operator,
        operands: [Value; 2],
        state: State,
    ) {
        let exit = self.exit(state);
        let known = operands.map(|v| self.sums.get(&v).map_or(1, |sum| sum.addends));
        let fits = known.iter().sum::<usize>() <= MOST;
        let [x, y] = operands.map(|v| self.addend(v, fits, exit));
        let float = self.emit().float_operator(operator, x.float, y.float);
        let tags = self.emit().ins().bor(x.tags, y.tags);
        let integer = self.emit().tag(Tag::INTEGER);
        let is_int = self.emit().ins().icmp(IntCC::Equal, tags, integer);
        let int = self.emit().ins().fcvt_to_sint_sat(I64, float);
        let float_bits = self.emit().float_bits(float);
        let bits = self.emit().ins().select(is_int, int, float_bits);
        let float_tag = self.emit().tag(Tag::FLOAT);
        let tag = self.emit().ins().select(is_int, integer, float_tag);
        self.set_any(inst, (bits, tag));
        self.numbers.extend(inst.result);
        let sum = Sum { float, tags, addends: x.addends + y.addends };
        self.sums.extend(inst.result.map(|v| (v, sum)));
    }

    /// Returns a number as an addend; branches to `exit` if it is not a number, or is a large
    /// integer. A sum counts as one number unless it `fits`.
    fn addend(&mut self, v: Value, fits: bool, exit: ir::Block) -> Sum {
        if let Some(&sum) = self.sums.get(&v).filter(|_| fits) {
            return sum;
        }
        let (tag, bits, float) = (self.tag(v), self.bits(v), self.float(v));
        let float = self.emit().number_to_small_float(tag, bits, float, LARGEST, exit);
        let tags = self.emit().tag_value(tag);
        Sum { float: float.expect("it may be a number"), tags, addends: 1 }
    }
}
