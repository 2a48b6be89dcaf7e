//! Expression descriptors: where the value of a partly compiled expression is, or will be.

use super::jump_list::JumpList;

/// What is known about a value whose code is not finished ("delayed discharge").
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind<'c> {
    /// `nil`
    Nil,
    /// `true`
    True,
    /// `false`
    False,
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
    /// A string, which is not yet a constant of the function.
    Str(&'c [u8]),
    /// A constant, by index.
    K(u32),
    /// A value in a fixed register.
    Register(u8),
    /// A local variable, in its register.
    Local(u8),
    /// An upvalue.
    Upvalue(u8),
    /// `R[table][R[key]]`
    Indexed { table: u8, key: u8 },
    /// `U[table][K[key]]`
    IndexedUp { table: u8, key: u8 },
    /// `R[table][key]`, a small integer key
    IndexedInt { table: u8, key: u8 },
    /// `R[table][K[key]]`, a string key
    IndexedStr { table: u8, key: u8 },
    /// A comparison: the pc of its jump.
    Jump(u32),
    /// The pc of an instruction whose `A` is still to be chosen.
    Relocatable(u32),
    /// The pc of a CALL.
    Call(u32),
    /// The pc of a VARARG.
    Vararg(u32),
}

/// A value, together with the jumps that leave its evaluation early.
#[derive(Clone, Copy, Debug)]
pub(super) struct Desc<'c> {
    /// The value when no jump is taken.
    pub(super) kind: Kind<'c>,
    /// Jumps that are taken when the whole expression is true.
    pub(super) t: JumpList,
    /// Jumps that are taken when it is false.
    pub(super) f: JumpList,
}

impl<'c> Desc<'c> {
    pub(super) fn new(kind: Kind<'c>) -> Desc<'c> {
        Desc { kind, t: JumpList::EMPTY, f: JumpList::EMPTY }
    }

    pub(super) fn has_jumps(&self) -> bool {
        self.t != self.f
    }

    pub(super) fn is_multi(&self) -> bool {
        matches!(self.kind, Kind::Call(_) | Kind::Vararg(_))
    }

    pub(super) fn is_indexed(&self) -> bool {
        matches!(
            self.kind,
            Kind::Indexed { .. }
                | Kind::IndexedUp { .. }
                | Kind::IndexedInt { .. }
                | Kind::IndexedStr { .. }
        )
    }

    /// Returns the number, if the value is one without pending jumps.
    pub(super) fn numeral(&self) -> Option<super::fold::Number> {
        if self.has_jumps() {
            return None;
        }
        match self.kind {
            Kind::Integer(i) => Some(super::fold::Number::Integer(i)),
            Kind::Float(f) => Some(super::fold::Number::Float(f)),
            _ => None,
        }
    }

    /// Returns the integer, if the value is one that fits an unsigned 8-bit operand.
    pub(super) fn small_integer(&self) -> Option<u8> {
        match self.kind {
            Kind::Integer(i) if !self.has_jumps() => u8::try_from(i).ok(),
            _ => None,
        }
    }

    /// Returns the operand of a comparison for a number with an integral value in -128..=127: `B`,
    /// and whether the number is a float.
    pub(super) fn comparison_immediate(&self) -> Option<(u8, bool)> {
        let (value, float) = match self.numeral()? {
            super::fold::Number::Integer(i) => (i, false),
            super::fold::Number::Float(f) => (super::fold::exact_integer(f)?, true),
        };
        let biased = value.checked_add(i64::from(crate::instr::Instr::SB_BIAS))?;
        Some((u8::try_from(biased).ok()?, float))
    }
}

/// The place of a variable, or the value of a compile-time constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Place<'c> {
    /// The variable is not declared yet.
    None,
    /// The variable is in this register.
    Register(u8),
    /// The variable is folded into its uses.
    Constant(Kind<'c>),
}

/// The meaning of an upvalue number of the syntax tree.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum UpvalPlace<'c> {
    /// An upvalue of the proto.
    Index(u8),
    /// A compile-time constant of an enclosing function.
    Constant(Kind<'c>),
}
