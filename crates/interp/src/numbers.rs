//! The arithmetic operators, each represented by a type, with their result for numbers of one kind
//! and their metamethod.

use perilune_runtime::arith::{float_mod, int_floor_div, int_mod, pow, shift_left};
use perilune_runtime::meta::Event;

/// Defines an operator by its integer version, its float version, or both.
macro_rules! operator {
    (
        $name:ident
        $(, int |$x:ident, $y:ident| $int:expr)?
        $(, float |$fx:ident, $fy:ident| $float:expr)?
    ) => {
        pub(crate) struct $name;

        impl $name {
            pub(crate) const EVENT: Event = Event::$name;
            $(
                #[inline(always)]
                pub(crate) fn int($x: i64, $y: i64) -> i64 {
                    $int
                }
            )?
            $(
                #[inline(always)]
                pub(crate) fn float($fx: f64, $fy: f64) -> f64 {
                    $float
                }
            )?
        }
    };
}

operator!(Add, int | x, y | x.wrapping_add(y), float | x, y | x + y);
operator!(Sub, int | x, y | x.wrapping_sub(y), float | x, y | x - y);
operator!(Mul, int | x, y | x.wrapping_mul(y), float | x, y | x * y);
operator!(Mod, int | x, y | int_mod(x, y), float | x, y | float_mod(x, y));
operator!(IDiv, int | x, y | int_floor_div(x, y), float | x, y | (x / y).floor());
operator!(Div, float | x, y | x / y);
operator!(Pow, float | x, y | pow(x, y));
operator!(BAnd, int | x, y | x & y);
operator!(BOr, int | x, y | x | y);
operator!(BXor, int | x, y | x ^ y);
operator!(Shl, int | x, y | shift_left(x, y));
operator!(Shr, int | x, y | shift_left(x, y.wrapping_neg()));
