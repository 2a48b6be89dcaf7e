//! The library `math` (manual 6.7).

mod compat;
mod random;

use perilune_runtime::native::{Builtin, Cx, NativeFn, NativeResult, Raised, Val};

use crate::support::{library, make_known, names, publish};

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("abs", abs),
    ("acos", acos),
    ("asin", asin),
    ("atan", atan),
    ("ceil", ceil),
    ("cos", cos),
    ("deg", deg),
    ("exp", exp),
    ("tointeger", tointeger),
    ("floor", floor),
    ("fmod", fmod),
    ("ult", ult),
    ("log", log),
    ("max", max),
    ("min", min),
    ("modf", modf),
    ("rad", rad),
    ("sin", sin),
    ("sqrt", sqrt),
    ("tan", tan),
    ("type", type_),
    ("atan2", atan),
    ("cosh", compat::cosh),
    ("sinh", compat::sinh),
    ("tanh", compat::tanh),
    ("pow", compat::pow),
    ("frexp", compat::frexp),
    ("ldexp", compat::ldexp),
    ("log10", compat::log10),
    ("random", random::random),
    ("randomseed", random::randomseed),
];

/// The names of the library's fields.
static NAMES: [&str; FUNCTIONS.len() + 4] =
    names(FUNCTIONS, &["pi", "huge", "maxinteger", "mininteger"]);

/// Opens `math`.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    let cx = &*cx;
    let lib = library(cx, &NAMES, FUNCTIONS);
    make_known(
        cx,
        lib,
        &[
            ("abs", Builtin::Abs),
            ("acos", Builtin::Acos),
            ("asin", Builtin::Asin),
            ("atan", Builtin::Atan),
            ("ceil", Builtin::Ceil),
            ("cos", Builtin::Cos),
            ("exp", Builtin::Exp),
            ("floor", Builtin::Floor),
            ("fmod", Builtin::Fmod),
            ("log", Builtin::Log),
            ("max", Builtin::Max),
            ("min", Builtin::Min),
            ("sin", Builtin::Sin),
            ("sqrt", Builtin::Sqrt),
            ("tan", Builtin::Tan),
            ("tointeger", Builtin::ToInteger),
            ("type", Builtin::MathType),
            ("random", Builtin::Random),
        ],
    );
    lib.set_name(cx, "pi", Val::float(std::f64::consts::PI));
    lib.set_name(cx, "huge", Val::float(f64::INFINITY));
    lib.set_name(cx, "maxinteger", Val::int(i64::MAX));
    lib.set_name(cx, "mininteger", Val::int(i64::MIN));
    random::randomize(cx);
    publish(cx, "math", lib);
    Ok(())
}

macro_rules! float_functions {
    ($($f:ident $method:ident $name:literal;)*) => {$(
        #[doc = concat!("`math.", $name, "(x)`")]
        fn $f(cx: &mut Cx) -> NativeResult {
            let x = cx.check_float(0)?;
            cx.ret1(Val::float(x.$method()))
        }
    )*};
}

float_functions! {
    acos acos "acos";
    asin asin "asin";
    cos cos "cos";
    exp exp "exp";
    sin sin "sin";
    sqrt sqrt "sqrt";
    tan tan "tan";
}

/// Converts an integral float to an integer if it fits.
#[inline]
fn integral(x: f64) -> Val<'static> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&x) { Val::int(x as i64) } else { Val::float(x) }
}

/// Implements `math.abs(x)`.
fn abs(cx: &mut Cx) -> NativeResult {
    match cx.get(0).as_int() {
        Some(n) => cx.ret1(Val::int(n.wrapping_abs())),
        None => {
            let x = cx.check_float(0)?;
            cx.ret1(Val::float(x.abs()))
        }
    }
}

/// Implements `math.atan(y [, x])`.
fn atan(cx: &mut Cx) -> NativeResult {
    let y = cx.check_float(0)?;
    let x = if cx.get(1).is_nil() { 1.0 } else { cx.check_float(1)? };
    cx.ret1(Val::float(y.atan2(x)))
}

/// Implements `math.ceil(x)`.
fn ceil(cx: &mut Cx) -> NativeResult {
    let v = cx.get(0);
    if v.as_int().is_some() {
        return cx.ret1(v);
    }
    let x = cx.check_float(0)?;
    cx.ret1(integral(x.ceil()))
}

