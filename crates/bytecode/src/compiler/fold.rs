//! Arithmetic on constants, at compile time (manual 3.4.1 to 3.4.3).

use perilune_syntax::ast::BinaryOp;

/// A numeric constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Integer(i) => i as f64,
            Number::Float(f) => f,
        }
    }

    fn integer(self) -> Option<i64> {
        match self {
            Number::Integer(i) => Some(i),
            Number::Float(f) => exact_integer(f),
        }
    }

    fn is_zero(self) -> bool {
        self.float() == 0.0
    }
}

/// Returns the integer equal to `f`, if there is one.
pub(super) fn exact_integer(f: f64) -> Option<i64> {
    // -2^63 is a float, and 2^63 is the first float beyond the range.
    let in_range = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f);
    (in_range && f.floor() == f).then_some(f as i64)
}

/// Returns the value of `left op right`, unless it raises an error or is a float zero or NaN. PUC
/// does not fold these either, so the same variables are constants and have no debug information.
pub(super) fn binary(op: BinaryOp, left: Number, right: Number) -> Option<Number> {
    use BinaryOp::*;
    let result = match op {
        Add | Sub | Mul => match (left, right) {
            (Number::Integer(a), Number::Integer(b)) => Number::Integer(match op {
                Add => a.wrapping_add(b),
                Sub => a.wrapping_sub(b),
                _ => a.wrapping_mul(b),
            }),
            _ => {
                let (a, b) = (left.float(), right.float());
                Number::Float(match op {
                    Add => a + b,
                    Sub => a - b,
                    _ => a * b,
                })
            }
        },
        Div | IDiv | Mod if right.is_zero() => return None,
        Div => Number::Float(left.float() / right.float()),
        IDiv => match (left, right) {
            (Number::Integer(a), Number::Integer(b)) => Number::Integer(floor_divide(a, b)),
            _ => Number::Float((left.float() / right.float()).floor()),
        },
        Mod => match (left, right) {
            (Number::Integer(a), Number::Integer(b)) => {
                Number::Integer(a.wrapping_sub(floor_divide(a, b).wrapping_mul(b)))
            }
            _ => Number::Float(float_modulo(left.float(), right.float())),
        },
        Pow => {
            let (a, b) = (left.float(), right.float());
            Number::Float(if b == 2.0 { a * a } else { a.powf(b) })
        }
        BAnd => Number::Integer(left.integer()? & right.integer()?),
        BOr => Number::Integer(left.integer()? | right.integer()?),
        BXor => Number::Integer(left.integer()? ^ right.integer()?),
        Shl => Number::Integer(shift_left(left.integer()?, right.integer()?)),
        Shr => Number::Integer(shift_left(left.integer()?, right.integer()?.wrapping_neg())),
        Concat | Eq | Ne | Lt | Le | Gt | Ge | And | Or => return None,
    };
    keep(result)
}

/// Returns the value of `-operand`, with the same exceptions as [`binary`].
pub(super) fn negate(operand: Number) -> Option<Number> {
    keep(match operand {
        Number::Integer(i) => Number::Integer(i.wrapping_neg()),
        Number::Float(f) => Number::Float(-f),
    })
}

/// Returns the value of `~operand`.
pub(super) fn complement(operand: Number) -> Option<Number> {
    Some(Number::Integer(!operand.integer()?))
}

fn keep(result: Number) -> Option<Number> {
    match result {
        Number::Float(f) if f.is_nan() || f == 0.0 => None,
        _ => Some(result),
    }
}

fn floor_divide(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    if a.wrapping_rem(b) != 0 && (a ^ b) < 0 { quotient - 1 } else { quotient }
}

fn float_modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
}

fn shift_left(a: i64, by: i64) -> i64 {
    match by {
        0..=63 => ((a as u64) << by) as i64,
        -63..=-1 => ((a as u64) >> -by) as i64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Number::{Float, Integer};

    #[test]
    fn integer_arithmetic_wraps_and_floors() {
        assert_eq!(binary(BinaryOp::Add, Integer(i64::MAX), Integer(1)), Some(Integer(i64::MIN)));
        assert_eq!(binary(BinaryOp::IDiv, Integer(-7), Integer(2)), Some(Integer(-4)));
        assert_eq!(binary(BinaryOp::Mod, Integer(-7), Integer(2)), Some(Integer(1)));
        assert_eq!(binary(BinaryOp::IDiv, Integer(i64::MIN), Integer(-1)), Some(Integer(i64::MIN)));
        assert_eq!(binary(BinaryOp::Mod, Integer(i64::MIN), Integer(-1)), Some(Integer(0)));
    }

    #[test]
    fn shifts_beyond_the_word_are_zero() {
        assert_eq!(binary(BinaryOp::Shl, Integer(1), Integer(64)), Some(Integer(0)));
        assert_eq!(binary(BinaryOp::Shr, Integer(-1), Integer(63)), Some(Integer(1)));
        assert_eq!(binary(BinaryOp::Shl, Integer(1), Integer(i64::MIN)), Some(Integer(0)));
        assert_eq!(binary(BinaryOp::Shr, Integer(1), Integer(i64::MIN)), Some(Integer(0)));
        assert_eq!(binary(BinaryOp::Shr, Integer(1), Integer(-3)), Some(Integer(8)));
    }

    #[test]
    fn nothing_that_raises_or_loses_a_sign_folds() {
        assert_eq!(binary(BinaryOp::Div, Integer(1), Integer(0)), None);
        assert_eq!(binary(BinaryOp::Mod, Float(1.0), Float(0.0)), None);
        assert_eq!(binary(BinaryOp::Mul, Float(0.0), Integer(-1)), None);
        assert_eq!(negate(Float(0.0)), None);
        assert_eq!(binary(BinaryOp::BOr, Float(1.5), Integer(1)), None);
        assert_eq!(binary(BinaryOp::BOr, Float(2.0), Integer(1)), Some(Integer(3)));
        assert_eq!(
            binary(BinaryOp::Mod, Float(5.0), Float(f64::NEG_INFINITY)),
            Some(Float(f64::NEG_INFINITY))
        );
    }
}
