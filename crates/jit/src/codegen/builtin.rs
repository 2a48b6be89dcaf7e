//! Library functions that are computed inline.
//!
//! Each method computes the result of its function for the usual arguments without a call. It
//! branches to `other` for everything else: other types, errors, and results that need a call.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_runtime::layout::{state, string};
use perilune_runtime::native::Builtin;
use perilune_runtime::value::Tag;

use super::Emitter;
use super::memory::Region;
use super::value::Known;

/// A library function that machine code can compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inlined {
    /// `math.abs(x)`
    Abs,
    /// `math.atan(y)`, `math.atan(y, x)`
    Atan,
    /// `math.ceil(x)`
    Ceil,
    /// `math.floor(x)`
    Floor,
    /// `math.fmod(x, y)`
    Fmod,
    /// `math.max(x, y)`, `math.max(x, y, z)`
    Max,
    /// `math.min(x, y)`, `math.min(x, y, z)`
    Min,
    /// `math.random()`
    Random,
    /// `math.random(high)`, `math.random(low, high)`
    RandomInteger,
    /// `math.sqrt(x)`
    Sqrt,
    /// `string.byte(s)`, `string.byte(s, i)`
    Byte,
    /// `string.char(byte)`
    Char,
    /// `string.len(s)`
    Length,
    /// `string.sub(s, i, i)`
    Sub,
    /// `type(v)`
    Type,
    /// A function of one float, which is computed by a call of the runtime.
    OfFloat(FloatFunction),
}

/// A library function of one float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FloatFunction {
    /// `math.acos(x)`
    Acos,
    /// `math.asin(x)`
    Asin,
    /// `math.cos(x)`
    Cos,
    /// `math.exp(x)`
    Exp,
    /// `math.log(x)`
    Log,
    /// `math.sin(x)`
    Sin,
    /// `math.tan(x)`
    Tan,
}

impl Inlined {
    /// Returns the operation that computes a call of library function `number` with this number of
    /// arguments.
    pub(crate) fn of(number: u32, arguments: usize) -> Option<Inlined> {
        use FloatFunction::*;
        const ALL: &[(Builtin, Inlined, &[usize])] = &[
            (Builtin::Abs, Inlined::Abs, &[1]),
            (Builtin::Acos, Inlined::OfFloat(Acos), &[1]),
            (Builtin::Asin, Inlined::OfFloat(Asin), &[1]),
            (Builtin::Atan, Inlined::Atan, &[1, 2]),
            (Builtin::Ceil, Inlined::Ceil, &[1]),
            (Builtin::Cos, Inlined::OfFloat(Cos), &[1]),
            (Builtin::Exp, Inlined::OfFloat(Exp), &[1]),
            (Builtin::Floor, Inlined::Floor, &[1]),
            (Builtin::Fmod, Inlined::Fmod, &[2]),
            (Builtin::Log, Inlined::OfFloat(Log), &[1]),
            (Builtin::Max, Inlined::Max, &[2, 3]),
            (Builtin::Min, Inlined::Min, &[2, 3]),
            (Builtin::Random, Inlined::Random, &[0]),
            (Builtin::Random, Inlined::RandomInteger, &[1, 2]),
            (Builtin::Sin, Inlined::OfFloat(Sin), &[1]),
            (Builtin::Sqrt, Inlined::Sqrt, &[1]),
            (Builtin::Tan, Inlined::OfFloat(Tan), &[1]),
            (Builtin::Byte, Inlined::Byte, &[1, 2]),
            (Builtin::Char, Inlined::Char, &[1]),
            (Builtin::StringLen, Inlined::Length, &[1]),
            (Builtin::Sub, Inlined::Sub, &[3]),
            (Builtin::Type, Inlined::Type, &[1]),
        ];
        let is_this = |(builtin, _, counts): &&(Builtin, Inlined, &[usize])| {
            *builtin as u32 == number && counts.contains(&arguments)
        };
        ALL.iter().find(is_this).map(|&(_, inlined, _)| inlined)
    }
}

