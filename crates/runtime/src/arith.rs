//! Arithmetic on numbers (manual 3.4.1, 3.4.2), without metamethods.

use crate::convert;
use crate::meta::Event;
use crate::remainder::remainder;
use crate::value::Value;

/// The reason why an operation on numbers fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArithError {
    /// An operand is neither a number nor a string that converts to one.
    NotANumber,
    /// A bitwise operand has no integer representation.
    NoInteger,
    /// "attempt to divide by zero"
    DivideByZero,
    /// "attempt to perform 'n%0'"
    ModuloByZero,
}

/// Returns `a // b` rounded towards minus infinity; `b` is not 0.
#[inline(always)]
pub fn int_floor_div(a: i64, b: i64) -> i64 {
    if (b as u64).wrapping_add(1) <= 1 {
        // `b` is -1, as 0 is excluded: the wrapping negation avoids the overflow of the minimum.
        return 0i64.wrapping_sub(a);
    }
    let q = a / b;
    if (a ^ b) < 0 && q * b != a { q - 1 } else { q }
}

/// Returns `a % b` with the sign of `b`; `b` is not 0.
#[inline(always)]
pub fn int_mod(a: i64, b: i64) -> i64 {
    if (b as u64).wrapping_add(1) <= 1 {
        return 0;
    }
    let r = a % b;
    if r != 0 && (r ^ b) < 0 { r + b } else { r }
}

/// Returns `a % b` of floats with the sign of `b`.
#[inline]
pub fn float_mod(a: f64, b: f64) -> f64 {
    let r = remainder(a, b);
    if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
}

/// Returns `a ^ b` of floats.
#[inline]
pub fn pow(a: f64, b: f64) -> f64 {
    if b == 2.0 { a * a } else { a.powf(b) }
}

/// Returns `a << n`, with the semantics of the manual for negative and large distances.
#[inline(always)]
pub fn shift_left(a: i64, n: i64) -> i64 {
    if n <= -64 || n >= 64 {
        0
    } else if n >= 0 {
        ((a as u64) << n) as i64
    } else {
        ((a as u64) >> -n) as i64
    }
}

/// Performs any arithmetic or bitwise operation on numbers, without converting strings. For unary
/// operations both operands are the same.
///
/// # Errors
/// See [`ArithError`].
pub fn arith(op: Event, a: Value, b: Value) -> Result<Value, ArithError> {
    use Event::*;
    match op {
        BAnd | BOr | BXor | Shl | Shr | BNot => {
            if !a.is_number() || !b.is_number() {
                return Err(ArithError::NotANumber);
            }
            let int = |v: Value| {
                if v.is_int() { Some(v.as_int()) } else { convert::float_to_integer(v.as_float()) }
            };
            let (Some(x), Some(y)) = (int(a), int(b)) else { return Err(ArithError::NoInteger) };
            Ok(Value::int(match op {
                BAnd => x & y,
                BOr => x | y,
                BXor => x ^ y,
                Shl => shift_left(x, y),
                Shr => shift_left(x, 0i64.wrapping_sub(y)),
                _ => !x,
            }))
        }
        Div | Pow => {
            let (Some(x), Some(y)) = (float(a), float(b)) else {
                return Err(ArithError::NotANumber);
            };
            Ok(Value::float(if op == Div { x / y } else { pow(x, y) }))
        }
        _ if a.is_int() && b.is_int() => {
            let (x, y) = (a.as_int(), b.as_int());
            Ok(Value::int(match op {
                Add => x.wrapping_add(y),
                Sub => x.wrapping_sub(y),
                Mul => x.wrapping_mul(y),
                Unm => 0i64.wrapping_sub(x),
                IDiv if y == 0 => return Err(ArithError::DivideByZero),
                IDiv => int_floor_div(x, y),
                Mod if y == 0 => return Err(ArithError::ModuloByZero),
                _ => int_mod(x, y),
            }))
        }
        _ => {
            let (Some(x), Some(y)) = (float(a), float(b)) else {
                return Err(ArithError::NotANumber);
            };
            Ok(Value::float(match op {
                Add => x + y,
                Sub => x - y,
                Mul => x * y,
                Unm => -x,
                IDiv => (x / y).floor(),
                _ => float_mod(x, y),
            }))
        }
    }
}

#[inline]
fn float(v: Value) -> Option<f64> {
    if v.is_float() {
        Some(v.as_float())
    } else if v.is_int() {
        Some(v.as_int() as f64)
    } else {
        None
    }
}
