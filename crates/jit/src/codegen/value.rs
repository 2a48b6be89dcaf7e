//! Values as payload and tag, constants, and merge points with a value.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, InstructionData, MemFlagsData, Opcode, Type, Value,
};
use cranelift_frontend::Variable;
use perilune_bytecode::Constant;
use perilune_runtime::layout;
use perilune_runtime::value::Tag;

use super::Emitter;
use super::memory::CONSTANT;

/// The compiler's knowledge of a tag.
#[derive(Clone, Copy)]
pub(crate) enum Known {
    /// It is a constant.
    Tag(Tag),
    /// It is in a machine register.
    Value(Value),
}

/// A merge point with a value. The parts of the value that are used become block parameters.
#[derive(Clone, Copy)]
pub(crate) struct Join {
    pub(crate) block: Block,
    bits: Variable,
    tag: Variable,
    is_float: bool,
}

impl Emitter<'_> {
    /// Emits a tag.
    pub(crate) fn tag(&mut self, tag: Tag) -> Value {
        self.int(tag.0.into())
    }

    /// Returns a tag as a value.
    pub(crate) fn tag_value(&mut self, tag: Known) -> Value {
        match tag {
            Known::Tag(t) => self.tag(t),
            Known::Value(v) => v,
        }
    }

    /// Compares a tag; returns `Err` with the outcome if it is already known.
    pub(crate) fn tag_is(&mut self, tag: Known, wanted: Tag) -> Result<Value, bool> {
        match tag {
            Known::Tag(t) => Err(t == wanted),
            Known::Value(v) => Ok(self.is_tag(v, wanted)),
        }
    }

    /// Compares a tag.
    pub(crate) fn is_tag(&mut self, tag: Value, wanted: Tag) -> Value {
        self.b.ins().icmp_imm_u(IntCC::Equal, tag, i64::from(wanted.0))
    }

    /// Returns whether a tag is that of a value that counts as true.
    pub(crate) fn is_truthy(&mut self, tag: Value) -> Value {
        self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, tag, i64::from(Tag::TRUE.0))
    }

    /// Returns whether a tag is that of nil or false.
    pub(crate) fn is_falsy(&mut self, tag: Value) -> Value {
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, tag, i64::from(Tag::TRUE.0))
    }

    /// Returns whether a tag is that of false or true.
    pub(crate) fn is_boolean(&mut self, tag: Value) -> Value {
        // the difference to the tag of false is large for nil
        let distance = self.b.ins().iadd_imm_s(tag, -i64::from(Tag::FALSE.0));
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, distance, 2)
    }

    /// Returns whether a tag is that of a number.
    pub(crate) fn is_number(&mut self, tag: Value) -> Value {
        // the difference to the tag of integers is large for other tags
        let distance = self.b.ins().iadd_imm_s(tag, -i64::from(Tag::INTEGER.0));
        let numbers = i64::from(Tag::FLOAT.0 - Tag::INTEGER.0) + 1;
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, distance, numbers)
    }

    /// Returns whether a value, given as payload and tag, is `of` with the tag `wanted`.
    pub(crate) fn is_value(&mut self, bits: Value, tag: Value, of: Value, wanted: Tag) -> Value {
        let payloads = self.b.ins().bxor(bits, of);
        let wanted = self.tag(wanted);
        let tags = self.b.ins().bxor(tag, wanted);
        let differences = self.b.ins().bor(payloads, tags);
        self.b.ins().icmp_imm_u(IntCC::Equal, differences, 0)
    }

    /// Ends the block: goes to the first of two blocks if a value of any type is equal to the
    /// integer `n`, otherwise to the second. Its payload is given as that of an integer and of a
    /// float. `n` must be exact as a float, as the immediate operands of bytecode are.
    pub(crate) fn branch_if_integer(
        &mut self,
        (bits, float, tag): (Value, Value, Value),
        n: i64,
        (yes, no): (Block, Block),
    ) {
        debug_assert_eq!(n as f64 as i64, n, "it is exact as a float");
        let (integer, other) = (self.block(), self.cold_block());
        let is_integer = self.is_tag(tag, Tag::INTEGER);
        self.branch(is_integer, integer, other);
        self.switch_to(integer);
        let same = self.b.ins().icmp_imm_s(IntCC::Equal, bits, n);
        self.branch(same, yes, no);
        self.switch_to(other);
        let wanted = self.b.ins().f64const(n as f64);
        let same = self.b.ins().fcmp(FloatCC::Equal, float, wanted);
        let is_float = self.is_tag(tag, Tag::FLOAT);
        let as_float = self.b.ins().band(same, is_float);
        self.branch(as_float, yes, no);
    }

    /// Returns the payload of a float.
    pub(crate) fn float_bits(&mut self, float: Value) -> Value {
        if let Some(bits) = self.uncast(float) {
            return bits;
        }
        self.b.ins().bitcast(I64, MemFlagsData::new(), float)
    }

    /// Returns the float with this payload.
    pub(crate) fn bits_float(&mut self, bits: Value) -> Value {
        if let Some(float) = self.uncast(bits) {
            return float;
        }
        self.b.ins().bitcast(F64, MemFlagsData::new(), bits)
    }

    /// Returns the operand of the cast between floats and payloads that defines a value.
    pub(super) fn uncast(&self, value: Value) -> Option<Value> {
        let dfg = &self.b.func.dfg;
        let inst = dfg.value_def(dfg.resolve_aliases(value)).inst()?;
        match dfg.insts[inst] {
            InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, arg, .. } => Some(arg),
            _ => None,
        }
    }

    /// Returns constant `n` of the function as payload and tag.
    pub(crate) fn constant(&mut self, n: usize) -> (Value, Tag) {
        match &self.frame().proto.constants[n] {
            Constant::Nil => (self.int(0), Tag::NIL),
            Constant::Bool(b) => (self.int(0), if *b { Tag::TRUE } else { Tag::FALSE }),
            Constant::Integer(i) => (self.int(*i), Tag::INTEGER),
            Constant::Float(f) => (self.int(f.to_bits() as i64), Tag::FLOAT),
            Constant::Str(_) => {
                let at = self.frame().places.constants as i32 + layout::value::nth(n);
                let instance = self.instance();
                (self.b.ins().load(I64, CONSTANT, instance, at), Tag::STRING)
            }
        }
    }

    /// Creates a block that is passed a value and its tag.
    pub(super) fn pair_block(&mut self) -> (Block, (Value, Value)) {
        let block = self.b.create_block();
        let bits = self.b.append_block_param(block, I64);
        let tag = self.b.append_block_param(block, I64);
        (block, (bits, tag))
    }

    /// Ends the block: jumps to one that is passed a value.
    pub(super) fn jump_pair(&mut self, to: Block, (bits, tag): (Value, Value)) {
        self.b.ins().jump(to, &[BlockArg::from(bits), BlockArg::from(tag)]);
    }

    /// Creates a merge point with a value whose payload has type `ty`.
    pub(crate) fn join_block(&mut self, ty: Type) -> Join {
        let bits = self.b.declare_var(ty);
        Join {
            block: self.b.create_block(),
            bits,
            tag: self.b.declare_var(I64),
            is_float: ty == F64,
        }
    }

    /// Ends the block: jumps to a merge point with a value.
    pub(crate) fn join(&mut self, to: Join, bits: Value, tag: Value) {
        self.b.def_var(to.bits, bits);
        self.b.def_var(to.tag, tag);
        self.b.ins().jump(to.block, &[]);
    }

    /// Returns the tag of the value of a merge point, which must dominate this place.
    pub(crate) fn joined_tag(&mut self, join: Join) -> Value {
        self.b.use_var(join.tag)
    }

    /// Returns the payload of the value of a merge point.
    pub(crate) fn joined_bits(&mut self, join: Join) -> Value {
        let v = self.b.use_var(join.bits);
        if join.is_float { self.float_bits(v) } else { v }
    }

    /// Returns the value of a merge point as a float.
    pub(crate) fn joined_float(&mut self, join: Join) -> Value {
        let v = self.b.use_var(join.bits);
        if join.is_float { v } else { self.bits_float(v) }
    }
}