impl Inlined {
    /// Returns the tag of all results that are computed inline; where the result would have another
    /// one, the code exits. `None` if the results may have several tags: the function itself is
    /// called for results that are not computed inline.
    pub(crate) fn result(self) -> Option<Tag> {
        match self {
            Inlined::Ceil | Inlined::Floor | Inlined::Length => Some(Tag::INTEGER),
            Inlined::Atan | Inlined::Random | Inlined::Sqrt | Inlined::OfFloat(_) => {
                Some(Tag::FLOAT)
            }
            Inlined::Type => Some(Tag::STRING),
            // the function is called otherwise, and may return another type
            _ => None,
        }
    }
}

/// Returns whether a library function may change tables.
///
/// `next` is one that does not, although it may sort the nodes of a hash part, which moves values.
/// Code relies on the places of values only while it searches the nodes for one key: every path
/// through nodes meets another one at the end of the search, so nothing that was loaded from nodes,
/// and no bit that says how they are organized, is available after it.
pub(crate) fn changes_tables(number: u32) -> bool {
    const ALL: [Builtin; 3] = [Builtin::SetMetatable, Builtin::Insert, Builtin::Remove];
    ALL.iter().any(|&function| function as u32 == number)
}

/// An argument: payload and tag.
pub(crate) type Argument = (Value, Known);

