//! The numbers of `math.random`: see [`perilune_runtime::random`].

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::F64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_runtime::layout::state;
use perilune_runtime::value::Tag;

use super::Emitter;
use super::builtin::Argument;
use super::memory::Region;
use super::value::Known;

/// The next number of the sequence, which is not consumed yet.
struct Next {
    bits: Value,
    /// The words of the generator after the number is consumed.
    words: [Value; 4],
}

impl Emitter<'_> {
    /// Computes `math.random()`.
    pub(super) fn random_float(&mut self) -> (Value, Known) {
        let next = self.next_random();
        let bits = self.b.ins().ushr_imm_u(next.bits, 11);
        // 53 bits, so it is not negative
        let whole = self.b.ins().fcvt_from_sint(F64, bits);
        let unit = self.b.ins().f64const(0.5 / (1u64 << 52) as f64);
        let float = self.b.ins().fmul(whole, unit);
        self.take_random(next);
        (self.float_bits(float), Known::Tag(Tag::FLOAT))
    }

    /// Computes `math.random(high)` or `math.random(low, high)`; branches to `other`, without an
    /// effect, if the range is empty, or if the result needs more than one number of the sequence.
    pub(super) fn random_integer(
        &mut self,
        bounds: &[Argument],
        other: Block,
    ) -> Option<(Value, Known)> {
        let tags: Vec<Known> = bounds.iter().map(|&(_, tag)| tag).collect();
        if !self.require(&tags, Tag::INTEGER, other) {
            return None;
        }
        let (low, high) = match *bounds {
            [(low, _), (high, _)] => (low, high),
            [(high, _)] => (self.int(1), high),
            _ => unreachable!("there are one or two bounds"),
        };
        let in_order = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, low, high);
        self.guard(in_order, other);
        let next = self.next_random();
        let size = self.b.ins().isub(high, low);
        // as many low bits as the size has; at least one, as words are not shifted by 64
        let at_least_one = self.b.ins().bor_imm_u(size, 1);
        let unused = self.b.ins().clz(at_least_one);
        let all = self.int(-1);
        let limit = self.b.ins().ushr(all, unused);
        let reduced = self.b.ins().band(next.bits, limit);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, reduced, size);
        self.guard(inside, other);
        self.take_random(next);
        Some((self.b.ins().iadd(low, reduced), Known::Tag(Tag::INTEGER)))
    }

    fn next_random(&mut self) -> Next {
        let st = self.state();
        let at = |n: usize| state::RANDOM + n * size_of::<u64>();
        let [s0, s1, s2, s3] = [0, 1, 2, 3].map(|n| self.load64(Region::State, st, at(n)));
        let product = self.b.ins().imul_imm_s(s1, 5);
        let rotated = self.b.ins().rotl_imm_u(product, 7);
        let bits = self.b.ins().imul_imm_s(rotated, 9);
        let s2 = self.b.ins().bxor(s2, s0);
        let s3 = self.b.ins().bxor(s3, s1);
        let shifted = self.b.ins().ishl_imm_u(s1, 17);
        let words = [
            self.b.ins().bxor(s0, s3),
            self.b.ins().bxor(s1, s2),
            self.b.ins().bxor(s2, shifted),
            self.b.ins().rotl_imm_u(s3, 45),
        ];
        Next { bits, words }
    }

    fn take_random(&mut self, next: Next) {
        let st = self.state();
        for (n, word) in next.words.into_iter().enumerate() {
            self.store(Region::State, word, st, state::RANDOM + n * size_of::<u64>());
        }
    }
}