/// Implements `math.floor(x)`.
fn floor(cx: &mut Cx) -> NativeResult {
    let v = cx.get(0);
    if v.as_int().is_some() {
        return cx.ret1(v);
    }
    let x = cx.check_float(0)?;
    cx.ret1(integral(x.floor()))
}

/// Implements `math.deg(x)`.
fn deg(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    cx.ret1(Val::float(x * (180.0 / std::f64::consts::PI)))
}

/// Implements `math.rad(x)`.
fn rad(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    cx.ret1(Val::float(x * (std::f64::consts::PI / 180.0)))
}

/// Implements `math.tointeger(x)`.
fn tointeger(cx: &mut Cx) -> NativeResult {
    match cx.to_integer(cx.get(0)) {
        Some(n) => cx.ret1(Val::int(n)),
        None => {
            cx.check_any(0)?;
            cx.ret1(Val::NIL)
        }
    }
}

/// Implements `math.fmod(x, y)`.
fn fmod(cx: &mut Cx) -> NativeResult {
    if let (Some(a), Some(b)) = (cx.get(0).as_int(), cx.get(1).as_int()) {
        if b == 0 {
            return Err(cx.arg_error(1, "zero"));
        }
        return cx.ret1(Val::int(a.wrapping_rem(b)));
    }
    // PUC leaves the order of evaluation to the C compiler, which evaluates the last argument
    // first.
    let b = cx.check_float(1)?;
    let a = cx.check_float(0)?;
    cx.ret1(Val::float(a % b))
}

/// Implements `math.modf(x)`.
fn modf(cx: &mut Cx) -> NativeResult {
    if let Some(n) = cx.get(0).as_int() {
        cx.push(Val::int(n));
        cx.push(Val::float(0.0));
        return cx.ret(2);
    }
    let x = cx.check_float(0)?;
    let whole = if x < 0.0 { x.ceil() } else { x.floor() };
    cx.push(integral(whole));
    cx.push(Val::float(if x == whole { 0.0 } else { x - whole }));
    cx.ret(2)
}

/// Implements `math.ult(m, n)`.
fn ult(cx: &mut Cx) -> NativeResult {
    let (a, b) = (cx.check_int(0)?, cx.check_int(1)?);
    cx.ret1(Val::bool((a as u64) < b as u64))
}

/// Implements `math.log(x [, base])`.
fn log(cx: &mut Cx) -> NativeResult {
    let x = cx.check_float(0)?;
    let r = if cx.get(1).is_nil() {
        x.ln()
    } else {
        let base = cx.check_float(1)?;
        if base == 2.0 {
            x.log2()
        } else if base == 10.0 {
            x.log10()
        } else {
            x.ln() / base.ln()
        }
    };
    cx.ret1(Val::float(r))
}

/// Returns the best of all arguments. `better(cx, a, b)` tells whether `a` replaces `b`, the best
/// so far.
#[inline(always)]
fn best(
    cx: &mut Cx,
    better: impl Fn(&mut Cx, usize, usize) -> Result<bool, Raised>,
) -> NativeResult {
    let n = cx.top();
    if n == 0 {
        return Err(cx.arg_error(0, "value expected"));
    }
    let mut best = 0;
    for i in 1..n {
        if better(cx, i, best)? {
            best = i;
        }
    }
    cx.ret1(cx.get(best))
}

/// Returns `a < b` for values `a` and `b` of the stack.
#[inline(always)]
fn less(cx: &mut Cx, a: usize, b: usize) -> Result<bool, Raised> {
    let (x, y) = (cx.get(a), cx.get(b));
    if let (Some(x), Some(y)) = (x.as_int(), y.as_int()) {
        return Ok(x < y);
    }
    if let (Some(x), Some(y)) = (x.as_float(), y.as_float()) {
        return Ok(x < y);
    }
    let (x, y) = (x.raw(), y.raw());
    cx.less_than(x, y)
}

/// Implements `math.max(x, …)`.
fn max(cx: &mut Cx) -> NativeResult {
    best(cx, |cx, i, best| less(cx, best, i))
}

/// Implements `math.min(x, …)`.
fn min(cx: &mut Cx) -> NativeResult {
    best(cx, less)
}

/// Implements `math.type(x)`.
fn type_(cx: &mut Cx) -> NativeResult {
    let v = cx.check_any(0)?;
    if v.as_int().is_some() {
        cx.ret1(cx.str(b"integer").val())
    } else if v.as_float().is_some() {
        cx.ret1(cx.str(b"float").val())
    } else {
        cx.ret1(Val::NIL)
    }
}