impl Emitter<'_> {
    /// Computes a library function; returns payload and tag of its result, or `None` if the
    /// arguments never have the right types. In that case, nothing that has an effect is emitted.
    pub(crate) fn inlined(
        &mut self,
        function: Inlined,
        arguments: &[Argument],
        other: Block,
    ) -> Option<(Value, Known)> {
        if function == Inlined::Random {
            return Some(self.random_float());
        }
        let first = arguments[0];
        match function {
            Inlined::Random => unreachable!("it has no arguments"),
            Inlined::RandomInteger => self.random_integer(arguments, other),
            Inlined::Abs => self.absolute(first, other),
            Inlined::Atan => self.arc_tangent(first, arguments.get(1).copied(), other),
            Inlined::Ceil => self.rounded(first, true, other),
            Inlined::Floor => self.rounded(first, false, other),
            Inlined::Fmod => self.truncated_remainder(first, arguments[1], other),
            Inlined::Max => self.chosen_of(arguments, true, other),
            Inlined::Min => self.chosen_of(arguments, false, other),
            Inlined::Sqrt => self.square_root(first, other),
            Inlined::Byte => self.byte(first, arguments.get(1).copied(), other),
            Inlined::Char => self.char(first, other),
            Inlined::Length => self.length(first, other),
            Inlined::Sub => self.one_byte(first, arguments[1], arguments[2], other),
            Inlined::Type => Some(self.type_name(first)),
            Inlined::OfFloat(function) => self.of_float(function, first, other),
        }
    }

    /// Computes a result in one way if the tags are those of integers, in another if they are those
    /// of floats; branches to `other` if they are neither.
    fn by_kind(
        &mut self,
        tags: &[Known],
        other: Block,
        of_integers: impl FnOnce(&mut Self) -> Value,
        of_floats: impl FnOnce(&mut Self) -> (Value, Tag),
    ) -> Option<(Value, Known)> {
        let (integers, (done, (bits, tag))) = (self.block(), self.pair_block());
        let floats = self.block();
        let are_integers = self.require(tags, Tag::INTEGER, floats);
        if are_integers {
            self.jump(integers);
            self.switch_to(integers);
            let v = of_integers(self);
            let t = self.tag(Tag::INTEGER);
            self.jump_pair(done, (v, t));
            self.switch_to(floats);
        }
        let are_floats = self.require(tags, Tag::FLOAT, other);
        if are_floats {
            let (v, t) = of_floats(self);
            let t = self.tag(t);
            self.jump_pair(done, (v, t));
        } else if are_integers {
            self.jump(other);
        } else {
            return None;
        }
        self.switch_to(done);
        Some((bits, Known::Value(tag)))
    }

    fn absolute(&mut self, (bits, tag): Argument, other: Block) -> Option<(Value, Known)> {
        self.by_kind(
            &[tag],
            other,
            // the least integer is its own absolute value
            |e| e.b.ins().iabs(bits),
            |e| {
                let x = e.bits_float(bits);
                let x = e.b.ins().fabs(x);
                (e.float_bits(x), Tag::FLOAT)
            },
        )
    }

    /// Rounds a number to an integer; branches to `other` for a float that is too large.
    fn rounded(&mut self, (bits, tag): Argument, up: bool, other: Block) -> Option<(Value, Known)> {
        let (n, _) = self.by_kind(
            &[tag],
            other,
            |_| bits,
            |e| {
                let x = e.bits_float(bits);
                let x = if up { e.b.ins().ceil(x) } else { e.b.ins().floor(x) };
                let size = e.b.ins().fabs(x);
                let limit = e.b.ins().f64const(9_223_372_036_854_775_808.0);
                let fits = e.b.ins().fcmp(FloatCC::LessThan, size, limit);
                e.guard(fits, other);
                (e.b.ins().fcvt_to_sint_sat(I64, x), Tag::INTEGER)
            },
        )?;
        Some((n, Known::Tag(Tag::INTEGER)))
    }

    /// Returns the largest or the smallest number; among equal ones, the first.
    fn chosen_of(
        &mut self,
        numbers: &[Argument],
        larger: bool,
        other: Block,
    ) -> Option<(Value, Known)> {
        let (&first, others) = numbers.split_first()?;
        others.iter().try_fold(first, |chosen, &next| self.chosen(chosen, next, larger, other))
    }

    /// Returns the larger or the smaller of two numbers, or the first one if they are equal or
    /// unordered. Branches to `other` to compare a large integer with a float.
    fn chosen(
        &mut self,
        (x, tx): Argument,
        (y, ty): Argument,
        larger: bool,
        other: Block,
    ) -> Option<(Value, Known)> {
        let code = if larger { IntCC::SignedLessThan } else { IntCC::SignedGreaterThan };
        let float_code = if larger { FloatCC::LessThan } else { FloatCC::GreaterThan };
        match (tx, ty) {
            (Known::Tag(Tag::INTEGER), Known::Tag(Tag::INTEGER)) => {
                let second = self.b.ins().icmp(code, x, y);
                return Some((self.b.ins().select(second, y, x), tx));
            }
            (Known::Tag(Tag::FLOAT), Known::Tag(Tag::FLOAT)) => {
                let (a, b) = (self.bits_float(x), self.bits_float(y));
                let second = self.b.ins().fcmp(float_code, a, b);
                return Some((self.b.ins().select(second, y, x), tx));
            }
            _ => {}
        }
        let (floats, mixed, (done, (bits, tag))) = (self.block(), self.block(), self.pair_block());
        let are_integers = self.require(&[tx, ty], Tag::INTEGER, floats);
        if are_integers {
            let second = self.b.ins().icmp(code, x, y);
            let (v, t) = (self.b.ins().select(second, y, x), self.tag(Tag::INTEGER));
            self.jump_pair(done, (v, t));
            self.switch_to(floats);
        }
        let are_floats = self.require(&[tx, ty], Tag::FLOAT, mixed);
        if are_floats {
            let (a, b) = (self.bits_float(x), self.bits_float(y));
            let second = self.b.ins().fcmp(float_code, a, b);
            let (v, t) = (self.b.ins().select(second, y, x), self.tag(Tag::FLOAT));
            self.jump_pair(done, (v, t));
            self.switch_to(mixed);
        }
        let exact = match self.exact_float((x, tx), other) {
            Some(a) => self.exact_float((y, ty), other).map(|b| (a, b)),
            None => None,
        };
        match exact {
            Some((a, b)) => {
                let second = self.b.ins().fcmp(float_code, a, b);
                let (tx, ty) = (self.tag_value(tx), self.tag_value(ty));
                let v = self.b.ins().select(second, y, x);
                let t = self.b.ins().select(second, ty, tx);
                self.jump_pair(done, (v, t));
            }
            None if are_integers || are_floats => self.jump(other),
            None => return None,
        }
        self.switch_to(done);
        Some((bits, Known::Value(tag)))
    }

    /// Returns a number as a float that compares with other floats as the number does. Branches to
    /// `other` if it is no number or a large integer, or returns `None` if it is never a number.
    fn exact_float(&mut self, (bits, tag): Argument, other: Block) -> Option<Value> {
        let float = self.bits_float(bits);
        let (integer, done) = match tag {
            Known::Tag(Tag::FLOAT) => return Some(float),
            Known::Tag(Tag::INTEGER) => (None, None),
            Known::Tag(_) => return None,
            Known::Value(_) => (Some(self.block()), Some(self.block_of(&[F64]))),
        };
        if let (Some(integer), Some((done, _))) = (integer, &done) {
            self.require(&[tag], Tag::FLOAT, integer);
            self.jump_with(*done, float);
            self.switch_to(integer);
            self.require(&[tag], Tag::INTEGER, other);
        }
        // all integers up to this one are floats, too
        const LARGEST: i64 = 1 << f64::MANTISSA_DIGITS;
        let shifted = self.b.ins().iadd_imm_s(bits, LARGEST);
        let fits = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, shifted, 2 * LARGEST);
        self.guard(fits, other);
        let exact = self.b.ins().fcvt_from_sint(F64, bits);
        let Some((done, values)) = done else { return Some(exact) };
        self.jump_with(done, exact);
        self.switch_to(done);
        Some(values[0])
    }

    fn square_root(&mut self, x: Argument, other: Block) -> Option<(Value, Known)> {
        let x = self.float_argument(x, other)?;
        let root = self.b.ins().sqrt(x);
        Some((self.float_bits(root), Known::Tag(Tag::FLOAT)))
    }

    fn of_float(
        &mut self,
        function: FloatFunction,
        x: Argument,
        other: Block,
    ) -> Option<(Value, Known)> {
        let x = self.float_argument(x, other)?;
        let calls = self.body.calls;
        let function = match function {
            FloatFunction::Acos => calls.acos,
            FloatFunction::Asin => calls.asin,
            FloatFunction::Cos => calls.cos,
            FloatFunction::Exp => calls.exp,
            FloatFunction::Log => calls.log,
            FloatFunction::Sin => calls.sin,
            FloatFunction::Tan => calls.tan,
        };
        let result = self.call_float_function(function as usize, &[x]);
        Some((self.float_bits(result), Known::Tag(Tag::FLOAT)))
    }

    fn arc_tangent(
        &mut self,
        y: Argument,
        x: Option<Argument>,
        other: Block,
    ) -> Option<(Value, Known)> {
        let y = self.float_argument(y, other)?;
        let x = match x {
            Some(x) => self.float_argument(x, other)?,
            None => self.b.ins().f64const(1.0),
        };
        let result = self.call_float_function(self.body.calls.atan as usize, &[y, x]);
        Some((self.float_bits(result), Known::Tag(Tag::FLOAT)))
    }

    /// Computes the remainder that has the sign of the dividend; branches to `other` for an
    /// integer divided by 0 or -1, and for an integer and a float.
    fn truncated_remainder(
        &mut self,
        (a, ta): Argument,
        (b, tb): Argument,
        other: Block,
    ) -> Option<(Value, Known)> {
        self.by_kind(
            &[ta, tb],
            other,
            |e| {
                let next = e.plus(b, 1);
                let is_usual = e.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, next, 1);
                e.guard(is_usual, other);
                e.b.ins().srem(a, b)
            },
            |e| {
                let (a, b) = (e.bits_float(a), e.bits_float(b));
                let result = e.call_float_function(e.body.calls.fmod as usize, &[a, b]);
                (e.float_bits(result), Tag::FLOAT)
            },
        )
    }

    /// Returns a number as a float; branches to `other` if it is none, or returns `None` if it
    /// never is.
    fn float_argument(&mut self, (bits, tag): Argument, other: Block) -> Option<Value> {
        let float = self.bits_float(bits);
        self.number_to_float(tag, bits, float, other)
    }

    /// Loads byte `i` of a string, counted from 1.
    fn byte_at(&mut self, text: Value, i: Value, other: Block) -> Value {
        let len = self.load_u32(Region::Objects, text, string::LEN);
        let index = self.b.ins().iadd_imm_s(i, -1);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, index, len);
        self.guard(inside, other);
        let at = self.b.ins().iadd(text, index);
        self.load8(Region::Objects, at, string::BYTES)
    }

    fn byte(
        &mut self,
        (text, tag): Argument,
        index: Option<Argument>,
        other: Block,
    ) -> Option<(Value, Known)> {
        if !self.require(&[tag], Tag::STRING, other) {
            return None;
        }
        let i = match index {
            Some((i, tag)) => self.require(&[tag], Tag::INTEGER, other).then_some(i)?,
            None => self.int(1),
        };
        Some((self.byte_at(text, i, other), Known::Tag(Tag::INTEGER)))
    }

    /// Loads the string that consists of one byte.
    fn byte_string(&mut self, byte: Value) -> (Value, Known) {
        let offset = self.b.ins().ishl_imm_u(byte, 3);
        let st = self.state();
        let at = self.b.ins().iadd(st, offset);
        (self.load64(Region::State, at, state::BYTE_STRINGS), Known::Tag(Tag::STRING))
    }

    fn char(&mut self, (byte, tag): Argument, other: Block) -> Option<(Value, Known)> {
        if !self.require(&[tag], Tag::INTEGER, other) {
            return None;
        }
        let is_byte = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, byte, 1 << 8);
        self.guard(is_byte, other);
        Some(self.byte_string(byte))
    }

    fn length(&mut self, (text, tag): Argument, other: Block) -> Option<(Value, Known)> {
        if !self.require(&[tag], Tag::STRING, other) {
            return None;
        }
        Some((self.load_u32(Region::Objects, text, string::LEN), Known::Tag(Tag::INTEGER)))
    }

    /// Returns the part of a string that begins and ends at the same byte.
    fn one_byte(
        &mut self,
        (text, tag): Argument,
        (i, ti): Argument,
        (j, tj): Argument,
        other: Block,
    ) -> Option<(Value, Known)> {
        if !self.require(&[tag], Tag::STRING, other)
            || !self.require(&[ti, tj], Tag::INTEGER, other)
        {
            return None;
        }
        let same = self.b.ins().icmp(IntCC::Equal, i, j);
        self.guard(same, other);
        let byte = self.byte_at(text, i, other);
        Some(self.byte_string(byte))
    }

    fn type_name(&mut self, (_, tag): Argument) -> (Value, Known) {
        let st = self.state();
        let name = match tag {
            Known::Tag(t) => {
                self.load64(Region::State, st, state::TYPE_NAMES + t.index() * size_of::<usize>())
            }
            Known::Value(t) => {
                // as `Tag::index`
                let low = self.b.ins().band_imm_u(t, 7);
                let high = self.b.ins().ushr_imm_u(t, 3);
                let high = self.b.ins().band_imm_u(high, 8);
                let index = self.b.ins().bor(low, high);
                let offset = self.b.ins().ishl_imm_u(index, 3);
                let at = self.b.ins().iadd(st, offset);
                self.load64(Region::State, at, state::TYPE_NAMES)
            }
        };
        (name, Known::Tag(Tag::STRING))
    }
}
