//! Functions of older versions, which PUC Lua includes in its default build, with
//! LUA_COMPAT_MATHLIB.

use perilune_runtime::native::{Cx, NativeResult, Val};

/// Implements `math.cosh(x)`.
pub(super) fn cosh(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    cx.ret1(Val::float(x.cosh()))
}

/// Implements `math.sinh(x)`.
pub(super) fn sinh(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    cx.ret1(Val::float(x.sinh()))
}

/// Implements `math.tanh(x)`.
pub(super) fn tanh(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    cx.ret1(Val::float(x.tanh()))
}

/// Implements `math.pow(x, y)`.
pub(super) fn pow(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    let y = cx.check_float(1)?;
    cx.ret1(Val::float(x.powf(y)))
}

/// Implements `math.frexp(x)`.
pub(super) fn frexp(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    // The exponent of infinity and of NaN depends on the C library: it is 0 in glibc.
    let (mantissa, exponent) = if x.is_finite() { libm::frexp(x) } else { (x, 0) };
    cx.push(Val::float(mantissa));
    cx.push(Val::int(exponent.into()));
    cx.ret(2)
}

/// Implements `math.ldexp(m, e)`.
pub(super) fn ldexp(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    // PUC converts the exponent to `int`, which keeps the low bits.
    let exponent = cx.check_int(1)? as i32;
    cx.ret1(Val::float(libm::ldexp(x, exponent)))
}

/// Implements `math.log10(x)`.
pub(super) fn log10(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    cx.ret1(Val::float(x.log10()))
}
